"""TR402, stale-mapping: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Page, use

Read = Callable[[History], list[dict[str, Any]]]
LEGACY, COMPUTE, TRANSFER = 0, 1, 2


def test_an_entry_that_names_another_requests_page(history: History, told: Read) -> None:
    """Page 6 is request 2's."""
    (own,) = history.alloc([5], "request:1")
    (other,) = history.alloc([6], "request:2")
    history.hold([own], "prefix:1")
    history.acquire(0, 1, 1)
    publish = history.publish(COMPUTE, 0, 1, [own, other])
    history.forward(COMPUTE, use(0, 1, 0, 4))
    launch = history.forward(COMPUTE, use(0, 1, 4, 5))
    (finding,) = told(history)
    assert {
        "code": "TR402",
        "name": "stale-mapping",
        "seq": launch.seq,
        "class": "mapping",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute follows entry 1 of row 0 for request 1, which "
            "names page 6.1: that request does not hold it, it is held by others and was granted to request:2"
        ),
        "resource_kind": "page",
        "resource_id": 6,
        "life": 1,
        "row": 0,
        "generation": 1,
        "request": 1,
        "launch": launch.launch,
        "other_launch": publish.launch,
    }.items() <= finding.items()


def test_a_page_of_the_prefix_that_the_request_holds_is_sound(history: History, told: Read) -> None:
    """Holding for reading is enough."""
    shared = history.alloc([5], "request:9")
    history.fill(COMPUTE, shared)
    history.hold(shared, "prefix:1")
    history.hold(shared, "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, shared + history.alloc([6], "request:1"))
    history.forward(COMPUTE, use(0, 1, 4, 5))
    assert [] == told(history)


def test_a_page_of_the_prefix_that_only_the_cache_holds(history: History, told: Read) -> None:
    """The hit gave the pages, and nobody held them for the request."""
    shared = history.alloc([5], "request:9")
    history.fill(COMPUTE, shared)
    history.hold(shared, "prefix:1")
    history.drop(shared, "request:9")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, shared)
    launch = history.forward(COMPUTE, use(0, 1, 3, 4))
    assert [("TR402", launch.seq, 5)] == [
        (found["code"], found["seq"], found["resource_id"]) for found in told(history)
    ]


def test_an_older_life_of_its_own_page(history: History, told: Read) -> None:
    """The request holds page 5 again, in a new life; the row names the old one."""
    old = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, old)
    history.give_back(old, "request:1")
    history.alloc([5], "request:1")
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    assert [("TR201", launch.seq, 1), ("TR402", launch.seq, 1)] == [
        (found["code"], found["seq"], found["life"]) for found in told(history)
    ]


def test_what_a_former_tenant_left(history: History, told: Read) -> None:
    """The row was never published for its new tenant: silent reading of another's pages."""
    former = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, former)
    history.release(0, 1, 1)
    history.alloc([6], "request:2")
    history.acquire(0, 2, 2)
    launch = history.forward(COMPUTE, use(0, 2, 0, 1))
    assert [("TR402", launch.seq, 2, 5)] == [
        (found["code"], found["seq"], found["request"], found["resource_id"]) for found in told(history)
    ]


def test_an_entry_that_was_never_published(history: History, told: Read) -> None:
    """Two entries are followed, one was published since the start."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages[:1])
    history.forward(COMPUTE, use(0, 1, 0, 4))
    launch = history.forward(COMPUTE, use(0, 1, 4, 5))
    (finding,) = told(history)
    assert ("TR402", launch.seq, "row", 0) == (
        finding["code"],
        finding["seq"],
        finding["resource_kind"],
        finding["resource_id"],
    )
    assert finding["sentence"].endswith(
        "follows entry 1 of row 0 for request 1, in which nothing was ever published"
    )


def test_an_entry_published_before_the_history_is_unknown(told: Read) -> None:
    """No keyframe tells what stands there."""
    history = History(first_seq=50)
    history.acquire(0, 1, 1)
    history.forward(COMPUTE, use(0, 1, 0, 4))
    assert [] == told(history)


def test_the_reserved_page_is_not_the_requests(history: History, told: Read) -> None:
    """Padding's page in an entry that is followed."""
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, [(0, 1)])
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    assert [("TR402", launch.seq, 0)] == [
        (found["code"], found["seq"], found["resource_id"]) for found in told(history)
    ]


