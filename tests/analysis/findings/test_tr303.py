"""TR303, torn-copy: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched, Page

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


class Tail:
    """A cached tail of which three positions are copied to the next page by a transaction of two steps."""

    def __init__(self, history: History, page: int = 5) -> None:
        self.history = history
        self.number = page + 2
        self.holders = (f"prefix:{page - 4}", f"transfer:{self.number}")
        self.source = history.alloc([page], self.holders[0])
        history.forward(COMPUTE, writes=[[page, 1, 0, 3]])
        self.target = history.alloc([page + 1], "request:2")
        history.hold(self.source, self.holders[1])
        history.hold(self.target, self.holders[1])
        history.order(COMPUTE, TRANSFER)
        self.extents = {"source": [[page, 1, 0, 3]], "target": [[page + 1, 1, 0, 3]]}
        self.plan = history.event("copy_plan", transaction=self.number, **self.extents, positions=3)

    def copy(self, end: int = 3) -> Launched:
        """The copy on the transfer stream."""
        source, target = ([[*extent[:3], end] for extent in extents] for extents in self.extents.values())
        return self.history.copy(TRANSFER, source, target)

    def learn(self) -> None:
        """The host sees a fence behind the copy pass, and compute may use it."""
        self.history.passed(self.history.record(TRANSFER))

    def unpin(self) -> None:
        """The source is no longer held for the copy."""
        self.history.drop(self.source, self.holders[1], "read")

    def done(self) -> int:
        """The transaction is over, and its pins are gone."""
        seq = self.history.event("copy_done", transaction=self.number, **self.extents)
        self.unpin()
        self.history.drop(self.target, self.holders[1], "read")
        return seq

    def uncached(self) -> int:
        """The cache gives the source up."""
        return self.history.drop(self.source, self.holders[0])

    def evict(self) -> int:
        """The cache gives the source up: nobody holds it then. Returns the drop."""
        seq = self.uncached()
        self.history.free(self.source)
        return seq


def granted_again(history: History, page: int = 5) -> list[Page]:
    """The page in its second life, written on compute."""
    pages = history.alloc([page], "request:3")
    history.forward(COMPUTE, writes=[[*pages[0], 0, 4]])
    return pages


def test_a_source_that_is_unpinned_before_its_copy_has_executed(history: History, told: Read) -> None:
    """The pins go with the first of two steps; the cache gives the page up, another request gets it."""
    tail = Tail(history)
    copy = tail.copy()
    tail.unpin()
    dropped = tail.evict()
    granted_again(history)
    first, *others = told(history)
    assert {
        "code": "TR303",
        "name": "torn-copy",
        "seq": dropped,
        "class": "content",
        "confidence": "proven",
        "sentence": (
            f"nobody holds page 5.1 any more, while launch {copy.launch} (copy_pages) on transfer of "
            "transaction 7 may still copy it to page 6.1: the host has seen no fence behind the copy pass; "
            f"it is granted again as page 5.2 to request:3, and launch {copy.launch + 1} (forward) on "
            "compute writes it, which nothing orders after the copy"
        ),
        "resource_kind": "page",
        "resource_id": 5,
        "life": 1,
        "launch": copy.launch,
        "other_seq": tail.plan,
    }.items() <= first.items()
    assert ["TR202"] == [finding["code"] for finding in others]


def test_a_copy_that_is_called_done_too_early(history: History, told: Read) -> None:
    """Nothing told the host that it had executed."""
    tail = Tail(history)
    tail.copy()
    tail.done()
    dropped = tail.evict()
    granted_again(history)
    assert ("TR303", dropped) == next((finding["code"], finding["seq"]) for finding in told(history))


def test_a_copy_over_two_steps_is_sound(history: History, told: Read) -> None:
    """Pinned until its fence has passed; then the cache may give the page up, and another have it."""
    tail = Tail(history)
    tail.copy()
    history.forward(COMPUTE, phase="decode")
    tail.learn()
    tail.done()
    tail.evict()
    granted_again(history)
    assert [] == told(history)


def test_an_eviction_under_a_pin_is_sound(history: History, told: Read) -> None:
    """The cache gives the page up at once; the transfer holds it until it is done."""
    tail = Tail(history)
    tail.copy()
    tail.uncached()
    tail.learn()
    tail.done()
    history.free(tail.source)
    granted_again(history)
    assert [] == told(history)


FOLLOWED = {
    # What comes after a source was let go too early, and whether that tears the copy.
    "nothing": False,
    "granted": False,
    "read": False,
    "other page": False,
    "beside": False,
    "waited": False,
    "waited later": True,
    "learnt": False,
    "learnt later": True,
    "written": True,
    "cleared": True,
    "written in the third life": True,
}


@pytest.mark.parametrize("reason", ["request", "exit"])
def test_what_counts_is_who_gets_the_source_and_not_what_else_follows(
    history: History, told: Read, reason: str
) -> None:
    """Let go before the host knows of the copy, and then: only a writer that comes in no order breaks it.

    A process may also end in good order, with or without having given the page to anybody.
    """
    history.header["reason"] = reason
    torn = []
    for place, (what, broken) in enumerate(FOLLOWED.items()):
        tail = Tail(history, page := 5 + 2 * place)
        copy = tail.copy()
        tail.unpin()
        dropped = tail.evict()
        if what == "waited":
            history.order(TRANSFER, COMPUTE)
        if what == "learnt":
            tail.learn()
        if what not in ("nothing", "other page"):
            pages = history.alloc([page], "request:3")
            life = 2
            if what == "written in the third life":
                history.give_back(pages, "request:3")
                ((_, life),) = history.alloc([page], "request:4")
            extent = [page, life, 3 if what == "beside" else 0, 4]
            if what == "read":
                history.forward(COMPUTE, reads=[extent])
            elif what == "cleared":
                history.clear(COMPUTE, [extent])
            elif what != "granted":
                history.forward(COMPUTE, writes=[extent])
        if what == "other page":
            history.forward(COMPUTE, writes=[[*history.alloc([30], "request:9")[0], 0, 4]])
        # So that what comes next is in order with the earlier copies, which it isn't to be judged by.
        if what == "waited later":
            history.order(TRANSFER, COMPUTE)
        else:
            tail.learn()
        if broken:
            torn.append((dropped, copy.launch, page))
    assert torn == [
        (one["seq"], one["launch"], one["resource_id"]) for one in told(history) if one["code"] == "TR303"
    ]


def test_a_fence_that_does_not_cover_the_copy_guards_nothing(history: History, told: Read) -> None:
    """The page waits for a fence and is granted again when that has passed: it must come behind the copy."""
    torn: list[int] = []
    for place, covers in enumerate((True, False)):
        tail = Tail(history, page := 5 + 2 * place)
        older = history.record(TRANSFER)
        tail.copy()
        fence = history.record(TRANSFER) if covers else older
        tail.unpin()
        dropped = tail.uncached()
        history.retire(tail.source, fence)
        assert torn == [one["seq"] for one in told(history) if one["code"] == "TR303"]
        history.passed(fence)
        history.free(tail.source)
        granted_again(history, page)
        if not covers:
            torn.append(dropped)
    assert torn == [one["seq"] for one in told(history) if one["code"] == "TR303"]


def test_a_source_that_changes_under_its_copy(history: History, told: Read) -> None:
    """Its owner writes a planned position, and nothing orders that behind the copy."""
    tail = Tail(history)
    copy = tail.copy()
    writer = history.forward(COMPUTE, writes=[[5, 1, 2, 4]])
    assert [("TR101", writer.seq), ("TR303", writer.seq)] == [
        (finding["code"], finding["seq"]) for finding in told(history)
    ]
    assert copy.launch == told(history)[1]["other_launch"]


@pytest.mark.parametrize("first", [2, 3])
def test_a_source_that_changes_in_order_is_sound(history: History, told: Read, first: int) -> None:
    """Behind the copy everything may change; a position that isn't planned may at any time."""
    tail = Tail(history)
    tail.copy()
    if first < 3:
        history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, writes=[[5, 1, first, 4]])
    tail.learn()
    tail.done()
    assert [] == told(history)


