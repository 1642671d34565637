"""`POST /v1/chat/completions`: a conversation, and what the assistant says next."""

import asyncio
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tracert.server.body import read_body
from tracert.server.chat_body import ChatBody, encode_chat
from tracert.server.chat_message import MessageStream, finish_reason, message_of
from tracert.server.choice import Entry
from tracert.server.errors import bad_parameter, json_response
from tracert.server.generation import Generation, Plan
from tracert.server.sampling_body import fit
from tracert.server.service import Service
from tracert.server.stream import EventStream, while_connected
from tracert.server.tokenizer import Tokenizer
from tracert.server.tool_call import ToolCall
from tracert.server.tools_body import offered_tools


def routes(service: Service) -> APIRouter:
    """The endpoint."""
    router = APIRouter()

    @router.post("/v1/chat/completions")
    async def chat_completions(request: Request) -> Response:
        body = await read_body(request, ChatBody, service.config.max_body_bytes)
        service.check_model(body.model)
        body.check_stream_options()
        context = service.context()
        alternatives = body.alternatives
        tools = offered_tools(body.tools, body.tool_choice)
        prompt = await asyncio.to_thread(
            encode_chat,
            body.messages,
            tools,
            body.chat_template_kwargs,
            service.tokenizer,
            service.config.preserve_thinking,
        )
        if not prompt.tokens:
            raise bad_parameter("messages", "the model's chat template makes an empty prompt of them")
        asked = body.max_completion_tokens or body.max_tokens
        max_tokens = fit(len(prompt.tokens), asked, context, context.tokens, "messages")

        plan = Plan(
            id=f"chatcmpl-{secrets.token_hex(12)}",
            prompts=[prompt.tokens],
            n=body.n or 1,
            sampling=body.sampling(max_tokens, alternatives),
            stops=body.stops,
            cache_salt=body.cache_salt or "",
            reader=lambda: prompt.reader(one_call=body.parallel_tool_calls is False),
        )
        request.state.answer = plan.id
        generation = Generation(service, plan)
        answer = _Answer(service, plan, generation, alternatives is not None)
        if body.stream:
            return EventStream(answer.events(body.include_usage))
        return await while_connected(request, answer.whole())

    return router


class _Answer:
    def __init__(self, service: Service, plan: Plan, generation: Generation, logprobs: bool) -> None:
        self._head = {"id": plan.id, "created": int(time.time()), "model": service.config.model}
        self._generation = generation
        self._logprobs = logprobs
        self._tokenizer = service.tokenizer

    async def events(self, include_usage: bool) -> AsyncGenerator[dict[str, Any], None]:
        head = {**self._head, "object": "chat.completion.chunk"}
        messages: defaultdict[int, MessageStream] = defaultdict(MessageStream)
        usage = {"usage": None} if include_usage else {}
        async with aclosing(self._generation.deltas()) as deltas:
            async for delta in deltas:
                message = messages[delta.answer]
                said = message.deltas(delta.parts)
                for number, piece in enumerate(said, 1):
                    is_last = number == len(said)
                    choice = {
                        "index": delta.answer,
                        "delta": piece,
                        "logprobs": self._logprobs_of(delta.entries if is_last else ()),
                        "finish_reason": finish_reason(delta.finish_reason, message.calls)
                        if is_last
                        else None,
                    }
                    yield {**head, "choices": [choice], **usage}
        if include_usage:
            yield {**head, "choices": [], "usage": self._generation.usage()}

    async def whole(self) -> Response:
        choices = [
            {
                "index": answer.answer,
                "message": message_of(answer.parts),
                "logprobs": self._logprobs_of(answer.entries),
                "finish_reason": finish_reason(
                    answer.finish_reason, sum(isinstance(part, ToolCall) for part in answer.parts)
                ),
            }
            for answer in await self._generation.whole()
        ]
        usage = self._generation.usage()
        return json_response({**self._head, "object": "chat.completion", "choices": choices, "usage": usage})

    def _logprobs_of(self, entries: Sequence[Entry]) -> dict[str, Any] | None:
        if not self._logprobs:
            return None
        content = []
        for entry in entries:
            tops = [_token(self._tokenizer, token, logprob) for token, logprob in entry.logprobs.top]
            own = _token(self._tokenizer, entry.logprobs.token, entry.logprobs.logprob)
            content.append({**own, "top_logprobs": tops})
        return {"content": content, "refusal": None}


def _token(tokenizer: Tokenizer, token: int, logprob: float) -> dict[str, Any]:
    """A token's text and bytes: a part of a character has its bytes, and no text that is true."""
    text = tokenizer.decode([token], skip_special=False)
    return {"token": text, "logprob": logprob, "bytes": list(tokenizer.token_bytes(token))}