def test_a_page_dropped_and_taken_again_is_sound(history: History, told: Read) -> None:
    """Between two launches the request lets go of a page of the prefix, and holds it again."""
    shared = history.alloc([5], "prefix:1")
    history.fill(COMPUTE, shared)
    history.acquire(0, 1, 1)
    history.hold(shared, "request:1")
    history.publish(COMPUTE, 0, 1, shared)
    history.forward(COMPUTE, use(0, 1, 3, 3))
    history.drop(shared, "request:1", "read")
    history.hold(shared, "request:1")
    history.forward(COMPUTE, use(0, 1, 4, 4))
    assert [] == told(history)


def test_a_page_used_while_it_was_let_go(history: History, told: Read) -> None:
    """The launch in between is the finding."""
    shared = history.alloc([5], "prefix:1")
    history.fill(COMPUTE, shared)
    history.acquire(0, 1, 1)
    history.hold(shared, "request:1")
    history.publish(COMPUTE, 0, 1, shared)
    history.forward(COMPUTE, use(0, 1, 2, 2))
    history.drop(shared, "request:1", "read")
    launch = history.forward(COMPUTE, use(0, 1, 3, 3))
    history.hold(shared, "request:1")
    history.forward(COMPUTE, use(0, 1, 4, 4))
    assert [("TR402", launch.seq)] == [(found["code"], found["seq"]) for found in told(history)]


def test_what_only_a_lack_of_order_shows(history: History, told: Read) -> None:
    """A stale row that a launch may find is TR102's consequence."""
    former = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(TRANSFER, 0, 1, former)
    history.sync()
    history.release(0, 1, 1)
    pages = history.alloc([6], "request:2")
    history.acquire(0, 2, 2)
    history.publish(LEGACY, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 0, 1))
    assert ["TR102"] == [found["code"] for found in told(history)]


def begun(history: History, request: int, pages: list[int]) -> list[Page]:
    """A request has row 0, in a generation of its own number, and computes six positions."""
    granted = history.alloc(pages, f"request:{request}")
    history.acquire(0, request, request)
    named = [list(page) for page in granted]
    history.event("map", row=0, generation=request, index=0, pages=named)
    history.publish(COMPUTE, 0, request, granted)
    history.forward(COMPUTE, use(0, request, 0, 6))
    return granted


def ended(history: History, request: int, pages: list[Page]) -> None:
    """It gives the row back, and the pages."""
    named = [list(page) for page in pages]
    history.event("unmap", row=0, generation=request, index=0, pages=named)
    history.release(0, request, request)
    history.give_back(pages, f"request:{request}")


def test_what_a_former_tenant_publishes_late(history: History, told: Read) -> None:
    """Request 1 is over and tries its publish again: request 2 writes into a page that is nobody's."""
    former = begun(history, 1, [5, 6])
    ended(history, 1, former)
    begun(history, 2, [7, 8])
    late = history.publish(COMPUTE, 0, 1, former[:1])
    launch = history.forward(COMPUTE, use(0, 2, 3, 7))
    published = (
        f"Entry 0 of row 0 was published by launch {late.launch} (copy_row) on compute for request 1 "
        "(generation 1), which had given the row back at event 10"
    )
    after_free, stale = told(history)
    assert ("TR201", launch.seq, 5, 1) == tuple(
        after_free[key] for key in ("code", "seq", "resource_id", "life")
    )
    assert after_free["sentence"].endswith(f"it was granted to request:1. {published}")
    assert {
        "code": "TR402",
        "seq": launch.seq,
        "request": 2,
        "generation": 2,
        "resource_id": 5,
        "other_launch": late.launch,
    }.items() <= stale.items()
    assert stale["sentence"].endswith(f"it is held by nobody and was granted to request:1. {published}")


def test_what_is_published_again_for_the_tenant_is_sound(history: History, told: Read) -> None:
    """The same publish, tried again by the handle that has the row."""
    former = begun(history, 1, [5, 6])
    ended(history, 1, former)
    pages = begun(history, 2, [7, 8])
    history.publish(COMPUTE, 0, 2, pages[:1])
    history.forward(COMPUTE, use(0, 2, 6, 7))
    assert [] == told(history)


