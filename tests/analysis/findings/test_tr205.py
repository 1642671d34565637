"""TR205, two-owners: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched, Page, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def test_granted_while_an_earlier_life_is_held(history: History, told: Read) -> None:
    """The page stood on the free list though request 1 had it."""
    history.alloc([5], "request:1")
    history.alloc([5], "request:2")
    (finding,) = told(history)
    assert {
        "code": "TR205",
        "name": "two-owners",
        "seq": 5,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": "page 5.2 is granted to request:2 while request:1 holds page 5.1",
        "resource_kind": "page",
        "resource_id": 5,
        "life": 2,
        "request": 2,
        "launch": None,
        "other_seq": 4,
    }.items() <= finding.items()


def test_granted_after_it_was_given_back_is_sound(history: History, told: Read) -> None:
    """One owner after the other."""
    history.give_back(history.alloc([5], "request:1"), "request:1")
    history.alloc([5], "request:2")
    assert [] == told(history)


def test_two_hold_for_writing(history: History, told: Read) -> None:
    """The second hold is the finding."""
    pages = history.alloc([5], "request:1")
    second = history.hold(pages, "request:2", "write")
    assert [(second, "request:2 holds page 5.1 for writing, and so does request:1", 2)] == [
        (found["seq"], found["sentence"], found["request"]) for found in told(history)
    ]


def test_handing_a_page_over_is_sound(history: History, told: Read) -> None:
    """The first holder gives back before the next takes it for writing; readers may stay."""
    pages = history.alloc([5], "request:1")
    history.hold(pages, "checkpoint:1")
    history.drop(pages, "request:1")
    history.hold(pages, "request:2", "write")
    assert [] == told(history)


@pytest.mark.parametrize("what", ["launch", "copy", "host"])
def test_a_page_is_used_while_it_is_handed_over(history: History, told: Read, what: str) -> None:
    """Something runs while both hold the page for writing; a publish and a map would not have touched any."""
    pages = history.alloc([5, 6], "request:1")
    history.fill(COMPUTE, pages)
    second = history.hold(pages[:1], "request:2", "write")
    if what == "launch":
        history.fill(COMPUTE, pages[1:])
    elif what == "copy":
        history.copy(COMPUTE, [[6, 1, 0, 4]], [[5, 1, 0, 4]])
    else:
        history.sync()
        history.host_write([[6, 1, 0, 4]])
    history.drop(pages[:1], "request:1")
    history.hold(pages[:1], "request:3", "write")
    history.acquire(0, 1, 3)
    history.publish(COMPUTE, 0, 1, pages[:1])
    history.drop(pages[:1], "request:2")
    assert [("TR205", second)] == [(found["code"], found["seq"]) for found in told(history)]


@pytest.mark.parametrize("holder", ["request:1", "prefix:1"])
def test_a_holder_that_goes_behind_the_grant(history: History, told: Read, holder: str) -> None:
    """A request's page was never to be granted; a cache's may be, if it lets go before anything runs."""
    pages = history.alloc([5], holder)
    granted = history.seq + 1
    history.alloc([5], "request:2")
    if holder == "prefix:1":
        history.clear(COMPUTE, [[5, 2, 0, 4]])
    history.drop(pages, holder)
    assert [("TR205", granted)] == [(found["code"], found["seq"]) for found in told(history)]


@pytest.mark.parametrize("how", ["load", "copy", "external", "host"])
def test_something_else_is_brought_into_a_shared_page(history: History, told: Read, how: str) -> None:
    """Who brings it took the target for a page of its own."""
    pages, other = history.alloc([5], "request:1"), history.alloc([6], "request:1")
    writer = history.fill(COMPUTE, pages + other)
    history.sync()
    for page, node in ((pages, 1), (other, 2)):
        history.hold(page, f"prefix:{node}")
        history.event("insert", node=node, digest=f"a{node}", identity=1, pages=[list(page[0])], positions=3)
    history.hold(pages, "request:2")
    history.drop(pages, "request:1")
    history.moved("offload", COMPUTE, [(0, 6, 1)])
    if how == "load":
        by = f"launch {history.moved('load', COMPUTE, [(0, 5, 1)]).launch} (load_pages) on compute"
    elif how == "copy":
        by = f"launch {history.copy(COMPUTE, [[6, 1, 0, 4]], [[5, 1, 0, 4]]).launch} (copy_pages) on compute"
    elif how == "external":
        history.end("nic", history.begin("nic", writes=[[5, 1, 0, 4]]))
        by = "transaction 1 of external:nic"
    else:
        history.host_write([[5, 1, 0, 4]])
        by = "the host"
    (finding,) = told(history)
    assert {
        "code": "TR205",
        "confidence": "proven",
        "sentence": (
            f"{by} writes positions 0 to 2 of page 5.1, which is cached and which nobody holds for writing, "
            f"over what launch {writer.launch} (forward) on compute put there; request:2 holds it for reading"
        ),
        "resource_id": 5,
        "life": 1,
        "request": None,
        "other_seq": writer.seq,
    }.items() <= finding.items()


def test_readers_are_no_matter(history: History, told: Read) -> None:
    """A prefix and its readers, beside the request that goes on behind them."""
    pages = history.alloc([5], "request:1")
    history.hold(pages, "prefix:1")
    history.hold(pages, "request:2")
    assert [] == told(history)


def test_aliases_of_snapshots_are_sound(history: History, told: Read) -> None:
    """The first alias took the page for writing, a later one shares it."""
    pages = history.alloc([5], "snapshot:1")
    history.hold(pages, "snapshot:2")
    history.drop(pages, "snapshot:1")
    assert [] == told(history)


def test_a_transfer_pins_what_others_write(history: History, told: Read) -> None:
    """It moves bytes in the name of the page's owner."""
    pages = history.alloc([5], "request:1")
    history.hold(pages, "transfer:1", "write")
    assert [] == told(history)


