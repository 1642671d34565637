"""TR302, uninitialised-read: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


@pytest.fixture
def history() -> History:
    """A device that has just started, and cleared no more than its first five pages."""
    begun = History()
    begun.clear(COMPUTE)
    begun.events[0]["pages"] = 5
    begun.sync()
    begun.alloc([0], "reserved:0")
    return begun


def tail(history: History, page: int, end: int = 2, covers: str = "page") -> Launched:
    """Request 2 writes the first positions of a page, and loads all of it."""
    pages = history.alloc([page], "request:2")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    return history.forward(COMPUTE, use(0, 1, 0, end, covers=covers))


def test_positions_that_nothing_wrote(history: History, told: Read) -> None:
    """The page lies behind what was cleared at the start."""
    launch = tail(history, 9)
    (finding,) = told(history)
    assert {
        "code": "TR302",
        "name": "uninitialised-read",
        "seq": launch.seq,
        "class": "content",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute loads positions 2 to 3 of page 9.1 of request 2, "
            "which nothing has written or cleared since the device started"
        ),
        "resource_kind": "page",
        "resource_id": 9,
        "life": 1,
        "row": 0,
        "request": 2,
        "launch": launch.launch,
        "other_launch": None,
    }.items() <= finding.items()


@pytest.mark.parametrize(
    ("page", "end", "covers"), [(4, 2, "page"), (9, 4, "page"), (9, 2, "valid"), (9, 4, "valid")]
)
def test_what_was_cleared_or_written_or_not_loaded_is_sound(
    history: History, told: Read, page: int, end: int, covers: str
) -> None:
    """A page of the cleared arena; a full page; a kernel that loads valid positions only."""
    tail(history, page, end, covers)
    assert [] == told(history)


def test_a_clear_that_left_a_position_is_told(history: History, told: Read) -> None:
    """It ran for this life, and began one position late."""
    pages = history.alloc([9], "request:2")
    clear = history.clear(COMPUTE, [[9, 1, 3, 4]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"))
    (finding,) = told(history)
    assert finding["sentence"].endswith(
        f"loads position 2 of page 9.1 of request 2, which nothing has written or cleared since the device "
        f"started; launch {clear.launch} (clear_pages) on compute cleared position 3 of page 9.1 and left "
        "position 2"
    )


def test_a_gap_between_two_steps(history: History, told: Read) -> None:
    """The second step starts a position too far: the one between was never written, and is valid."""
    tail(history, 9, 2, "valid")
    launch = history.forward(COMPUTE, use(0, 1, 3, 4))
    (finding,) = told(history)
    assert ("TR302", launch.seq) == (finding["code"], finding["seq"])
    assert "loads position 2 of page 9.1" in finding["sentence"]


def test_a_copy_from_where_nothing_was_written(history: History, told: Read) -> None:
    """The copy passes it on; the launch that reads the target is told of, and the copy named."""
    history.alloc([10], "request:1")
    pages = history.alloc([4], "request:2")
    copy = history.copy(COMPUTE, [[10, 1, 0, 4]], [[4, 1, 0, 4]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 3, 4))
    (finding,) = told(history)
    assert ("TR302", launch.seq, copy.launch) == (finding["code"], finding["seq"], finding["other_launch"])
    assert "loads positions 0 to 2 of page 4.1 of request 2" in finding["sentence"]
    assert (
        f"which launch {copy.launch} (copy_pages) on compute copied from where nothing" in finding["sentence"]
    )


def test_a_clear_in_this_life_is_enough(history: History, told: Read) -> None:
    """Nobody cleared the arena, and the page was cleared when it was granted."""
    pages = history.alloc([9], "request:2")
    history.clear(COMPUTE, [[*pages[0], 0, 4]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 1, covers="page"))
    assert [] == told(history)


def test_explicit_reads_count(history: History, told: Read) -> None:
    """A launch that names what it reads, half of which was written."""
    history.alloc([9], "request:2")
    history.forward(COMPUTE, writes=[[9, 1, 0, 2]])
    history.forward(COMPUTE, reads=[[9, 1, 0, 2]])
    launch = history.forward(COMPUTE, reads=[[9, 1, 1, 4]])
    (finding,) = told(history)
    assert ("TR302", launch.seq) == (finding["code"], finding["seq"])
    assert "loads positions 2 to 3 of page 9.1" in finding["sentence"]


def loaded(history: History, *, offloaded: bool) -> tuple[Launched, Launched]:
    """Request 2 goes on behind a page from slot 5, to which another page was offloaded, or nothing."""
    if offloaded:
        (page,) = history.alloc([3], "request:1")
        history.forward(COMPUTE, writes=[[*page, 0, 4]])
        history.moved("offload", COMPUTE, [(5, *page)])
    pages = history.alloc([9, 4], "request:2")
    load = history.moved("load", COMPUTE, [(5, *pages[0])])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    return load, history.forward(COMPUTE, use(0, 1, 4, 5))


def test_a_load_of_a_slot_that_nothing_was_offloaded_to(history: History, told: Read) -> None:
    """What the host's memory happens to hold comes into the page, and is read."""
    load, launch = loaded(history, offloaded=False)
    (finding,) = told(history)
    assert ("TR302", "proven", launch.seq, 9, load.launch) == tuple(
        finding[name] for name in ("code", "confidence", "seq", "resource_id", "other_launch")
    )
    assert finding["sentence"].endswith(
        f"loads positions 0 to 3 of page 9.1 of request 2, which launch {load.launch} (load_pages) on "
        "compute loaded from slot 5 of the host tier, to which nothing had been offloaded"
    )


def test_a_load_of_a_slot_that_a_page_was_offloaded_to(history: History, told: Read) -> None:
    """It was written, by somebody: whose bytes these are is another rule's."""
    loaded(history, offloaded=True)
    assert [] == told(history)


def test_what_a_slot_had_before_the_history_is_not_known(told: Read) -> None:
    """The offload may lie there."""
    history = History(first_seq=100)
    history.keyframe([{"page": 0, "life": 1, "state": "held", "holders": ["reserved:0/write"]}])
    loaded(history, offloaded=False)
    assert [] == told(history)
