"""`POST /v1/completions`: text, or token ids, and what follows it."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from tracert.server.body import read_body
from tracert.server.choice import Delta, Entry
from tracert.server.errors import ApiError, bad_parameter, json_response
from tracert.server.generation import Generation, Plan
from tracert.server.sampling_body import MAX_CHOICES, SamplingBody, fit
from tracert.server.service import Service
from tracert.server.stream import EventStream, while_connected
from tracert.server.tokenizer import Tokenizer

_MAX_TOKENS = 16
"""What OpenAI takes when nothing is asked for."""


class CompletionBody(SamplingBody):
    """The body of a completion request."""

    neutral: ClassVar[dict[str, tuple[Any, ...]]] = {**SamplingBody.neutral, "suffix": ("",)}

    prompt: Any
    """A text, a list of texts, token ids, or a list of lists of token ids."""
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    echo: bool | None = None


def routes(service: Service) -> APIRouter:
    """The endpoint."""
    router = APIRouter()

    @router.post("/v1/completions")
    async def completions(request: Request) -> Response:
        body = await read_body(request, CompletionBody, service.config.max_body_bytes)
        service.check_model(body.model)
        body.check_stream_options()
        context = service.context()
        if body.echo and body.logprobs is not None:
            raise bad_parameter("echo", "is not supported together with logprobs", "unsupported_parameter")
        prompts = await asyncio.to_thread(_prompts, body.prompt, service.tokenizer)
        n = body.n or 1
        if len(prompts) * n > MAX_CHOICES:
            raise bad_parameter("n", f"{len(prompts)} prompts with n {n} are more than {MAX_CHOICES} answers")
        longest = max(map(len, prompts))
        max_tokens = fit(longest, body.max_tokens, context, _MAX_TOKENS, "prompt")
        plan = Plan(
            id=f"cmpl-{secrets.token_hex(12)}",
            prompts=prompts,
            n=n,
            sampling=body.sampling(max_tokens, body.logprobs),
            stops=body.stops,
            cache_salt=body.cache_salt or "",
        )
        request.state.answer = plan.id
        generation = Generation(service, plan)
        echoes = [service.tokenizer.decode(prompt) if body.echo else "" for prompt in prompts]
        answer = _Answer(service, plan, generation, echoes, body.logprobs is not None)
        if body.stream:
            return EventStream(answer.events(body.include_usage))
        return await while_connected(request, answer.whole())

    return router


class _Answer:
    def __init__(
        self, service: Service, plan: Plan, generation: Generation, echoes: Sequence[str], logprobs: bool
    ) -> None:
        self._head = {
            "id": plan.id,
            "object": "text_completion",
            "created": int(time.time()),
            "model": service.config.model,
        }
        self._plan = plan
        self._generation = generation
        self._echoes = echoes
        self._logprobs = logprobs
        self._tokenizer = service.tokenizer

    async def events(self, include_usage: bool) -> AsyncGenerator[dict[str, Any], None]:
        begun: set[int] = set()
        usage = {"usage": None} if include_usage else {}
        async with aclosing(self._generation.deltas()) as deltas:
            async for delta in deltas:
                echo = "" if delta.answer in begun else self._echo(delta.answer)
                begun.add(delta.answer)
                choice = self._choice(replace(delta, text=echo + delta.text))
                yield {**self._head, "choices": [choice], **usage}
        if include_usage:
            yield {**self._head, "choices": [], "usage": self._generation.usage()}

    async def whole(self) -> Response:
        answers = await self._generation.whole()
        choices = [
            self._choice(replace(answer, text=self._echo(answer.answer) + answer.text)) for answer in answers
        ]
        return json_response({**self._head, "choices": choices, "usage": self._generation.usage()})

    def _echo(self, index: int) -> str:
        return self._echoes[index // self._plan.n]

    def _choice(self, delta: Delta) -> dict[str, Any]:
        return {
            "index": delta.answer,
            "text": delta.text,
            "logprobs": self._logprobs_of(delta.entries) if self._logprobs else None,
            "finish_reason": delta.finish_reason,
        }

    def _logprobs_of(self, entries: Sequence[Entry]) -> dict[str, Any]:
        tokens, top_logprobs = [], []
        for entry in entries:
            token = self._spell(entry.logprobs.token)
            tops = {self._spell(top): logprob for top, logprob in entry.logprobs.top}
            tokens.append(token)
            top_logprobs.append({**tops, token: entry.logprobs.logprob})
        return {
            "tokens": tokens,
            "token_logprobs": [entry.logprobs.logprob for entry in entries],
            "top_logprobs": top_logprobs,
            "text_offset": [entry.offset for entry in entries],
        }

    def _spell(self, token: int) -> str:
        return self._tokenizer.decode([token], skip_special=False)


def _prompts(prompt: Any, tokenizer: Tokenizer) -> list[list[int]]:
    """Token ids of every prompt. Raises ApiError 400."""
    if isinstance(prompt, str):
        prompts = [tokenizer.encode(prompt)]
    elif not isinstance(prompt, list) or not prompt:
        raise _bad_prompt()
    elif all(isinstance(item, str) for item in prompt):
        _check_count(prompt)
        prompts = [tokenizer.encode(text) for text in prompt]
    elif all(isinstance(item, list) for item in prompt):
        _check_count(prompt)
        prompts = [check_ids("prompt", ids, tokenizer) for ids in prompt]
    elif all(type(item) is int for item in prompt):
        prompts = [check_ids("prompt", prompt, tokenizer)]
    else:
        raise _bad_prompt()
    if not all(prompts):
        raise bad_parameter("prompt", "is empty: it has no token")
    return prompts


def check_ids(param: str, ids: list[Any], tokenizer: Tokenizer) -> list[int]:
    """Token ids of the vocabulary, as given. Raises ApiError 400: the device would fault on another."""
    size = tokenizer.vocab
    for number, token in enumerate(ids):
        if type(token) is not int or not 0 <= token < size:
            raise bad_parameter(param, f"item {number} is no token id: ids are integers from 0 to {size - 1}")
    return ids


def _check_count(prompts: list[Any]) -> None:
    if len(prompts) > MAX_CHOICES:
        raise bad_parameter("prompt", f"at most {MAX_CHOICES} prompts in one request")


def _bad_prompt() -> ApiError:
    return bad_parameter(
        "prompt", "must be a string, a list of strings, a list of token ids, or a list of such lists"
    )