def shared(history: History, mode: str) -> None:
    """Request 2 has a page of the prefix, and a row that names it."""
    pages = history.alloc([5], "request:1")
    history.fill(COMPUTE, pages)
    history.hold(pages, "prefix:1")
    history.drop(pages, "request:1")
    history.hold(pages, "request:2", mode)
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)


def test_a_request_writes_what_it_may_only_read(history: History, told: Read) -> None:
    """The tail of a shared page was not copied before the request went on in it."""
    shared(history, "read")
    history.forward(COMPUTE, use(0, 1, 3, 3))
    launch = history.forward(COMPUTE, use(0, 1, 3, 4))
    history.forward(COMPUTE, use(0, 1, 3, 4))
    (finding,) = told(history)
    assert {
        "code": "TR205",
        "seq": launch.seq,
        "launch": launch.launch,
        "stream": COMPUTE,
        "row": 0,
        "request": 2,
        "sentence": (
            f"launch {launch.launch} (forward) on compute writes page 5.1 for request:2, which holds it for "
            "reading only; prefix:1 holds it, too"
        ),
    }.items() <= finding.items()


def test_a_request_writes_its_own_page_is_sound(history: History, told: Read) -> None:
    """Though the prefix holds it for reading."""
    shared(history, "write")
    history.forward(COMPUTE, use(0, 1, 3, 4))
    assert [] == told(history)


def test_holding_for_writing_later_is_sound(history: History, told: Read) -> None:
    """First it read, then it took the page over and wrote."""
    shared(history, "read")
    pages: list[Page] = [(5, 1)]
    history.forward(COMPUTE, use(0, 1, 3, 3))
    history.drop(pages, "prefix:1", "read")
    history.drop(pages, "request:2", "read")
    history.event("alloc", page=5, life=2, holder="request:2", pool=0)
    history.publish(COMPUTE, 0, 1, [(5, 2)])
    history.forward(COMPUTE, use(0, 1, 3, 4))
    assert [] == [found for found in told(history) if found["code"] == "TR205"]


@pytest.mark.parametrize("order", ["read", "write", "unnamed"])
def test_a_pin_beside_the_own_hold_is_sound(history: History, told: Read, order: str) -> None:
    """What is given back is the hold that the drop names; one that names none is the older one."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    pin = history.hold(pages, "request:1", "read")
    if order == "unnamed":
        history.event("drop", page=5, life=1, holder="request:1")
    else:
        history.drop(pages, "request:1", order)
    launch = history.forward(COMPUTE, use(0, 1, 0, 4))
    found = [] if order == "read" else [("TR205", launch.seq)]
    assert found == [(one["code"], one["seq"]) for one in told(history)]
    assert pin < launch.seq


def test_a_hold_that_is_raised_to_write(history: History, told: Read) -> None:
    """It reads, takes the page for writing beside that, and gives the first hold back before it writes."""
    shared(history, "read")
    pages: list[Page] = [(5, 1)]
    history.drop(pages, "prefix:1", "read")
    history.hold(pages, "request:2", "write")
    history.drop(pages, "request:2", "read")
    history.forward(COMPUTE, use(0, 1, 3, 4))
    history.hold(pages, "request:2", "read")
    history.give_back(pages, "request:2")
    late = history.forward(COMPUTE, use(0, 1, 4, 4, walked=1))
    assert [("TR203", late.seq - 1), ("TR201", late.seq)] == [
        (one["code"], one["seq"]) for one in told(history)
    ][:2]


def test_holders_from_before_the_history_are_unknown(told: Read) -> None:
    """A keyframe tells of them; without one, a grant proves nothing."""
    history = History(first_seq=50)
    history.event("alloc", page=5, life=7, holder="request:2", pool=0)
    assert [] == told(history)


def test_a_keyframe_knows_the_holders(told: Read) -> None:
    """The page is held there, and granted behind it."""
    history = History(first_seq=50)
    history.keyframe([{"page": 5, "life": 6, "state": "held", "holders": ["request:1/write"]}])
    granted = history.event("alloc", page=5, life=7, holder="request:2", pool=0)
    assert [("TR205", granted)] == [(found["code"], found["seq"]) for found in told(history)]


def test_suspected_where_events_are_missing(history: History, told: Read) -> None:
    """The drop may be among them."""
    history.alloc([5], "request:1")
    history.alloc([5], "request:2")
    history.header["ring"] |= {"torn": 1}
    assert ["suspected"] == [found["confidence"] for found in told(history)]


def stored(history: History, pages: list[Page], snapshot: int = 3) -> Launched:
    """The state rows of a snapshot go to the first positions of a page, whose bytes they borrow."""
    (page,) = pages
    history.event("snapshot_alias", snapshot=snapshot, ranges=[[page[0], 0, 64]], pages=[list(page)])
    launch = history.forward(
        COMPUTE, kernel="store_row", phase="snapshot", writes=[[*page, 0, 2]], **{"class": "rows"}
    )
    history.event(
        "snapshot_save", snapshot=snapshot, request=9, launch=launch.launch, positions=4,
        ranges=[[page[0], 0, 64]], pages=[],
    )  # fmt: skip
    return launch


def test_state_rows_in_a_page_that_a_request_holds(history: History, told: Read) -> None:
    """The snapshot took the bytes for its own, and nobody asked whether the page is free."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    writer = history.forward(COMPUTE, use(0, 1, 0, 4))
    store = stored(history, pages)
    (finding,) = (one for one in told(history) if one["code"] == "TR205")
    assert {
        "seq": store.seq,
        "confidence": "proven",
        "sentence": (
            f"launch {store.launch} (store_row) on compute stores state rows of snapshot 3 in page 5.1, "
            f"which request:1 holds for writing, over keys and values that launch {writer.launch} (forward) "
            "on compute put there"
        ),
        "resource_id": 5,
        "life": 1,
        "request": 1,
        "launch": store.launch,
        "other_seq": writer.seq,
    }.items() <= finding.items()