def test_a_copy_that_stops_short(history: History, told: Read) -> None:
    """It is called done with two of three positions."""
    tail = Tail(history)
    tail.copy(end=2)
    tail.learn()
    done = tail.done()
    (finding,) = told(history)
    assert ("TR303", done, 6, 1) == (
        finding["code"],
        finding["seq"],
        finding["resource_id"],
        finding["life"],
    )
    assert (
        "the copy of transaction 7 to page 6.1 is called done with 2 of 3 positions copied"
        == finding["sentence"]
    )


def test_a_copy_in_two_pieces_is_sound(history: History, told: Read) -> None:
    """Each step copies some positions."""
    tail = Tail(history)
    tail.copy(end=2)
    history.copy(TRANSFER, [[5, 1, 2, 3]], [[6, 1, 2, 3]])
    tail.learn()
    tail.done()
    assert [] == told(history)


def test_a_history_that_ends_before_the_copy_is_done_is_sound(history: History, told: Read) -> None:
    """What comes next isn't known."""
    tail = Tail(history)
    tail.copy(end=2)
    assert [] == told(history)


def test_a_copy_without_a_plan_may_let_go_at_once(history: History, told: Read) -> None:
    """A fork on one stream: what writes the page next comes behind the copy."""
    source = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 3]])
    history.alloc([6], "request:2")
    history.copy(COMPUTE, [[5, 1, 0, 3]], [[6, 1, 0, 3]])
    history.give_back(source, "request:1")
    granted_again(history)
    assert [] == told(history)


