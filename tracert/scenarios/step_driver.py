"""Drives an engine in this process, with arrivals scripted by step: a seed and a schedule replay exactly.

A conversation's next turn arrives a fixed number of steps after its last answer ended; the second
conversation starts a few steps behind the first, so that lanes overlap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tracert.engine.boundary import Failure, record_failure
from tracert.engine.step import Engine
from tracert.messages.messages import Failed, Generate, Sampling, Tokens
from tracert.scenarios.workload import Conversation, Workload

STAGGER_STEPS = 3
PAUSE_STEPS = 2


class ChatTokenizer(Protocol):
    """What the driver needs of a tokenizer."""

    def render_chat(self, messages: Sequence[dict[str, str]]) -> str:
        """The prompt's text."""

    def encode(self, text: str) -> list[int]:
        """Token ids of a text."""

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of token ids."""


@dataclass(slots=True)
class Outcome:
    """Answers by request id, in the order in which they ended, and what ended the run early."""

    answers: dict[str, list[int]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    failure: Failure | None = None


class _Speaker:
    """One conversation under way."""

    def __init__(self, conversation: Conversation, starts_at: int) -> None:
        self.conversation = conversation
        self.messages = [{"role": "system", "content": conversation.system}]
        self.turn = 0
        self.due: int | None = starts_at
        self.answer: list[int] = []

    @property
    def id(self) -> str:
        return f"{self.conversation.name}-{self.turn + 1}"

    def over(self) -> bool:
        return self.turn >= len(self.conversation.turns)


def drive(engine: Engine, tokenizer: ChatTokenizer, workload: Workload) -> Outcome:
    """Run the workload to its end, or to the failure that ends the engine; that is recorded."""
    outcome = Outcome()
    speakers = [_Speaker(one, index * STAGGER_STEPS) for index, one in enumerate(workload.conversations)]
    step = 0
    while not all(speaker.over() for speaker in speakers):
        for speaker in speakers:
            if speaker.due is not None and step >= speaker.due and not speaker.over():
                _speak(engine, tokenizer, speaker, workload.answer_tokens)
        try:
            told = engine.step()
        except Exception as raised:
            outcome.failure = record_failure(engine.recorder, raised)
            break
        for message in told:
            _hear(message, tokenizer, speakers, outcome, step)
        step += 1
    return outcome


def _speak(engine: Engine, tokenizer: ChatTokenizer, speaker: _Speaker, answer_tokens: int) -> None:
    speaker.messages.append({"role": "user", "content": speaker.conversation.turns[speaker.turn]})
    speaker.due, speaker.answer = None, []
    refused = engine.add(
        Generate(
            id=speaker.id,
            tokens=tokenizer.encode(tokenizer.render_chat(speaker.messages)),
            sampling=Sampling(max_tokens=answer_tokens, temperature=0, seed=0),
        )
    )
    if refused is not None:
        raise ValueError(f"the workload does not fit the engine: {refused.message}")


def _hear(
    told: Tokens | Failed,
    tokenizer: ChatTokenizer,
    speakers: Sequence[_Speaker],
    outcome: Outcome,
    step: int,
) -> None:
    speaker = next(speaker for speaker in speakers if speaker.id == told.id)
    if isinstance(told, Failed):
        outcome.failed[told.id] = told.code
    else:
        speaker.answer += told.tokens
        if told.finish_reason is None:
            return
        outcome.answers[told.id] = speaker.answer
    speaker.messages.append({"role": "assistant", "content": tokenizer.decode(speaker.answer)})
    speaker.turn += 1
    speaker.due = step + PAUSE_STEPS
