"""TR104 where a copy took the zeros of a clear on: the clear is told of, and who read them, wherever."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.report.build import build

from tests.analysis.history import History, Launched, Page, use
from tests.some import a_few

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def computed(history: History, page: int = 5, end: int = 4) -> tuple[Page, Launched]:
    """Request 1 computes the first positions of a page."""
    pages = history.alloc([page], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    return pages[0], history.forward(COMPUTE, use(0, 1, 0, end))


def brought(history: History, source: Page, how: str, end: int = 3) -> tuple[Page, Launched]:
    """Request 2's page gets the first positions of another: copied, over a stage, or from the host tier."""
    (target,) = history.alloc([6], "request:2")
    if how == "host":
        history.moved("offload", COMPUTE, [(0, *source)])
        return target, history.moved("load", COMPUTE, [(0, *target)])
    if how == "stage":
        (stage,) = history.alloc([8], "transfer:1")
        staged = [[*stage, 4 - end, 4]]
        history.copy(COMPUTE, [[*source, 0, end]], staged)
        return target, history.copy(COMPUTE, staged, [[*target, 0, end]])
    return target, history.copy(COMPUTE, [[*source, 0, end]], [[*target, 0, end]])


def goes_on(history: History, target: Page, start: int = 3) -> Launched:
    """Request 2 computes from there on, and takes what lies before for valid."""
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, [target])
    return history.forward(COMPUTE, use(1, 1, start, start + 1))


@pytest.mark.parametrize("how", ["copy", "stage", "host"])
def test_what_was_wiped_and_then_brought_elsewhere(history: History, told: Read, how: str) -> None:
    """All in order: it was computed, so the clear is what is wrong, and the page that was cleared."""
    source, writer = computed(history)
    clear = history.clear(COMPUTE, [[*source, 0, 4]])
    target, last = brought(history, source, how)
    reader = goes_on(history, target)
    (finding,) = told(history)
    kernel = "load_pages" if how == "host" else "copy_pages"
    assert {
        "code": "TR104",
        "seq": clear.seq,
        "sentence": (
            f"launch {clear.launch} (clear_pages) on compute clears positions 0 to 2 of page 5.1 after "
            f"launch {writer.launch} (forward) on compute, which put them there: launch {reader.launch} "
            "(forward) on compute reads zeros in their place, in page 6.1, to which launch "
            f"{last.launch} ({kernel}) on compute brought them"
        ),
        "resource_id": 5,
        "life": 1,
        "request": 2,
        "launch": clear.launch,
        "other_launch": writer.launch,
    }.items() <= finding.items()


def test_a_clear_that_reaches_too_far_before_a_copy(history: History, told: Read) -> None:
    """The tail of a page that is cached is cleared from one position too early, and copied."""
    source, _ = computed(history)
    clear = history.clear(COMPUTE, [[*source, 2, 4]])
    target, last = brought(history, source, "copy")
    reader = goes_on(history, target)
    (finding,) = told(history)
    assert ("TR104", clear.seq) == (finding["code"], finding["seq"])
    assert finding["sentence"].endswith(
        f"and reaches into what that put there: launch {reader.launch} (forward) on compute takes position 2 "
        f"for valid and reads zeros, in page 6.1, to which launch {last.launch} (copy_pages) on compute "
        "brought them"
    )


def test_of_several_who_read_the_zeros_the_clear_is_told_once(history: History, told: Read) -> None:
    """Its own request reads them, and one that got a copy of a copy."""
    source, _ = computed(history, end=3)
    clear = history.clear(COMPUTE, [[*source, 0, 4]])
    target, _ = brought(history, source, "stage")
    own = history.forward(COMPUTE, use(0, 1, 3, 4))
    goes_on(history, target)
    (finding,) = told(history)
    assert ("TR104", clear.seq, 1) == (finding["code"], finding["seq"], finding["request"])
    assert finding["sentence"].endswith(
        f"launch {own.launch} (forward) on compute reads zeros in their place"
    )