def codes(found: list[dict[str, Any]]) -> list[str]:
    """Of the findings, in their order."""
    return [finding["code"] for finding in found]


@pytest.mark.parametrize("again", [True, False])
def test_a_copy_on_the_stream_that_uses_both_pages_needs_no_pin(
    history: History, told: Read, again: bool
) -> None:
    """Whatever comes next comes behind it; a stream that did not wait does not."""
    tail = Tail(history)
    history.copy(COMPUTE, [[5, 1, 0, 3]], [[6, 1, 0, 3]])
    tail.unpin()
    tail.evict()
    assert [] == told(history)
    granted_again(history)
    history.forward(COMPUTE, reads=[[6, 1, 0, 3]])
    assert [] == told(history)
    if again:
        history.give_back([(5, 2)], "request:3")
        history.alloc([5], "request:4")
        history.forward(TRANSFER, writes=[[5, 3, 0, 4]])
        assert "TR303" == codes(told(history))[0]


def test_a_source_that_is_written_anew_before_its_copy_is_launched(history: History, told: Read) -> None:
    """On one stream: what is ordered before the copy is what it reads."""
    tail = Tail(history)
    tail.unpin()
    dropped = tail.evict()
    granted_again(history)
    history.order(COMPUTE, TRANSFER)
    tail.copy()
    assert dropped in [one["seq"] for one in told(history) if one["code"] == "TR303"]


@pytest.mark.parametrize(("first", "end", "broken"), [(0, 2, False), (1, 3, True)])
def test_positions_whose_piece_has_executed_may_change(
    history: History, told: Read, first: int, end: int, broken: bool
) -> None:
    """Two pieces on two streams; what the first copied is written anew before the second is launched."""
    tail = Tail(history)
    tail.copy(end=2)
    history.order(TRANSFER, COMPUTE)
    writer = history.forward(COMPUTE, writes=[[5, 1, first, end]])
    history.copy(COMPUTE, [[5, 1, 2, 3]], [[6, 1, 2, 3]])
    history.sync()
    tail.done()
    assert ([("TR303", writer.seq)] if broken else []) == [
        (finding["code"], finding["seq"]) for finding in told(history)
    ]


def test_a_kernel_that_copies_carries_a_plan_out(history: History, told: Read) -> None:
    """It reads the source and writes the target, position by position."""
    tail = Tail(history)
    history.forward(TRANSFER, kernel="gather", reads=[[5, 1, 0, 3]], writes=[[6, 1, 0, 3]])
    tail.learn()
    tail.done()
    tail.evict()
    granted_again(history)
    assert [] == told(history)


def test_a_plan_that_is_given_up_is_sound(history: History, told: Read) -> None:
    """Nothing was copied: the request was aborted, and its pins went."""
    tail = Tail(history)
    tail.unpin()
    history.drop(tail.target, "transfer:7", "read")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    tail.evict()
    granted_again(history)
    assert [] == told(history)


