"""TR701, workspace-exhausted: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History
from tests.analysis.ring import CAPACITY, COMPUTE, Ring

Read = Callable[[History], list[dict[str, Any]]]


@pytest.fixture
def ring(history: History) -> Ring:
    """An empty ring."""
    return Ring(history)


def test_given_back_when_the_launch_has_ended(ring: Ring, told: Read) -> None:
    """Two blocks, both given back before the host settles the step; then the whole room is there."""
    ring.plan(300)
    first = ring.launch((0, 200), (200, 100))
    ring.free(first, 0, 200)
    ring.free(first, 200, 100)
    ring.settle(first)
    ring.plan(CAPACITY)
    ring.launch((0, CAPACITY))
    assert [] == told(ring.history)


def test_a_step_in_flight_keeps_its_blocks(ring: Ring, told: Read) -> None:
    """With overlap the next step is launched before this one is settled: its blocks are rightly live."""
    first = ring.launch((0, 200))
    second = ring.launch((200, 200))
    ring.free(first, 0, 200)
    ring.settle(first)
    ring.free(second, 200, 200)
    ring.settle(second)
    assert [] == told(ring.history)


def test_a_block_that_outlives_its_launch(ring: Ring, told: Read) -> None:
    """The first event that shows it is the one by which the host has settled the step."""
    first = ring.launch((0, 200), (200, 100))
    ring.free(first, 0, 200)
    settled = ring.settle(first)
    second = ring.launch((300, 100))
    ring.free(second, 300, 100)
    last = ring.settle(second)
    (finding,) = told(ring.history)
    assert {
        "code": "TR701",
        "name": "workspace-exhausted",
        "seq": settled,
        "class": "resource",
        "confidence": "proven",
        "sentence": (
            f"launch {first.launch} (forward) on compute, in step 1, took the workspace block of 100 bytes "
            f"at 200 at event {first.seq - 1}; by event {settled} the launch had ended, and the block was "
            f"not given back by then, nor by the last event, {last}"
        ),
        "resource_kind": "workspace",
        "resource_id": 200,
        "launch": first.launch,
        "stream": COMPUTE,
        "request": 7,
    }.items() <= finding.items()


def test_a_block_given_back_too_late(ring: Ring, told: Read) -> None:
    """A step later is a step too late, and the finding says when it was."""
    first = ring.launch((0, 200))
    settled = ring.settle(first)
    second = ring.launch((200, 200))
    freed = ring.free(first, 0, 200)
    ring.settle(second)
    ring.free(second, 200, 200)
    (finding,) = told(ring.history)
    assert ("TR701", settled) == (finding["code"], finding["seq"])
    assert finding["sentence"].endswith(f", and the block was given back only at event {freed}")


def test_a_block_given_back_behind_the_commit_is_sound(ring: Ring, told: Read) -> None:
    """The host settles a step act by act, with the next one in flight, and goes on then."""
    first = ring.launch((0, 200))
    second = ring.launch((200, 200))
    ring.settle(first)
    ring.free(first, 0, 200)
    third = ring.launch((0, 200))
    ring.settle(second)
    ring.free(second, 200, 200)
    ring.settle(third)
    assert [] == told(ring.history)


def test_a_launch_without_room(ring: Ring, told: Read) -> None:
    """Free bytes in two pieces, neither long enough: the launch waits, and the step in flight is its own."""
    first = ring.launch((400, 100))
    ring.plan(600, room=500)
    second = ring.launch()
    ring.history.progress[COMPUTE] = (second.ordinal, second.ordinal - 1)
    ring.history.error(COMPUTE)
    (finding,) = told(ring.history)
    assert {
        "code": "TR701",
        "seq": second.seq,
        "confidence": "observed",
        "sentence": (
            f"launch {second.launch} (forward) on compute needs 600 bytes of the workspace in one piece, and "
            "the largest room is 500, though 900 of 1000 are free; the oldest block that is live, 100 bytes "
            f"at 400, was taken at event {first.seq - 1} by launch {first.launch} (forward), in step 1"
        ),
        "resource_id": 400,
        "launch": second.launch,
        "other_launch": first.launch,
        "other_seq": first.seq - 1,
    }.items() <= finding.items()


def test_more_than_there_is(ring: Ring, told: Read) -> None:
    """Nothing is kept, and the launch is too large all the same."""
    ring.plan(1200)
    launched = ring.launch()
    (finding,) = told(ring.history)
    assert finding["sentence"] == (
        f"launch {launched.launch} (forward) on compute needs 1200 bytes of the workspace in one piece, and "
        "the largest room is 1000: more than all of its 1000"
    )
    assert (finding["resource_id"], finding["other_launch"], finding["confidence"]) == (None, None, "proven")


def test_a_refused_launch_is_none(ring: Ring, told: Read) -> None:
    """A plan that did not fit and was not launched breaks no rule; the next launch has the same number."""
    ring.plan(1200)
    ring.plan(100)
    launched = ring.launch((0, 100))
    ring.free(launched, 0, 100)
    ring.settle(launched)
    assert [] == told(ring.history)


def test_a_history_that_ends_in_the_launch(ring: Ring, told: Read) -> None:
    """What runs at the end may keep its blocks, whatever ended it; only an orderly end has given all back."""
    launched = ring.launch((0, 100))
    assert [] == told(ring.history)
    ring.history.header["reason"] = "exit"
    ring.history.event("finish", request=7, row=0, reason="stop")
    assert [launched.launch] == [finding["launch"] for finding in told(ring.history)]


def test_the_end_of_a_file_that_was_cut_short_is_none(ring: Ring, told: Read) -> None:
    """The engine ended in order, and gave the block back behind the last line that is left."""
    launched = ring.launch((0, 100))
    ring.free(launched, 0, 100)
    ring.history.header["reason"] = "exit"
    del ring.history.events[-1]
    assert [] == told(ring.history)
