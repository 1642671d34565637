"""TR502, hit-before-write: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched, Page, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def row(history: History, number: int, request: int, pages: list[Page]) -> None:
    """The request's row names the pages, for good."""
    history.acquire(number, 1, request)
    history.publish(COMPUTE, number, 1, pages)
    history.sync()


def hit(history: History, tokens: int = 4) -> None:
    """Request 2 hits page 5, and has a row that names it and a page of its own."""
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=[[5, 1]])
    history.event(
        "match",
        request=2,
        node=1,
        digest="a" * 16,
        identity=7,
        hit_tokens=tokens,
        pages=[[5, 1]],
        lookup_ns=1,
    )
    history.hold([(5, 1)], "request:2")
    row(history, 1, 2, [(5, 1), *history.alloc([6], "request:2")])


def written(history: History, stream: int) -> Launched:
    """Request 1 writes its page through its row."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    return history.forward(stream, use(0, 1, 0, 4))


def test_a_hit_that_no_fence_orders_behind_its_write(history: History, told: Read) -> None:
    """Written on the one stream, read on the other."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=[[5, 1]])
    hit(history)
    writer = history.forward(TRANSFER, use(0, 1, 0, 4))
    reader = history.forward(COMPUTE, use(1, 1, 4, 5))
    found = told(history)
    assert {
        "code": "TR502",
        "name": "hit-before-write",
        "seq": reader.seq,
        "class": "order",
        "confidence": "proven",
        "resource_kind": "page",
        "resource_id": 5,
        "life": 1,
        "row": 1,
        "request": 2,
        "launch": reader.launch,
        "other_launch": writer.launch,
        "other_stream": TRANSFER,
    }.items() <= found[0].items()
    assert found[0]["sentence"].endswith(
        f"and nothing orders it after launch {writer.launch} (forward) on transfer, which writes it"
    )
    assert ["TR502", "TR101"] == [one["code"] for one in found]


@pytest.mark.parametrize("how", ["stream", "fence", "host"])
def test_a_hit_behind_its_write_is_sound(history: History, told: Read, how: str) -> None:
    """On one stream, behind a fence, or once the host knows."""
    writer = written(history, COMPUTE if how == "stream" else TRANSFER)
    if how == "fence":
        history.order(TRANSFER, COMPUTE)
    if how == "host":
        history.sync(writer.stream)
    hit(history)
    history.forward(COMPUTE, use(1, 1, 4, 5))
    assert [] == told(history)


def test_a_hit_of_what_is_written_later(history: History, told: Read) -> None:
    """Offered when it was granted, and read first: the order is there, and it is the wrong one."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    hit(history)
    reader = history.forward(COMPUTE, use(1, 1, 4, 5))
    history.forward(COMPUTE, use(0, 1, 0, 4))
    found = [one for one in told(history) if one["code"] == "TR502"]
    assert [(reader.seq, None)] == [(one["seq"], one["other_launch"]) for one in found]
    assert found[0]["sentence"].endswith("and no launch has written it")


def test_positions_that_were_not_hit_are_no_matter(history: History, told: Read) -> None:
    """The page's end is written while its front is copied."""
    history.alloc([5], "request:1")
    history.forward(TRANSFER, writes=[[5, 1, 0, 2]])
    history.sync()
    hit(history, tokens=2)
    history.forward(TRANSFER, writes=[[5, 1, 2, 4]])
    history.copy(COMPUTE, [[5, 1, 0, 2]], [[6, 1, 0, 2]])
    assert [] == told(history)


