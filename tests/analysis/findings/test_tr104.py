"""TR104, unordered-clear: each fault beside its sound twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.history import History, Launched, use

Read = Callable[[History], list[dict[str, Any]]]
LEGACY, COMPUTE, TRANSFER = 0, 1, 2


def codes(found: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """Code and event of each."""
    return [(finding["code"], finding["seq"]) for finding in found]


def former(history: History) -> Launched:
    """Page 5's first life: written and read on compute, and given back."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    last = history.forward(COMPUTE, use(0, 1, 3, 4))
    history.release(0, 1, 1)
    history.give_back(pages, "request:1")
    return last


def tail(history: History, end: int = 2) -> Launched:
    """Request 2 writes the first positions of page 5's second life, and loads the whole page."""
    history.acquire(0, 2, 2)
    history.publish(COMPUTE, 0, 2, [(5, 2)])
    return history.forward(COMPUTE, use(0, 2, 0, end, covers="page"))


def test_a_clear_on_the_legacy_stream(history: History, told: Read) -> None:
    """The wrong fix: compute doesn't order itself with the legacy stream, on neither side."""
    last = former(history)
    history.alloc([5], "request:2")
    clear = history.clear(LEGACY, [[5, 2, 0, 4]])
    tail(history)
    first, *others = told(history)
    assert {
        "code": "TR104",
        "name": "unordered-clear",
        "seq": clear.seq,
        "class": "order",
        "confidence": "proven",
        "sentence": (
            f"launch {clear.launch} (clear_pages) on legacy clears positions 0 to 3 of page 5.2, and nothing "
            f"orders it after launch {last.launch} (forward) on compute, which touches page 5.1"
        ),
        "resource_kind": "page",
        "resource_id": 5,
        "life": 2,
        "launch": clear.launch,
        "stream": LEGACY,
        "other_launch": last.launch,
        "other_stream": COMPUTE,
        "other_seq": last.seq,
    }.items() <= first.items()
    assert {"TR202"} == {finding["code"] for finding in others}


@pytest.mark.parametrize("first", [0, 2])
def test_a_clear_in_order_is_sound(history: History, told: Read, first: int) -> None:
    """On the stream that uses the page, of the whole page or of its tail."""
    former(history)
    history.alloc([5], "request:2")
    history.clear(COMPUTE, [[5, 2, first, 4]])
    tail(history)
    assert [] == told(history)


def test_a_clear_that_both_sides_wait_for_is_sound(history: History, told: Read) -> None:
    """On another stream, with a fence before it and one behind it."""
    former(history)
    history.alloc([5], "request:2")
    history.order(COMPUTE, TRANSFER)
    history.clear(TRANSFER, [[5, 2, 0, 4]])
    history.order(TRANSFER, COMPUTE)
    tail(history)
    assert [] == told(history)


def test_a_clear_that_the_writer_does_not_wait_for(history: History, told: Read) -> None:
    """It waits for the life before, and nothing waits for it."""
    former(history)
    history.alloc([5], "request:2")
    history.order(COMPUTE, TRANSFER)
    clear = history.clear(TRANSFER, [[5, 2, 0, 4]])
    writer = tail(history)
    (finding,) = told(history)
    assert ("TR104", writer.seq, 2, clear.launch) == (
        finding["code"],
        finding["seq"],
        finding["request"],
        finding["other_launch"],
    )
    assert (
        f"launch {writer.launch} (forward) on compute writes positions 0 to 1 of page 5.2, and nothing "
        f"orders it after launch {clear.launch} (clear_pages) on transfer, which clears them"
    ) == finding["sentence"]


def test_a_load_that_does_not_wait_for_the_clear(history: History, told: Read) -> None:
    """The clear may come after the load has landed, and blank the page."""
    source = history.alloc([6], "request:1")
    history.forward(TRANSFER, writes=[[6, 1, 0, 4]])
    history.moved("offload", TRANSFER, [(1, *source[0])])
    pages = history.alloc([5], "request:2")
    clear = history.clear(COMPUTE, [[*pages[0], 0, 4]])
    load = history.moved("load", TRANSFER, [(1, *pages[0])])
    assert [("TR104", load.seq)] == codes(told(history))
    assert clear.launch == told(history)[0]["other_launch"]


def restored(history: History, *, first: int, behind: bool) -> tuple[Launched, Launched]:
    """A page comes back from the host tier, all in order; its clear comes before the load, or behind it."""
    source = history.alloc([6], "request:1")
    history.forward(COMPUTE, writes=[[6, 1, 0, 4]])
    history.order(COMPUTE, TRANSFER)
    history.moved("offload", TRANSFER, [(1, *source[0])])
    pages = history.alloc([5, 7], "request:2")
    if not behind:
        history.clear(COMPUTE, [[*pages[0], first, 4]])
    history.order(COMPUTE, TRANSFER)
    load = history.moved("load", TRANSFER, [(1, *pages[0])])
    history.order(TRANSFER, COMPUTE)
    clear = history.clear(COMPUTE, [[*pages[0], first, 4]]) if behind else load
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    return load, clear


