"""TR901, no-progress: the launch that had not ended when somebody gave up, by the progress words."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2
TIMEOUT = {"code": 702, "name": "LAUNCH_TIMEOUT", "message": "the launch timed out and was terminated"}


def gave_up(history: History) -> int:
    """The host's synchronise has passed its deadline."""
    history.header["error"] = {**TIMEOUT, "observed_at": "sync"}
    history.header["reason"] = "device-error"
    return history.event("error", **TIMEOUT, observed_at="sync")


def stuck(history: History) -> list[Launched]:
    """Three launches; of the stream's the second has started and not ended."""
    launches = [history.forward(COMPUTE, step=step) for step in (1, 2, 3)]
    last = launches[1].ordinal
    history.progress[COMPUTE] = (last, last - 1)
    return launches


def test_a_launch_that_never_ends(history: History, told: Read) -> None:
    """It started before the host gave up; what waits behind it is not told of."""
    launch = stuck(history)[1]
    seq = gave_up(history)
    (finding,) = told(history)
    assert {
        "code": "TR901",
        "name": "no-progress",
        "seq": seq,
        "class": "symptom",
        "confidence": "observed",
        "sentence": (
            f"launch {launch.launch} (forward) on compute has started and not ended when the host gave up "
            "waiting"
        ),
        "resource_kind": "stream",
        "resource_id": COMPUTE,
        "launch": launch.launch,
        "stream": COMPUTE,
        "other_seq": launch.seq,
    }.items() <= finding.items()


def test_launches_that_wait_for_one_another(history: History, told: Read) -> None:
    """None has started: the oldest one is told of, with the fence that it waits for."""
    blocked = history.forward(TRANSFER, kernel="pull")
    fence = history.record(TRANSFER)
    history.wait(COMPUTE, fence)
    launch = history.forward(COMPUTE)
    history.progress = {TRANSFER: (0, 0), COMPUTE: (1, 1)}
    gave_up(history)
    (finding,) = told(history)
    assert finding["launch"] == blocked.launch
    assert finding["sentence"].endswith("(pull) on transfer has not started when the host gave up waiting")
    history.progress[TRANSFER] = (1, 0)
    assert [blocked.launch] == [finding["launch"] for finding in told(history)]
    history.events = [event for event in history.events if event.get("launch") != blocked.launch]
    (finding,) = told(history)
    assert finding["launch"] == launch.launch
    assert (
        f"; it waits for fence {fence.fence}, recorded after a launch, which has not ended"
        in finding["sentence"]
    )


def test_a_silent_engine(history: History, told: Read) -> None:
    """Its supervisor gave it up: only a launch that had started speaks against the device."""
    launches = stuck(history)
    history.header["reason"] = "hang"
    (finding,) = told(history)
    assert (finding["launch"], finding["confidence"]) == (launches[1].launch, "observed")
    assert finding["sentence"].endswith("has started and not ended when the engine was given up as silent")
    ended = launches[1].ordinal - 1
    history.progress[COMPUTE] = (ended, ended)
    assert [] == told(history)


@pytest.mark.parametrize(("seconds", "found"), [(5, ["proven"]), (50, [])])
def test_a_deadline_that_the_configuration_tells(
    history: History, told: Read, seconds: float, found: list[str]
) -> None:
    """Nobody gave up, but the history went on for ten seconds after a launch that has not ended."""
    stuck(history)
    history.event("schedule", request=1, row=0, step=4)
    history.events[-1]["t"] += 10_000_000_000
    history.header["config"]["hang_seconds"] = seconds
    findings = told(history)
    assert found == [finding["confidence"] for finding in findings]
    assert all(finding["sentence"].endswith("10.0 s after it was launched") for finding in findings)


def test_what_ended_is_no_finding(history: History, told: Read) -> None:
    """All words say finished: the host gave up on something else."""
    history.forward(COMPUTE)
    gave_up(history)
    assert [] == told(history)


def test_other_failures_are_none(history: History, told: Read) -> None:
    """A fault leaves launches unfinished as well; so does a dump that was asked for."""
    stuck(history)
    history.error(COMPUTE)
    assert [] == told(history)
    history.header |= {"error": None, "reason": "request"}
    history.events = [event for event in history.events if event["kind"] != "error"]
    assert [] == told(history)


def test_without_words_or_the_launch_nothing_is_said(history: History, told: Read) -> None:
    """What was never written down, and what the ring has lost."""
    launch = stuck(history)[1]
    gave_up(history)
    names, history.names = history.names, {}
    assert [] == told(history)
    history.names = names
    history.events = [event for event in history.events if event.get("launch") != launch.launch]
    assert [] == told(history)
