"""Answers for clients that may go away: whoever computes one is cancelled as soon as nobody waits for it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tracert.server.errors import ApiError, log_refusal
from tracert.server.inflight import EngineLostError

T = TypeVar("T")

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]


async def while_connected(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """Await an answer; if the client goes away first, cancel it and raise ClientDisconnect."""
    return await _race(work, request.receive)


class EventStream(Response):
    """Server-sent events, one a JSON object, and `[DONE]`.

    The status is only sent with the first event: what fails before that is an ordinary error answer. What
    fails later is an event with `error` in it, and the stream ends without `[DONE]`.
    """

    def __init__(self, events: AsyncGenerator[dict[str, Any], None]) -> None:
        super().__init__()
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, until they end or the client goes away."""
        async with aclosing(self._events):
            with suppress(ClientDisconnect):
                await _race(self._run(scope, receive, send), receive)

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False
        try:
            async for event in self._events:
                if not started:
                    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
                    started = True
                await _send_event(send, msgspec.json.encode(event))
            await _send_event(send, b"[DONE]")
        except (ApiError, EngineLostError) as error:
            shown = ApiError.of_lost(error) if isinstance(error, EngineLostError) else error
            log_refusal(scope, shown, begun=started)
            if not started:
                await shown.response()(scope, receive, send)
                return
            await _send_event(send, msgspec.json.encode(shown.body()))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_event(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": b"data: " + data + b"\n\n", "more_body": True})


async def _race(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """The result of `work`, unless the client disconnects first: then it is cancelled, and that is raised."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