def test_a_clear_behind_a_load_blanks_the_page(history: History, told: Read) -> None:
    """The other wrong fix: it is ordered, and it wipes what was restored."""
    load, clear = restored(history, first=0, behind=True)
    reader = history.forward(COMPUTE, use(0, 1, 4, 5))
    (finding,) = told(history)
    assert ("TR104", clear.seq, clear.launch, load.launch, 2) == (
        finding["code"],
        finding["seq"],
        finding["launch"],
        finding["other_launch"],
        finding["request"],
    )
    assert (
        f"launch {clear.launch} (clear_pages) on compute clears positions 0 to 3 of page 5.1 after launch "
        f"{load.launch} (load_pages) on transfer, which put them there: launch {reader.launch} (forward) on "
        "compute reads zeros in their place"
    ) == finding["sentence"]


def test_a_clear_of_the_tail_that_begins_too_early(history: History, told: Read) -> None:
    """Three positions of the restored page are meant, the clear behind it begins at the third."""
    load, clear = restored(history, first=2, behind=True)
    reader = history.forward(COMPUTE, use(0, 1, 3, 4, covers="page"))
    (finding,) = told(history)
    assert ("TR104", clear.launch, load.launch) == (
        finding["code"],
        finding["launch"],
        finding["other_launch"],
    )
    assert (
        f"launch {clear.launch} (clear_pages) on compute clears positions 2 to 3 of page 5.1 after launch "
        f"{load.launch} (load_pages) on transfer, and reaches into what that put there: launch "
        f"{reader.launch} (forward) on compute takes position 2 for valid and reads zeros"
    ) == finding["sentence"]


def test_a_clear_before_the_load_is_sound(history: History, told: Read) -> None:
    """The same acts, the other way round."""
    restored(history, first=0, behind=False)
    history.forward(COMPUTE, use(0, 1, 4, 5))
    assert [] == told(history)


def test_a_clear_of_the_tail_behind_the_load_is_sound(history: History, told: Read) -> None:
    """Two positions of the restored page are meant; the rest is cleared, and loaded with them."""
    restored(history, first=2, behind=True)
    history.forward(COMPUTE, use(0, 1, 2, 3, covers="page"))
    assert [] == told(history)


def test_a_wiped_page_that_is_written_again_is_sound(history: History, told: Read) -> None:
    """What nobody reads is no loss."""
    restored(history, first=0, behind=True)
    history.forward(COMPUTE, use(0, 1, 0, 4))
    assert [] == told(history)


def test_a_page_cleared_when_it_was_given_back(history: History, told: Read) -> None:
    """The clear prepares the next life, whose first launch must wait for it."""
    former(history)
    history.order(COMPUTE, TRANSFER)
    clear = history.clear(TRANSFER, [[5, 1, 0, 4]])
    history.alloc([5], "request:2")
    writer = tail(history)
    assert [("TR104", writer.seq), ("TR202", writer.seq)] == codes(told(history))
    assert clear.launch == told(history)[0]["other_launch"]


def test_a_page_cleared_in_order_when_it_was_given_back_is_sound(history: History, told: Read) -> None:
    """On the same stream."""
    former(history)
    history.clear(COMPUTE, [[5, 1, 0, 4]])
    history.alloc([5], "request:2")
    tail(history)
    assert [] == told(history)


def test_missing_edge_of_a_clear(history: History, tmp_path: Path) -> None:
    """The call stands between the clear and the launch that must wait for it; a wiped page lacks none."""
    former(history)
    history.alloc([5], "request:2")
    history.order(COMPUTE, TRANSFER)
    clear = history.clear(TRANSFER, [[5, 2, 0, 4]])
    writer = tail(history)
    expected = (
        clear.launch,
        writer.launch,
        "fence = device.record(transfer); device.wait(compute, fence)",
    )
    query = 'SELECT from_launch, to_launch, "call" FROM missing_edge(1)'
    assert [expected] == history.read(tmp_path).connection.execute(query).fetchall()
    other = History()
    other.clear(COMPUTE)
    other.sync()
    restored(other, first=0, behind=True)
    other.forward(COMPUTE, use(0, 1, 4, 5))
    assert [] == other.read(tmp_path).connection.execute(query).fetchall()


@pytest.mark.parametrize(("frontier", "first"), [(2, 2), (3, 2), (2, 1)])
def test_clearing_what_rejected_drafts_left_is_sound(
    history: History, told: Read, frontier: int, first: int
) -> None:
    """Nobody misses them, whoever reads the whole page afterwards; what was accepted is another matter."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 4))
    history.event("verify", request=1, row=0, step=1, drafts=3, accepted=frontier - 1, frontier=frontier)
    clear = history.clear(COMPUTE, [[5, 1, first, 4]])
    history.forward(COMPUTE, kernel="checksum", reads=[[5, 1, 0, 4]])
    assert ([] if first == frontier else [("TR104", clear.seq)]) == codes(told(history))
