"""TR403, walked-past-row: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Page, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def mapped(history: History, pages: list[Page], *, first: int = 0, generation: int = 1) -> None:
    """The host means row 0 to name these pages, and publishes them."""
    named = [list(page) for page in pages]
    history.event("map", row=0, generation=generation, index=first, pages=named)
    history.publish(COMPUTE, 0, generation, pages, first=first)


def begun(history: History) -> list[Page]:
    """Request 1 has row 0, with two pages."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    mapped(history, pages)
    return pages


def ended(history: History, pages: list[Page]) -> None:
    """Request 1 gives row and pages back."""
    named = [list(page) for page in pages]
    history.event("unmap", row=0, generation=1, index=0, pages=named)
    history.release(0, 1, 1)
    history.give_back(pages, "request:1")


def test_an_entry_behind_the_last_one(history: History, told: Read) -> None:
    """What the former tenant left there is a page of somebody else by now."""
    old = begun(history)
    ended(history, old)
    history.alloc([6], "request:3")
    new = history.alloc([7], "request:2")
    history.acquire(0, 2, 2)
    mapped(history, new, generation=2)
    launch = history.forward(COMPUTE, use(0, 2, 0, 3, walked=2, covers="page"))
    (finding,) = told(history)
    assert {
        "code": "TR403",
        "name": "walked-past-row",
        "seq": launch.seq,
        "class": "mapping",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute follows entry 1 of row 0 for request 2, which "
            "maps 1 entry there: it names page 6.1, left by generation 1 of request 1"
        ),
        "resource_kind": "row",
        "resource_id": 0,
        "row": 0,
        "generation": 2,
        "request": 2,
        "launch": launch.launch,
    }.items() <= finding.items()


def test_up_to_the_last_entry_is_sound(history: History, told: Read) -> None:
    """It follows as many as are mapped, and more once more are."""
    begun(history)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    mapped(history, history.alloc([7], "request:1"), first=2)
    history.forward(COMPUTE, use(0, 1, 8, 9))
    assert [] == told(history)


def test_an_entry_that_was_never_published(history: History, told: Read) -> None:
    """Nothing ever stood there."""
    begun(history)
    launch = history.forward(COMPUTE, use(0, 1, 0, 8, walked=3))
    assert [
        (
            "TR403",
            launch.seq,
            f"launch {launch.launch} (forward) on compute follows entry 2 of row 0 for request 1, which "
            "maps 2 entries there: nothing was ever published in it",
        )
    ] == [(found["code"], found["seq"], found["sentence"]) for found in told(history)]


def test_poison_behind_the_last_one(history: History, told: Read) -> None:
    """Its cause is the walk, not the entry."""
    begun(history)
    history.publish(COMPUTE, 0, 1, [(99, 0)], first=2)
    launch = history.forward(COMPUTE, use(0, 1, 0, 8, walked=3))
    history.progress[COMPUTE] = (launch.ordinal, launch.ordinal - 1)
    history.error(COMPUTE)
    (finding,) = told(history)
    assert ("TR403", "observed") == (finding["code"], finding["confidence"])
    assert finding["sentence"].endswith("it names 99, which is no page of the pool")


def test_a_kernel_that_follows_more_than_its_launch_was_to(history: History, told: Read) -> None:
    """A guard saw it: within what the row maps that is no finding, behind its end it is one."""
    begun(history)
    first = history.forward(COMPUTE, use(0, 1, 0, 4))
    launch = history.forward(COMPUTE, use(0, 1, 4, 8))
    history.event("guard", launch=first.launch, row=0, generation=1, walked=2, entries=[])
    history.event("guard", launch=launch.launch, row=0, generation=1, walked=3, entries=[[2, 0]])
    (finding,) = told(history)
    assert ("TR403", launch.seq, "observed") == tuple(finding[key] for key in ("code", "seq", "confidence"))
    assert finding["sentence"].endswith(
        "follows entry 2 of row 0 for request 1, which maps 2 entries there: nothing was ever published in "
        "it. The kernel itself followed 3 entries of it, and its launch was to follow 2"
    )


def test_an_entry_between_those_that_are_mapped(history: History, told: Read) -> None:
    """Their number alone would say that it is one of them."""
    begun(history)
    mapped(history, history.alloc([7], "request:1"), first=3)
    launch = history.forward(COMPUTE, use(0, 1, 0, 8, walked=3))
    (finding,) = told(history)
    assert finding["seq"] == launch.seq
    assert "which maps 3 entries there, and not that one: nothing was ever" in finding["sentence"]


