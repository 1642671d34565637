"""From a validated request to a stream of what its answers have more."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import msgspec

from tracert.messages.messages import Failed, Generate, Sampling
from tracert.server.choice import Choice, Delta
from tracert.server.dialect import MARKS
from tracert.server.errors import ApiError, bad_parameter
from tracert.server.service import Service
from tracert.server.speech import SpeechReader

_SEEDS = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to generate: `n` answers to each prompt; answer i of prompt p has the index p * n + i."""

    id: str
    prompts: Sequence[list[int]]
    n: int
    sampling: Sampling
    stops: Sequence[str]
    cache_salt: str
    reader: Callable[[], SpeechReader] | None = None
    """Makes what takes an answer apart, one for each; none leaves the text as it is."""


class Generation:
    """One run of a plan. Iterate `deltas` once, with aclosing: leaving it aborts what has not finished."""

    def __init__(self, service: Service, plan: Plan) -> None:
        self._service = service
        self._plan = plan
        self._cached = [0] * len(plan.prompts)
        eos_ids = frozenset(service.tokenizer.eos_ids)
        keep = MARKS if plan.reader else ()
        self._choices = {
            f"{plan.id}-{index}": Choice(
                index,
                service.tokenizer.stream(keep=keep),
                plan.stops,
                eos_ids,
                plan.reader() if plan.reader else None,
            )
            for index in range(len(plan.prompts) * plan.n)
        }

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        """What each answer has more, as it comes.

        Raises ApiError (503 when too many requests wait already) and EngineLostError.
        """
        self._check_room()
        open_ids = set(self._choices)
        with self._service.supervisor.submit(self._requests()) as inbox:
            while open_ids:
                message = await inbox.next()
                if message.id not in open_ids:
                    continue
                if isinstance(message, Failed):
                    raise ApiError.of_failed(message)
                choice = self._choices[message.id]
                prompt, answer = divmod(choice.index, self._plan.n)
                if answer == 0:
                    self._cached[prompt] = max(self._cached[prompt], message.cached_tokens)
                delta = choice.push(message)
                if delta.finish_reason is not None:
                    open_ids.discard(message.id)
                    inbox.abort(message.id)
                if not delta.empty:
                    yield delta

    async def whole(self) -> list[Delta]:
        """All of each answer, in order, once the last has ended. Raises as `deltas`."""
        parts: list[list[Delta]] = [[] for _ in self._choices]
        async with aclosing(self.deltas()) as deltas:
            async for delta in deltas:
                parts[delta.answer].append(delta)
        return [
            Delta(
                index,
                "".join(part.text for part in answer),
                [entry for part in answer for entry in part.entries],
                answer[-1].finish_reason,
                [part for delta in answer for part in delta.parts],
            )
            for index, answer in enumerate(parts)
        ]

    def usage(self) -> dict[str, Any]:
        """Tokens so far, in OpenAI's shape. A prompt with n answers counts once."""
        prompt = sum(map(len, self._plan.prompts))
        completion = sum(choice.tokens for choice in self._choices.values())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": sum(self._cached)},
        }

    def _check_room(self) -> None:
        waiting = self._service.supervisor.inflight.silent
        most = self._service.config.max_waiting
        if len(self._choices) > most:
            raise bad_parameter(
                "n", f"the request asks for {len(self._choices)} answers; at most {most} may wait at once"
            )
        if waiting + len(self._choices) > most:
            message = f"Too many requests wait ({waiting} of {most}); try again in a moment."
            raise ApiError(503, message, code="overloaded", kind="overloaded_error")

    def _requests(self) -> list[Generate]:
        return [
            Generate(
                id=id,
                tokens=self._plan.prompts[choice.index // self._plan.n],
                sampling=_nth_sampling(self._plan.sampling, choice.index % self._plan.n),
                cache_salt=self._plan.cache_salt,
            )
            for id, choice in self._choices.items()
        ]


def _nth_sampling(sampling: Sampling, answer: int) -> Sampling:
    """Each of n answers has a seed of its own, or they would be the same."""
    if sampling.seed is None or answer == 0:
        return sampling
    seed = (sampling.seed + answer + _SEEDS) % (2 * _SEEDS) - _SEEDS
    return msgspec.structs.replace(sampling, seed=seed)