def test_a_planned_copy_of_what_a_clear_wiped(history: History, told: Read) -> None:
    """The clear tears the copy, too: nobody says that what it wiped was never computed."""
    source, _ = computed(history)
    (target,) = history.alloc([6], "request:2")
    extents = [[*source, 0, 3]], [[*target, 0, 3]]
    history.event("copy_plan", transaction=1, source=extents[0], target=extents[1])
    clear = history.clear(COMPUTE, [[*source, 0, 4]])
    history.copy(COMPUTE, *extents)
    history.sync(COMPUTE)
    history.event("copy_done", transaction=1)
    goes_on(history, target)
    found = told(history)
    assert [("TR104", clear.seq), ("TR303", clear.seq)] == [(one["code"], one["seq"]) for one in found]


def test_a_copy_of_zeros_of_the_next_life(history: History, told: Read) -> None:
    """The source was let go and granted to another: it was computed, so that is not denied."""
    source, _ = computed(history)
    (target,) = history.alloc([6], "request:2")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, [target])
    before = history.forward(COMPUTE, use(1, 1, 0, 1))
    history.release(0, 1, 1)
    history.give_back([source], "request:1")
    (later,) = history.alloc([5], "request:3")
    clear = history.clear(COMPUTE, [[*later, 0, 4]])
    copy = history.copy(COMPUTE, [[*source, 1, 3]], [[*target, 1, 3]])
    reader = history.forward(COMPUTE, use(1, 1, 3, 4))
    freed, met = told(history)
    assert ("TR201", copy.seq) == (freed["code"], freed["seq"])
    assert ("TR302", reader.seq, copy.launch) == (met["code"], met["seq"], met["other_launch"])
    assert met["sentence"] == (
        f"launch {reader.launch} (forward) on compute loads positions 1 to 2 of page 6.1 of request 2, "
        f"valid, but no launch of the history computed what is there: launch {before.launch} (forward) on "
        "compute had computed up to position 0 of the sequence, this launch computes from position 3 on; "
        f"launch {copy.launch} (copy_pages) on compute brought them from page 5.1, which was page 5.2 by "
        f"then, and there are only the zeros of launch {clear.launch} (clear_pages) on compute"
    )


@pytest.mark.parametrize("ordered", [False, True])
def test_what_fails_on_a_copy_of_the_zeros_is_tied_to_the_clear(tmp_path: Path, ordered: bool) -> None:
    """A value that is not finite in the page with the copy: the clear of another page is its cause."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    source, _ = computed(history)
    if ordered:
        history.order(COMPUTE, TRANSFER)
    clear = history.clear(TRANSFER, [[*source, 0, 4]])
    history.sync()
    target, _ = brought(history, source, "copy")
    reader = goes_on(history, target)
    history.event("nonfinite", launch=reader.launch, request=2, row=1, position=3, pages=[list(target)])
    report = build(history.read(tmp_path))
    assert ("TR104", clear.seq, "observed") == (
        report.verdict.code,
        report.verdict.seq,
        report.verdict.confidence,
    )
    if ordered:
        assert "with the clear moved to before the first use of the page, and every rule checked again, " in (
            report.verdict.counterfactual or ""
        )


@pytest.mark.parametrize("how", a_few(1, ["copy", "stage", "host"]))
@pytest.mark.parametrize("case", ["again", "behind", "drafts", "next life"])
def test_zeros_that_nobody_misses_are_sound(history: History, told: Read, how: str, case: str) -> None:
    """Computed once more; or behind what is valid; or over rejected drafts; or of the page's next life."""
    source, _ = computed(history)
    if case == "again":
        history.clear(COMPUTE, [[*source, 0, 4]])
        history.forward(COMPUTE, use(0, 1, 0, 4))
    elif case == "behind":
        history.clear(COMPUTE, [[*source, 3, 4]])
    elif case == "drafts":
        history.event("verify", request=1, row=0, step=1, drafts=3, accepted=1, frontier=2)
        history.clear(COMPUTE, [[*source, 2, 4]])
    else:
        history.release(0, 1, 1)
        history.clear(COMPUTE, [[*source, 0, 4]])
        history.give_back([source], "request:1")
        (source,) = history.alloc([5], "request:1")
    target, _ = brought(history, source, how, 4)
    if case == "drafts":
        # Without a row, nobody takes them for valid.
        history.forward(COMPUTE, kernel="checksum", reads=[[*target, 0, 4]])
    elif case == "next life":
        # Clean, and computed before anybody means it.
        history.forward(COMPUTE, kernel="checksum", reads=[[*target, 0, 4]])
        goes_on(history, target, 0)
    else:
        goes_on(history, target)
    assert told(history) == []