def test_an_entry_that_is_mapped_too_late(history: History, told: Read) -> None:
    """The map comes behind the launch."""
    begun(history)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    history.publish(COMPUTE, 0, 1, history.alloc([7], "request:1"), first=2)
    launch = history.forward(COMPUTE, use(0, 1, 8, 9))
    history.event("map", row=0, generation=1, index=2, page=7, life=1)
    history.forward(COMPUTE, use(0, 1, 9, 10))
    assert [("TR403", launch.seq)] == [(found["code"], found["seq"]) for found in told(history)]


def test_a_row_that_is_mapped_no_more(history: History, told: Read) -> None:
    """That is a use after free in the first place, and stale: the row was the request's."""
    pages = begun(history)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    ended(history, pages)
    launch = history.forward(COMPUTE, use(0, 1, 8, 8))
    found = told(history)
    assert ["TR201", "TR201", "TR402", "TR403"] == [one["code"] for one in found]
    assert {launch.seq} == {one["seq"] for one in found}


def test_a_history_without_maps_tells_nothing(history: History, told: Read) -> None:
    """Publishes alone do not say what the host meant."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    assert [] == told(history)


@pytest.mark.parametrize(("end", "padding"), [(4, 0), (5, 0), (4, 7)])
def test_padded_entries_behind_the_end_are_sound(
    history: History, told: Read, end: int, padding: int
) -> None:
    """They name the reserved page, and a kernel masks what it loads there; not so what it takes for valid."""
    pages = history.alloc([5], "request:1")
    history.fill(COMPUTE, pages)
    history.alloc([7], "request:2")
    history.acquire(0, 1, 1)
    history.event("map", row=0, generation=1, index=0, page=5, life=1)
    history.publish(COMPUTE, 0, 1, [*pages, (padding, 1), (padding, 1)])
    launch = history.forward(COMPUTE, use(0, 1, 3, end, walked=3, covers="page"))
    found = [(one["code"], one["seq"]) for one in told(history)]
    assert ([] if (end, padding) == (4, 0) else [("TR403", launch.seq)]) == [
        one for one in found if one[0] == "TR403"
    ]
    assert bool(found) == ((end, padding) != (4, 0))


def test_a_row_of_which_no_maps_are_told_is_sound(history: History, told: Read) -> None:
    """A drafter's rows, beside those of the model; with a map it is one like any other."""
    begun(history)
    pages = history.alloc([7], "request:1")
    history.acquire(4, 1, 1)
    history.publish(COMPUTE, 4, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 0, 4), use(4, 1, 0, 4))
    assert [] == told(history)
    history.event("map", row=4, generation=1, index=0, page=7, life=1)
    history.forward(COMPUTE, use(0, 1, 4, 5), use(4, 1, 4, 4))
    assert [("TR403", 4, launch.seq)] == [
        (found["code"], found["resource_id"], found["seq"]) for found in told(history)
    ]


def test_a_tenancy_from_before_the_history_is_unknown(told: Read) -> None:
    """Its maps may lie there; another tenancy is judged."""
    history = History(first_seq=50)
    history.keyframe(
        [{"page": page, "life": 1, "state": "held", "holders": ["request:1/write"]} for page in (5, 6)],
        [{"row": 0, "generation": 1, "request": 1, "epoch": 1, "entries": [[0, 5, 1], [1, 6, 1]]}],
    )
    history.forward(COMPUTE, use(0, 1, 0, 8))
    history.acquire(1, 1, 2)
    page = history.alloc([7], "request:2")
    history.event("map", row=1, generation=1, index=0, page=7, life=1)
    history.publish(COMPUTE, 1, 1, page)
    assert [] == told(history)
    launch = history.forward(COMPUTE, use(1, 1, 0, 4, walked=2))
    assert [("TR403", launch.seq)] == [(found["code"], found["seq"]) for found in told(history)]


def test_suspected_where_events_are_missing(history: History, told: Read) -> None:
    """The map may be among them."""
    begun(history)
    history.forward(COMPUTE, use(0, 1, 0, 8, walked=3))
    history.header["ring"] |= {"torn": 1}
    assert ["suspected"] == [found["confidence"] for found in told(history)]
