"""Drives an engine in this process, with arrivals scripted by step: a seed and a schedule replay exactly.

A conversation's next turn arrives a fixed number of steps after its last answer ended; the second
conversation starts a few steps behind the first, so that lanes overlap. A lane ends with its first request
that fails, the run with the device.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tracert.engine.boundary import Failure, record_failure
from tracert.engine.step import Engine
from tracert.messages.messages import Failed, Tokens
from tracert.scenarios.step_lane import ConversationLane, ScriptLane, StepLane
from tracert.scenarios.workload import Workload
from tracert.server.tokenizer import Tokenizer

STAGGER_STEPS = 3


class WorkloadError(ValueError):
    """A workload that this engine cannot be asked; the message says why."""


@dataclass(slots=True)
class Outcome:
    """Answers by request id, in the order in which they ended, and what ended the run early."""

    answers: dict[str, list[int]] = field(default_factory=dict)
    failed: dict[str, Failed] = field(default_factory=dict)
    cached: dict[str, int] = field(default_factory=dict)
    """Prompt tokens of each answered request that a cache spared."""
    failure: Failure | None = None


def drive(engine: Engine, tokenizer: Tokenizer, workload: Workload) -> Outcome:
    """Run the whole workload, or until the engine fails; that is recorded."""
    outcome = Outcome()
    lanes = _lanes(tokenizer, workload)
    running: dict[str, StepLane] = {}
    answers: dict[str, list[int]] = {}
    step = 0
    while not all(lane.over or _waits_in_vain(lane, lanes) for lane in lanes):
        for lane in lanes:
            if lane.due is not None and step >= lane.due and not lane.over:
                _send(engine, lane, lanes, step)
                running[lane.request], answers[lane.request] = lane, []
        try:
            told = engine.step()
        except Exception as raised:
            outcome.failure = record_failure(engine.recorder, raised)
            break
        for message in told:
            lane = running[message.id]
            if isinstance(message, Failed):
                outcome.failed[message.id] = message
                lane.end()
            else:
                _hear(message, lane, answers[message.id], outcome, step)
        step += 1
    return outcome


def _lanes(tokenizer: Tokenizer, workload: Workload) -> list[StepLane]:
    lanes: list[StepLane] = []
    for index, one in enumerate(workload.conversations):
        starts = index * STAGGER_STEPS if one.starts is None else one.starts
        lanes.append(
            ConversationLane(
                one,
                tokenizer,
                None if one.beside else starts,
                workload.answer_tokens,
                workload.preserve_thinking,
            )
        )
    lanes += [ScriptLane(script, tokenizer) for script in workload.scripts]
    return lanes


def _send(engine: Engine, lane: StepLane, lanes: Sequence[StepLane], step: int) -> None:
    refused = engine.add(lane.ask())
    if refused is not None:
        raise WorkloadError(f"the workload does not fit the engine: {lane.request}: {refused.message}")
    for other in lanes:
        if other.beside == lane.request:
            other.due, other.beside = step, None


def _hear(told: Tokens, lane: StepLane, answer: list[int], outcome: Outcome, step: int) -> None:
    answer += told.tokens
    if told.finish_reason is not None:
        outcome.answers[told.id] = answer
        outcome.cached[told.id] = told.cached_tokens
        lane.heard(answer, step)


def _waits_in_vain(lane: StepLane, lanes: Sequence[StepLane]) -> bool:
    """It was to start beside a request that never came: the lane of that request has failed."""
    return lane.beside is not None and all(other.over for other in lanes if other.beside is None)