def test_what_stands_there_as_a_copy_is_planned_must_not_change_before_it(
    history: History, told: Read
) -> None:
    """In order before the copy: positions that are appended are copied as they are meant, others torn."""
    tail = Tail(history)
    history.forward(COMPUTE, writes=[[5, 1, 2, 4]])
    history.order(COMPUTE, TRANSFER)
    copy = tail.copy()
    (finding,) = told(history)
    assert copy.launch == finding["other_launch"]
    assert (
        "launch 3 (forward) on compute writes page 5.1 over what transaction 7 had planned to copy to page "
        "6.1, before launch 4 (copy_pages) on transfer copies it"
    ) == finding["sentence"]


STOPPED_SHORT = {
    # What is brought of three positions, and how many of them.
    "from another page": 0,
    "by a staging page that has another's": 1,
    "by a staging page, in part": 2,
    "by the host, in part": 1,
    "from the host tier, of another page": 0,
    "twice": 2,
    "and cleared": 2,
}


def test_a_copy_by_other_ways_that_stops_short(history: History, told: Read) -> None:
    """Each way is followed to where the bytes come from."""
    other = history.alloc([30], "request:9")
    staging = history.alloc([31], "reserved:1")
    history.forward(COMPUTE, writes=[[*other[0], 0, 4]])
    expected = []
    for place, (what, brought) in enumerate(STOPPED_SHORT.items()):
        tail = Tail(history, page := 5 + 2 * place)
        source, target, way = [page, 1], [page + 1, 1], [*staging[0]]
        if what == "from another page":
            history.copy(TRANSFER, [[*other[0], 0, 3]], [[*target, 0, 3]])
        elif what == "by a staging page that has another's":
            history.copy(TRANSFER, [[*source, 0, 1]], [[*way, 0, 1]])
            history.copy(TRANSFER, [[*other[0], 1, 3]], [[*way, 1, 3]])
            history.copy(TRANSFER, [[*way, 0, 3]], [[*target, 0, 3]])
        elif what == "by a staging page, in part":
            history.copy(TRANSFER, [[*source, 0, 3]], [[*way, 1, 4]])
            history.copy(TRANSFER, [[*way, 1, 3]], [[*target, 0, 2]])
        elif what == "by the host, in part":
            history.sync()
            history.host_write([[*target, 2, 3]])
        elif what == "from the host tier, of another page":
            history.moved("offload", TRANSFER, [(0, *other[0])])
            history.moved("load", TRANSFER, [(0, page + 1, 1)])
        else:
            tail.copy(end=2)
            if what == "twice":
                tail.copy(end=2)
            else:
                history.clear(TRANSFER, [[*target, 2, 3]])
        history.sync()
        expected.append(
            (
                tail.done(),
                page + 1,
                f"the copy of transaction {tail.number} to page {page + 1}.1 is called done with {brought} "
                "of 3 positions copied",
            )
        )
    found = [
        (one["seq"], one["resource_id"], one["sentence"]) for one in told(history) if one["code"] == "TR303"
    ]
    assert expected == found


def test_a_source_is_as_torn_where_the_copy_goes_by_a_staging_page(history: History, told: Read) -> None:
    """What counts is the first hop, which reads it: let go before the host knows of that."""
    staging = history.alloc([31], "reserved:1")
    torn = []
    for place, waits in enumerate((True, False)):
        tail = Tail(history, page := 5 + 2 * place)
        copy = history.copy(TRANSFER, [[page, 1, 0, 3]], [[*staging[0], 0, 3]])
        if waits:
            tail.learn()
        history.copy(TRANSFER, [[*staging[0], 0, 3]], [[page + 1, 1, 0, 3]])
        tail.unpin()
        dropped = tail.evict()
        granted_again(history, page)
        tail.learn()
        if not waits:
            torn.append((dropped, copy.launch, page))
    found = [one for one in told(history) if one["code"] == "TR303"]
    assert torn == [(one["seq"], one["launch"], one["resource_id"]) for one in found]


def test_a_release_before_the_copy_says_what_came_before_it(history: History, told: Read) -> None:
    """Granted, and written in order before the copy: nothing is left that a fence could guard."""
    tail = Tail(history)
    tail.unpin()
    tail.evict()
    granted_again(history)
    history.order(COMPUTE, TRANSFER)
    tail.copy()
    assert (
        "nobody holds page 5.1 any more, while launch 4 (copy_pages) on transfer of transaction 7 is still "
        "to copy it to page 6.1; it is granted again as page 5.2 to request:3, and launch 3 (forward) on "
        "compute writes it before the copy"
    ) in [one["sentence"] for one in told(history)]
