"""TR101, unordered-access: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER, OTHER = 1, 2, 3


def test_a_copy_out_of_a_page_that_is_being_written(history: History, told: Read) -> None:
    """The transfer stream reads positions that compute writes, with no fence between."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 0, 3))
    target = history.alloc([6], "transfer:1")
    history.sync(TRANSFER)
    copy = history.copy(TRANSFER, [[5, 1, 2, 4]], [[target[0][0], 1, 2, 4]])
    (finding,) = told(history)
    assert {
        "code": "TR101",
        "name": "unordered-access",
        "seq": copy.seq,
        "class": "order",
        "confidence": "proven",
        "sentence": (
            f"launch {copy.launch} (copy_pages) on transfer reads position 2 of page 5.1, and nothing orders "
            f"it after launch {launch.launch} (forward) on compute, which writes it"
        ),
        "resource_kind": "page",
        "resource_id": 5,
        "life": 1,
        "launch": copy.launch,
        "stream": TRANSFER,
        "other_launch": launch.launch,
        "other_stream": COMPUTE,
        "other_seq": launch.seq,
    }.items() <= finding.items()


def test_a_copy_behind_a_fence_is_sound(history: History, told: Read) -> None:
    """The same copy, ordered."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    history.alloc([6], "transfer:1")
    history.order(COMPUTE, TRANSFER)
    history.copy(TRANSFER, [[5, 1, 2, 4]], [[6, 1, 2, 4]])
    assert [] == told(history)


def test_other_positions_of_the_page_are_no_matter(history: History, told: Read) -> None:
    """Position 3 is copied while 0 to 2 are written."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    history.alloc([6], "transfer:1")
    history.copy(TRANSFER, [[5, 1, 3, 4]], [[6, 1, 3, 4]])
    assert [] == told(history)


def test_reads_need_no_order(history: History, told: Read) -> None:
    """Two streams read a page of a shared prefix that was written long ago."""
    history.names[OTHER] = "prefill"
    history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.sync()
    history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    history.forward(OTHER, reads=[[5, 1, 0, 4]])
    assert [] == told(history)


def test_a_write_under_a_reader(history: History, told: Read) -> None:
    """Reading first and writing later is no better than the other way around."""
    history.alloc([5], "request:1")
    reader = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    writer = history.forward(TRANSFER, writes=[[5, 1, 1, 2]])
    assert [(writer.seq, writer.launch, reader.launch)] == [
        (found["seq"], found["launch"], found["other_launch"])
        for found in told(history)
        if found["code"] == "TR101"
    ]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_prefix_that_another_stream_wrote(history: History, told: Read, ordered: bool) -> None:
    """Prefill on one stream, decode on another: the handing over needs a fence."""
    history.names[OTHER] = "prefill"
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(OTHER, 0, 1, pages)
    history.sync(OTHER)
    prefill = history.forward(OTHER, use(0, 1, 0, 8))
    if ordered:
        history.order(OTHER, COMPUTE)
    decode = history.forward(COMPUTE, use(0, 1, 7, 8))
    expected = [] if ordered else [(decode.seq, 5, prefill.launch), (decode.seq, 6, prefill.launch)]
    assert expected == [
        (found["seq"], found["resource_id"], found["other_launch"]) for found in told(history)
    ]


def test_streams_that_take_turns_in_order_are_sound(history: History, told: Read) -> None:
    """Each turn waits for the last one, so that spans overlap though every pair is ordered."""
    history.names[OTHER] = "prefill"
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(OTHER, 0, 1, pages)
    for turn in range(6):
        stream, last = (OTHER, COMPUTE) if turn % 2 else (COMPUTE, OTHER)
        history.order(last, stream)
        history.forward(stream, use(0, 1, turn, turn + 1))
    assert [] == told(history)


def test_one_turn_without_order(history: History, told: Read) -> None:
    """Of many turns the third lacks its fence: the finding stands there, and names the turn before."""
    history.names[OTHER] = "prefill"
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(OTHER, 0, 1, pages)
    history.sync(OTHER)
    turns = []
    for turn in range(6):
        stream, last = (OTHER, COMPUTE) if turn % 2 else (COMPUTE, OTHER)
        if turn != 2:
            history.order(last, stream)
        turns.append(history.forward(stream, use(0, 1, turn, turn + 1)))
    assert [(turns[2].seq, 5, turns[1].launch)] == [
        (found["seq"], found["resource_id"], found["other_launch"]) for found in told(history)
    ]


def test_padding_is_no_matter(history: History, told: Read) -> None:
    """Nobody reads what streams leave in the reserved page."""
    history.forward(COMPUTE, writes=[[0, 1, 0, 4]])
    history.forward(TRANSFER, writes=[[0, 1, 0, 4]])
    assert [] == told(history)


def test_lives_are_apart(history: History, told: Read) -> None:
    """Two lives of a page are TR202's matter, not this rule's."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.give_back(pages, "request:1")
    history.alloc([5], "request:2")
    history.forward(TRANSFER, writes=[[5, 2, 0, 4]])
    assert ["TR202"] == [found["code"] for found in told(history)]


def offloaded(history: History, stream: int, order: Callable[[History], object]) -> tuple[Launched, Launched]:
    """A page goes to slot 0 on compute, and comes back into another on `stream`, with `order` in between."""
    (page,) = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[*page, 0, 4]])
    filled = history.moved("offload", COMPUTE, [(0, *page)])
    order(history)
    (target,) = history.alloc([6], "request:2")
    return filled, history.moved("load", stream, [(0, *target)])


def test_a_load_that_nothing_orders_after_what_fills_its_slot(history: History, told: Read) -> None:
    """The page has what the slot had before, or half of what it gets."""
    filled, load = offloaded(history, TRANSFER, lambda _: None)
    history.moved("load", TRANSFER, [(0, *history.alloc([7], "request:3")[0])])
    (finding,) = (one for one in told(history) if one["code"] == "TR101")
    assert {
        "seq": load.seq,
        "confidence": "proven",
        "sentence": (
            f"launch {load.launch} (load_pages) on transfer loads slot 0 of the host tier into page 6.1, and "
            f"nothing orders it after launch {filled.launch} (offload_pages) on compute, which fills the slot"
        ),
        "resource_kind": "page",
        "resource_id": 6,
        "life": 1,
        "request": 2,
        "launch": load.launch,
        "other_launch": filled.launch,
    }.items() <= finding.items()


@pytest.mark.parametrize("how", ["stream", "fence", "host", "another slot"])
def test_a_load_behind_what_fills_its_slot_is_sound(history: History, told: Read, how: str) -> None:
    """On the same stream, behind a fence, once the host knows; and of a slot that was filled before."""
    if how == "another slot":
        history.moved("offload", TRANSFER, [(1, *history.alloc([8], "request:1")[0])])
        history.moved("offload", COMPUTE, [(0, *history.alloc([9], "request:1")[0])])
        history.moved("load", TRANSFER, [(1, *history.alloc([7], "request:3")[0])])
    orders: dict[str, Callable[[History], object]] = {
        "fence": lambda on: on.order(COMPUTE, TRANSFER), "host": lambda on: on.sync(COMPUTE)
    }  # fmt: skip
    offloaded(history, TRANSFER if how in orders else COMPUTE, orders.get(how, lambda _: None))
    assert [] == told(history)