def test_a_late_publish_that_is_overwritten_in_time_is_sound(history: History, told: Read) -> None:
    """What counts is what stands there when a launch looks."""
    former = begun(history, 1, [5, 6])
    ended(history, 1, former)
    pages = begun(history, 2, [7, 8])
    history.publish(COMPUTE, 0, 1, former)
    history.publish(COMPUTE, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 6, 7))
    assert [] == told(history)


def test_a_lane_that_goes_on_in_the_next_tenants_row(history: History, told: Read) -> None:
    """Request 1 is over, a launch of it still comes, and writes into request 2's page."""
    former = begun(history, 1, [5, 6])
    ended(history, 1, former)
    begun(history, 2, [7, 8])
    launch = history.forward(COMPUTE, use(0, 1, 6, 7))
    stale, past = told(history)
    assert ("TR402", launch.seq, 1, 7) == tuple(
        stale[key] for key in ("code", "seq", "request", "resource_id")
    )
    since = (
        "Request 1 (generation 1) had given row 0 back at event 10, and request 2 (generation 2) has had it "
        "since event 14"
    )
    assert stale["sentence"].endswith(f"it is held by others and was granted to request:2. {since}")
    assert ("TR403", launch.seq) == (past["code"], past["seq"])
    assert past["sentence"].endswith(f"which maps 0 entries there: it names page 7.1. {since}")


def test_a_row_that_two_requests_have(history: History, told: Read) -> None:
    """Request 2 is given the row that request 1 still has: that is told, and not where the row ends."""
    begun(history, 1, [5, 6])
    second = history.seq + 2
    begun(history, 2, [7, 8])
    launch = history.forward(COMPUTE, use(0, 1, 6, 7))
    grown = history.alloc([9], "request:1")
    history.event("map", row=0, generation=1, index=2, pages=[list(page) for page in grown])
    history.publish(COMPUTE, 0, 1, grown, first=2)
    history.forward(COMPUTE, use(0, 1, 7, 9))
    later = history.forward(COMPUTE, use(0, 2, 6, 9))
    first, other = told(history)
    given = (
        f"Row 0 was given to request 2 (generation 2) at event {second}, while request 1 (generation 1) "
        "still had it"
    )
    assert ("TR402", launch.seq, 1) == tuple(first[key] for key in ("code", "seq", "request"))
    assert first["sentence"].endswith(f"it is held by others and was granted to request:2. {given}")
    assert ("TR402", later.seq, 2) == tuple(other[key] for key in ("code", "seq", "request"))
    assert "follows entry 2 of row 0 for request 2, which names page 9.1" in other["sentence"]
    assert other["sentence"].endswith(given)


def test_a_row_that_changes_hands_in_time_is_sound(history: History, told: Read) -> None:
    """Given back first; the next tenant grows, too."""
    ended(history, 1, begun(history, 1, [5, 6]))
    begun(history, 2, [7, 8])
    grown = history.alloc([9], "request:2")
    history.event("map", row=0, generation=2, index=2, pages=[list(page) for page in grown])
    history.publish(COMPUTE, 0, 2, grown, first=2)
    history.forward(COMPUTE, use(0, 2, 6, 9))
    assert [] == told(history)


@pytest.mark.parametrize("how", ["mapped", "unmapped", "written"])
def test_the_window_of_a_sequence_slides_on(history: History, told: Read, how: str) -> None:
    """Its first page goes back, and the host means the entry to name page 0 from then on."""
    pages = history.alloc([5, 6, 7], "request:1")
    history.acquire(0, 1, 1)
    history.event("map", row=0, generation=1, index=0, pages=[list(page) for page in pages])
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    if how != "unmapped":
        history.event("unmap", row=0, generation=1, index=0, page=5, life=1)
        history.event("map", row=0, generation=1, index=0, page=0, life=1)
    history.publish(COMPUTE, 0, 1, [(0, 1)])
    history.give_back(pages[:1], "request:1")
    launch = history.forward(COMPUTE, use(0, 1, 3 if how == "written" else 8, 9))
    # A padded row of the batch writes there meanwhile.
    history.publish(COMPUTE, 2, 1, [(0, 1)])
    history.forward(COMPUTE, use(2, 1, 0, 1))
    history.forward(COMPUTE, use(0, 1, 9, 10))
    found = {(one["code"], one["seq"]) for one in told(history) if one["code"] != "TR206"}
    assert (set() if how == "mapped" else {("TR402", launch.seq)}) == found


