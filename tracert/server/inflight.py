"""Requests between their submission and their last token, and who waits for each.

Knows nothing of HTTP and of processes: it is told what to deliver, and that the engine was lost.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from tracert.messages.messages import Abort, Failed, Generate, ToEngine, Tokens
from tracert.server.metrics import Metrics


class EngineLostError(Exception):
    """The engine died, or is not there. `dump` is where its history is, if there is one.

    `retry_after`: in how many seconds one may serve again.
    """

    def __init__(self, message: str, *, code: str, dump: str | None = None, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.message = message
        self.code = code
        self.dump = dump


class Inbox:
    """What comes back for the requests of one submission. As a context manager it aborts on leaving what has
    not finished: so a client that went away, or an error in between, always frees the engine's pages."""

    def __init__(self, inflight: "Inflight", requests: Sequence[Generate]) -> None:
        self._inflight = inflight
        self._queue: asyncio.Queue[Tokens | Failed | EngineLostError] = asyncio.Queue()
        self.open = {request.id for request in requests}

    def __enter__(self) -> "Inbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for request in tuple(self.open):
            self.abort(request)

    async def next(self) -> Tokens | Failed:
        """The next message of any of the requests. Raises EngineLostError."""
        message = await self._queue.get()
        if isinstance(message, EngineLostError):
            raise message
        return message

    def abort(self, request: str) -> None:
        """Tell the engine to forget a request; nothing more comes for it. Harmless if it has finished."""
        if request in self.open:
            self._inflight.forget(request)

    def put(self, message: Tokens | Failed | EngineLostError) -> None:
        """Called by `Inflight` only."""
        self._queue.put_nowait(message)


class _Entry:
    def __init__(self, inbox: Inbox, submitted: float) -> None:
        self.inbox = inbox
        self.submitted = submitted
        self.started = False
        self.prompt_tokens = 0
        self.cached_tokens = 0


class Inflight:
    """All requests that the engine has not finished, by id."""

    def __init__(self, metrics: Metrics, send: Callable[[ToEngine], None]) -> None:
        self._metrics = metrics
        self._send = send
        self._entries: dict[str, _Entry] = {}
        self._silent = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def silent(self) -> int:
        """Requests for which no token has come yet."""
        return self._silent

    def submit(self, requests: Sequence[Generate]) -> Inbox:
        """Send requests to the engine."""
        inbox = Inbox(self, requests)
        now = time.monotonic()
        for request in requests:
            self._entries[request.id] = _Entry(inbox, now)
            self._silent += 1
            self._send(request)
        return inbox

    def deliver(self, message: Tokens | Failed) -> None:
        """Pass a message on to its inbox. One for a request that was aborted is dropped."""
        entry = self._entries.get(message.id)
        if entry is None:
            return
        if isinstance(message, Failed):
            self._metrics.requests_failed.inc()
            self._remove(message.id)
        else:
            self._count(entry, message)
            if message.finish_reason is not None:
                self._metrics.requests_finished.labels(reason=message.finish_reason).inc()
                self._remove(message.id)
        entry.inbox.put(message)

    def forget(self, request: str) -> None:
        """Abort a request."""
        self._remove(request)
        self._metrics.requests_finished.labels(reason="abort").inc()
        self._send(Abort(id=request))

    def fail_all(self, error: EngineLostError) -> None:
        """The engine is lost: everybody who waits is told, once an inbox."""
        inboxes = {id(entry.inbox): entry.inbox for entry in self._entries.values()}
        self._metrics.requests_failed.inc(len(self._entries))
        for request in tuple(self._entries):
            self._remove(request)
        for inbox in inboxes.values():
            inbox.put(error)

    def _remove(self, request: str) -> None:
        entry = self._entries.pop(request)
        entry.inbox.open.discard(request)
        if not entry.started:
            self._silent -= 1

    def _count(self, entry: _Entry, message: Tokens) -> None:
        if message.tokens and not entry.started:
            entry.started = True
            self._silent -= 1
            self._metrics.time_to_first_token.observe(time.monotonic() - entry.submitted)
        self._metrics.generation_tokens.inc(len(message.tokens))
        if message.prompt_tokens > entry.prompt_tokens:
            self._metrics.prompt_tokens.inc(message.prompt_tokens - entry.prompt_tokens)
            entry.prompt_tokens = message.prompt_tokens
        if message.cached_tokens > entry.cached_tokens:
            self._metrics.prefix_hit_tokens.inc(message.cached_tokens - entry.cached_tokens)
            entry.cached_tokens = message.cached_tokens