def test_a_copy_of_a_tail_without_order(history: History, told: Read) -> None:
    """Nothing orders the copy behind the forward that filled the page."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    hit(history, tokens=2)
    writer = history.forward(TRANSFER, use(0, 1, 0, 4))
    copy = history.copy(COMPUTE, [[5, 1, 0, 2]], [[6, 1, 0, 2]])
    found = told(history)
    assert [("TR502", copy.seq, writer.launch)] == [
        (one["code"], one["seq"], one["other_launch"]) for one in found[:1]
    ]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_tail_is_copied_while_its_owner_goes_on(history: History, told: Read, ordered: bool) -> None:
    """What counts is the launch that wrote what is read, and not the last one of its row."""
    pages = history.alloc([5], "request:1")
    row(history, 0, 1, pages)
    hit(history, tokens=2)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    history.order(COMPUTE, TRANSFER)
    writer = history.forward(COMPUTE, use(0, 1, 1, 2))
    if ordered:
        history.order(COMPUTE, TRANSFER)
    history.forward(COMPUTE, use(0, 1, 2, 3))
    copy = history.copy(TRANSFER, [[5, 1, 0, 2]], [[6, 1, 0, 2]])
    history.forward(COMPUTE, use(0, 1, 3, 4))
    found = [(one["seq"], one["other_launch"]) for one in told(history) if one["code"] == "TR502"]
    assert ([] if ordered else [(copy.seq, writer.launch)]) == found


def test_a_page_loaded_from_the_host_counts_as_written(history: History, told: Read) -> None:
    """Its load is the write, and must be ordered like any other."""
    history.alloc([5], "request:1")
    load = history.moved("load", TRANSFER, [(0, 5, 1)])
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=[[5, 1]])
    history.event(
        "match",
        request=2,
        node=1,
        digest="a" * 16,
        identity=7,
        hit_tokens=4,
        pages=[[5, 1]],
        lookup_ns=1,
    )
    history.hold([(5, 1)], "request:2")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, [(5, 1), *history.alloc([6], "request:2")])
    reader = history.forward(COMPUTE, use(1, 1, 4, 5))
    assert [("TR502", reader.seq, load.launch)] == [
        (one["code"], one["seq"], one["other_launch"]) for one in told(history)[:1]
    ]


def offered(history: History, computed: int, *, again: bool = False) -> Launched:
    """Prefix 1 is given 3 positions, of which request 1 had computed so many; request 2 copies them."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    history.forward(COMPUTE, use(0, 1, 0, computed))
    if again:
        history.forward(COMPUTE, use(0, 1, computed, 3))
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=[[5, 1]], positions=3)
    history.event(
        "match", request=2, node=0, digest="b" * 16, identity=7, hit_tokens=3, pages=[[5, 1]], lookup_ns=1
    )
    history.hold([(5, 1)], "request:2")
    return history.copy(COMPUTE, [[5, 1, 0, 3]], [[*history.alloc([6], "request:2")[0], 0, 3]])


def test_more_positions_are_offered_than_were_computed(history: History, told: Read) -> None:
    """The last of three is what the page had before: the copy takes it for a token's keys and values."""
    copy = offered(history, 2)
    history.forward(COMPUTE, use(0, 1, 2, 3))
    (finding,) = (one for one in told(history) if one["code"] == "TR502")
    assert ("proven", copy.seq, 5, 2, copy.launch, None) == tuple(
        finding[name] for name in ("confidence", "seq", "resource_id", "request", "launch", "other_launch")
    )
    assert finding["sentence"].endswith(
        "no launch has written position 2 of it; prefix 1 was given 3 of its positions at event "
        f"{next(event['seq'] for event in history.events if event['kind'] == 'insert')}"
    )


@pytest.mark.parametrize("how", ["at once", "in two steps", "by two", "by the host"])
def test_all_that_is_offered_was_computed(history: History, told: Read, how: str) -> None:
    """Whoever wrote which part of it, and on which way."""
    if how == "by two":
        pages = history.alloc([5], "request:1")
        history.forward(COMPUTE, writes=[[5, 1, 2, 4]])
        row(history, 0, 1, pages)
        history.forward(COMPUTE, use(0, 1, 0, 2))
        hit(history, tokens=4)
        history.forward(COMPUTE, use(1, 1, 4, 5))
    elif how == "by the host":
        pages = history.alloc([5], "request:1")
        history.host_write([[5, 1, 2, 4]])
        history.host_write([[5, 1, 0, 2]])
        hit(history, tokens=4)
        history.forward(COMPUTE, use(1, 1, 4, 5))
    else:
        offered(history, *((3,) if how == "at once" else (2,)), again=how != "at once")
    assert [] == told(history)


def test_a_clear_computes_nothing(history: History, told: Read) -> None:
    """Zeros are no token's keys and values."""
    history.alloc([5], "request:1")
    history.clear(COMPUTE, [[5, 1, 0, 4]])
    history.forward(COMPUTE, writes=[[5, 1, 0, 1]])
    hit(history)
    reader = history.forward(COMPUTE, use(1, 1, 4, 5))
    (finding,) = (one for one in told(history) if one["code"] == "TR502")
    assert (reader.seq, True) == (
        finding["seq"],
        finding["sentence"].endswith("no launch has written positions 1 to 3 of it"),
    )


def test_a_page_from_before_the_history_is_unknown(told: Read) -> None:
    """Its write may lie there."""
    history = History(first_seq=50)
    history.keyframe([{"page": 5, "life": 1, "state": "held", "holders": ["prefix:1/read"]}])
    hit(history)
    history.forward(COMPUTE, use(1, 1, 4, 5))
    assert [] == told(history)


def test_suspected_where_events_are_missing(history: History, told: Read) -> None:
    """The fence may be among them."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    hit(history)
    history.forward(TRANSFER, use(0, 1, 0, 4))
    history.forward(COMPUTE, use(1, 1, 4, 5))
    history.header["ring"] |= {"torn": 1}
    assert "suspected" == told(history)[0]["confidence"]


def test_a_prefix_that_is_computed_in_the_launch_that_reads_it_is_sound(history: History, told: Read) -> None:
    """Two requests of one batch share it: what all rows compute is stored before one of them is read."""
    row(history, 0, 1, history.alloc([5], "request:1"))
    hit(history)
    history.forward(COMPUTE, use(0, 1, 0, 4), use(1, 1, 4, 5))
    assert told(history) == []