def test_state_rows_in_a_page_of_a_prefix(history: History, told: Read) -> None:
    """Its keys and values lie elsewhere in the page; the snapshot holds the page, and so does the prefix."""
    history.fill(COMPUTE, history.alloc([4], "request:1"))
    pages = history.alloc([5], "prefix:1")
    history.copy(COMPUTE, [[4, 1, 0, 1]], [[5, 1, 3, 4]])
    history.hold(pages, "snapshot:3")
    store = stored(history, pages)
    (finding,) = (one for one in told(history) if one["code"] == "TR205")
    assert (store.seq, None) == (finding["seq"], finding["request"])
    assert finding["sentence"].endswith("of snapshot 3 in page 5.1, which prefix:1 holds for writing")


@pytest.mark.parametrize("tier", [False, True])
def test_state_rows_over_what_was_brought(history: History, told: Read, tier: bool) -> None:
    """Keys and values came by two copies, or from the host tier; what was copied beside them is rows."""
    kept = history.alloc([4, 5], "request:1")
    history.fill(COMPUTE, kept[:1])
    if tier:
        history.moved("offload", COMPUTE, [(0, 4, 1)])
        brought = history.moved("load", COMPUTE, [(0, 5, 1)])
    else:
        history.alloc([6], "request:1")
        history.copy(COMPUTE, [[4, 1, 1, 4]], [[6, 1, 0, 3]])
        brought = history.copy(COMPUTE, [[6, 1, 1, 2]], [[5, 1, 0, 1]])
    state = history.alloc([7, 8], "request:1")
    rows = {"kernel": "scan", "class": "rows"}
    history.forward(COMPUTE, writes=[[*state[0], 0, 1]], **rows)
    history.copy(COMPUTE, [[*state[0], 0, 1]], [[*state[1], 0, 1]])
    history.forward(COMPUTE, writes=[[*state[1], 0, 1]], **rows)
    store = history.forward(COMPUTE, writes=[[*kept[1], 0, 1]], **rows)
    (finding,) = told(history)
    assert ("TR205", store.seq, brought.seq, 5) == tuple(
        finding[name] for name in ("code", "seq", "other_seq", "resource_id")
    )


def test_state_rows_where_nobody_else_is_are_sound(history: History, told: Read) -> None:
    """Two snapshots on a page of their own; a page that went back before; a request's own page of rows."""
    shared = history.alloc([5], "snapshot:3")
    stored(history, shared)
    history.hold(shared, "snapshot:4")
    stored(history, shared, 4)
    former = history.alloc([6], "request:1")
    history.copy(COMPUTE, [[5, 1, 0, 1]], [[6, 1, 3, 4]])
    history.give_back(former, "request:1")
    stored(history, history.alloc([6], "snapshot:5"), 5)
    history.alloc([7], "request:2")
    history.forward(COMPUTE, writes=[[7, 1, 0, 4]], **{"class": "rows"})
    history.forward(COMPUTE, reads=[[7, 1, 0, 4]], **{"class": "rows"})
    assert [] == told(history)