def test_a_placeholder_of_before_the_history(told: Read) -> None:
    """An entry had left the window before the keyframe; what the host maps there since, counts."""
    history = History(first_seq=100)
    pages = [
        {"page": page, "life": 1, "state": "held", "holders": [holder]}
        for page, holder in ((0, "reserved:0/write"), (5, "request:1/write"), (6, "request:1/write"))
    ]
    rows = [
        {"row": 0, "generation": 1, "request": 1, "epoch": 1, "entries": [[0, 0, 1], [1, 5, 1], [2, 6, 1]]}
    ]
    history.keyframe(pages, rows)
    history.forward(COMPUTE, use(0, 1, 9, 10))
    history.publish(COMPUTE, 0, 1, [(0, 1), (5, 1), (6, 1)])
    history.forward(COMPUTE, use(0, 1, 10, 11))
    assert [] == told(history)
    mapped(history, history.alloc([7], "request:1"))
    launch = history.forward(COMPUTE, use(0, 1, 11, 12))
    (finding,) = told(history)
    assert ("TR402", launch.seq, 0) == (finding["code"], finding["seq"], finding["resource_id"])


def mapped(history: History, pages: list[Page], row: int = 0, generation: int = 1, first: int = 0) -> None:
    """The host means these entries to name these pages."""
    listed = [list(page) for page in pages]
    history.event("map", row=row, generation=generation, index=first, pages=listed)


def test_what_is_published_otherwise_than_it_was_mapped(history: History, told: Read) -> None:
    """The row's own pages, each in the other's entry: nobody else is met, and the sequence is not its own."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    mapped(history, pages)
    publish = history.publish(COMPUTE, 0, 1, pages[::-1])
    launch = history.forward(COMPUTE, use(0, 1, 0, 8))
    (finding,) = told(history)
    assert ("TR402", launch.seq, 6) == (finding["code"], finding["seq"], finding["resource_id"])
    assert finding["sentence"] == (
        f"launch {launch.launch} (forward) on compute follows entry 0 of row 0 for request 1, in which page "
        f"6.1 stands; the host had mapped page 5.1 there, at event {publish.seq - 1}, and "
        f"launch {publish.launch} (copy_row) on compute published another"
    )


def test_a_page_in_two_entries(history: History, told: Read) -> None:
    """The second entry's positions overwrite the first one's."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    mapped(history, pages)
    history.publish(COMPUTE, 0, 1, [pages[0], pages[0]])
    history.forward(COMPUTE, use(0, 1, 0, 8))
    (finding,) = told(history)
    assert "follows entry 1 of row 0 for request 1, in which page 5.1 stands" in finding["sentence"]


def test_a_publish_that_was_forgotten(history: History, told: Read) -> None:
    """What the former tenant left stands there: the cause is not who holds that page."""
    former = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    mapped(history, former)
    history.publish(COMPUTE, 0, 1, former)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    history.release(0, 1, 1)
    history.give_back(former, "request:1")
    pages = history.alloc([7], "request:2")
    history.acquire(0, 2, 2)
    mapped(history, pages, generation=2)
    history.publish(COMPUTE, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 0, 4))
    grown = history.alloc([8], "request:2")
    mapped(history, grown, generation=2, first=1)
    launch = history.forward(COMPUTE, use(0, 2, 4, 5))
    (finding,) = told(history)
    assert ("TR402", launch.seq) == (finding["code"], finding["seq"])
    assert (
        f"in which page 6.1 stands; the host had mapped page 8.1 there, at event {launch.seq - 1}, and "
        "nothing was published in the entry since"
    ) in finding["sentence"]


def test_what_is_mapped_anew_may_be_followed_until_it_is_published(history: History, told: Read) -> None:
    """Copy on write: the step in flight still follows the page that the entry had named, and holds it."""
    shared = history.alloc([5], "request:9")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.hold(shared, "request:1")
    history.acquire(0, 1, 1)
    mapped(history, shared)
    history.publish(COMPUTE, 0, 1, shared)
    history.forward(COMPUTE, use(0, 1, 4, 4, walked=1))
    own = history.alloc([6], "request:1")
    history.copy(COMPUTE, [[5, 1, 0, 4]], [[6, 1, 0, 4]])
    mapped(history, own)
    history.forward(COMPUTE, use(0, 1, 4, 4, walked=1))
    history.publish(COMPUTE, 0, 1, own)
    history.forward(COMPUTE, use(0, 1, 3, 4))
    assert [] == told(history)
