"""TR103, staging-reuse: each fault beside its sound twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.report.build import build

from tests.analysis.history import History

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def stage(history: History, staging: int = 0) -> int:
    """The host writes a staging buffer."""
    return history.event("stage", staging=staging, bytes=4)


def published(history: History) -> None:
    """Row 0 is published for request 1 from buffer 0, on the transfer stream."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    stage(history)
    history.publish(TRANSFER, 0, 1, pages)


def test_a_host_that_waits_repairs_it(history: History, tmp_path: Path) -> None:
    """The report checks that: the buffer is written again once the copy is known to be done."""
    published(history)
    stage(history)
    assert build(history.read(tmp_path)).verdict.counterfactual == (
        "with a host that waits for the publish before it writes the buffer again, and every rule checked "
        "again, the finding is gone"
    )


def test_a_buffer_written_while_the_copy_waits(history: History, told: Read) -> None:
    """The host never learned that the first copy is done."""
    published(history)
    again = stage(history)
    (finding,) = told(history)
    assert {
        "code": "TR103",
        "name": "staging-reuse",
        "seq": again,
        "class": "order",
        "confidence": "proven",
        "sentence": (
            "the host writes staging buffer 0 again before it knows that launch 2 (copy_row) on transfer has "
            "executed, which copies it to row 0"
        ),
        "resource_kind": "staging",
        "resource_id": 0,
        "row": 0,
        "generation": 1,
        "request": 1,
        "launch": None,
        "other_launch": 2,
        "other_stream": TRANSFER,
    }.items() <= finding.items()


def learned_elsewhere(history: History) -> None:
    """Compute waits for the copy, and the host for compute."""
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE)
    history.sync(COMPUTE)


LEARNED: dict[str, Callable[[History], object]] = {
    "fence": lambda history: history.passed(history.record(TRANSFER)),
    "stream": lambda history: history.sync(TRANSFER),
    "device": lambda history: history.sync(),
    "through another stream": learned_elsewhere,
}


@pytest.mark.parametrize("how", LEARNED)
def test_a_buffer_written_once_the_copy_is_known_done_is_sound(
    history: History, told: Read, how: str
) -> None:
    """A fence behind the copy, or any wait that covers it."""
    published(history)
    LEARNED[how](history)
    stage(history)
    assert [] == told(history)


NOT_LEARNED: dict[str, Callable[[History], object]] = {
    "the device waits, the host does not": lambda history: history.order(TRANSFER, COMPUTE),
    "another stream": lambda history: history.sync(COMPUTE),
    "recorded and not passed": lambda history: history.record(TRANSFER),
}


@pytest.mark.parametrize("how", NOT_LEARNED)
def test_order_on_the_device_is_none_of_the_host(history: History, told: Read, how: str) -> None:
    """What the host writes follows what the host knows."""
    published(history)
    NOT_LEARNED[how](history)
    again = stage(history)
    assert [("TR103", again)] == [(found["code"], found["seq"]) for found in told(history)]


def test_a_fence_before_the_copy_does_not_cover_it(history: History, told: Read) -> None:
    """It was recorded one launch too early."""
    fence = history.record(TRANSFER)
    published(history)
    history.passed(fence)
    again = stage(history)
    assert [("TR103", again)] == [(found["code"], found["seq"]) for found in told(history)]


def test_another_buffer_is_sound(history: History, told: Read) -> None:
    """A ring of buffers is what the engine has."""
    published(history)
    stage(history, 1)
    assert [] == told(history)


def test_one_buffer_for_many_copies_is_sound(history: History, told: Read) -> None:
    """What is written once may be copied as often as one likes: poison."""
    published(history)
    history.publish(TRANSFER, 0, 1, [(5, 1)])
    history.publish(TRANSFER, 0, 1, [(5, 1)])
    assert [] == told(history)


def test_the_first_time_is_the_finding(history: History, told: Read) -> None:
    """One a buffer, against the latest of the copies."""
    published(history)
    second = history.publish(TRANSFER, 0, 1, [(5, 1)])
    again = stage(history)
    stage(history)
    assert [(again, second.launch)] == [(found["seq"], found["other_launch"]) for found in told(history)]


def test_observed_where_the_copy_had_still_not_executed(history: History, told: Read) -> None:
    """At the end the copy was waiting: it reads what was written since."""
    published(history)
    stage(history)
    history.progress[TRANSFER] = (0, 0)
    assert ["observed"] == [found["confidence"] for found in told(history)]


def test_suspected_where_events_are_missing(history: History, told: Read) -> None:
    """The fence may be among them."""
    published(history)
    stage(history)
    history.header["ring"] |= {"torn": 1}
    assert ["suspected"] == [found["confidence"] for found in told(history)]


def test_a_copy_before_the_history_is_unknown(told: Read) -> None:
    """It starts between the copy and the write."""
    history = History(first_seq=50)
    stage(history)
    stage(history)
    assert [] == told(history)
