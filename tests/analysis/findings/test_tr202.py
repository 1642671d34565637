"""TR202, unordered-reuse: each fault beside its sound twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.history import History, Launched, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def reuse(history: History, stream: int, between: Callable[[History], object]) -> tuple[Launched, Launched]:
    """Page 5 is read on compute, given back, granted again, and written on `stream`."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    reader = history.forward(COMPUTE, use(0, 1, 3, 4))
    between(history)
    history.release(0, 1, 1)
    history.give_back(pages, "request:1")
    history.alloc([5], "request:2")
    return reader, history.forward(stream, writes=[[5, 2, 0, 4]])


def test_a_page_granted_while_another_stream_reads_it(history: History, told: Read) -> None:
    """The page was freed with no fence, and granted to a writer on another stream."""
    reader, writer = reuse(history, TRANSFER, lambda _: None)
    (finding,) = told(history)
    assert {
        "code": "TR202",
        "name": "unordered-reuse",
        "seq": writer.seq,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": (
            f"launch {writer.launch} (forward) on transfer is the first to touch page 5.2, and nothing "
            f"orders it after launch {reader.launch} (forward) on compute, which touches page 5.1 of "
            "request:1"
        ),
        "resource_kind": "page",
        "resource_id": 5,
        "life": 2,
        "launch": writer.launch,
        "stream": TRANSFER,
        "other_launch": reader.launch,
        "other_stream": COMPUTE,
        "other_seq": reader.seq,
    }.items() <= finding.items()


def test_plain_reuse_on_one_stream_is_sound(history: History, told: Read) -> None:
    """No fence is needed where the stream orders."""
    reuse(history, COMPUTE, lambda _: None)
    assert [] == told(history)


@pytest.mark.parametrize(
    "between",
    [
        lambda history: history.passed(history.record(COMPUTE)),
        lambda history: history.sync(COMPUTE),
        lambda history: history.sync(),
        lambda history: history.order(COMPUTE, TRANSFER),
    ],
)
def test_reuse_that_is_ordered_is_sound(
    history: History, told: Read, between: Callable[[History], object]
) -> None:
    """The host saw the readers end, or the new stream waits for them."""
    reuse(history, TRANSFER, between)
    assert [] == told(history)


def test_a_fence_before_the_last_reader(history: History, told: Read) -> None:
    """The fence that retired the page stands before its last reader."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    fence = history.record(COMPUTE)
    reader = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    history.drop(pages, "request:1")
    history.retire(pages, fence)
    history.passed(fence)
    history.free(pages)
    history.alloc([5], "request:2")
    writer = history.forward(TRANSFER, writes=[[5, 2, 0, 4]])
    assert [("TR202", writer.seq, reader.launch)] == [
        (found["code"], found["seq"], found["other_launch"]) for found in told(history)
    ]


def test_retirement_behind_the_last_reader_is_sound(history: History, told: Read) -> None:
    """The same with the fence behind it."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    fence = history.record(COMPUTE)
    history.drop(pages, "request:1")
    history.retire(pages, fence)
    history.passed(fence)
    history.free(pages)
    history.alloc([5], "request:2")
    history.forward(TRANSFER, writes=[[5, 2, 0, 4]])
    assert [] == told(history)


def test_the_life_before_may_lie_some_lives_back(history: History, told: Read) -> None:
    """A life that nobody touched stands between."""
    first = history.alloc([5], "request:1")
    reader = history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.give_back(first, "request:1")
    history.give_back(history.alloc([5], "request:2"), "request:2")
    history.alloc([5], "request:3")
    writer = history.forward(TRANSFER, writes=[[5, 3, 0, 4]])
    assert [(writer.seq, 3, reader.launch)] == [
        (found["seq"], found["life"], found["other_launch"]) for found in told(history)
    ]


def test_the_first_of_two_streams(history: History, told: Read) -> None:
    """Two streams touch the new life without order: the finding is the earlier one's."""
    history.names[3] = "prefill"
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.give_back(pages, "request:1")
    history.alloc([5], "request:2")
    first = history.forward(TRANSFER, reads=[[5, 2, 0, 1]])
    history.forward(3, reads=[[5, 2, 2, 3]])
    assert [first.seq] == [found["seq"] for found in told(history) if found["code"] == "TR202"]


def test_a_clear_of_the_arena_that_is_not_waited_for(told: Read) -> None:
    """The arena is cleared on compute, and the first life of a page starts on transfer."""
    history = History()
    clear = history.clear(COMPUTE)
    history.alloc([5], "request:1")
    writer = history.forward(TRANSFER, writes=[[5, 1, 0, 4]])
    assert [("TR202", writer.seq, clear.launch)] == [
        (found["code"], found["seq"], found["other_launch"]) for found in told(history)
    ]


def test_a_reader_that_outlives_its_page_is_not_counted_twice(history: History, told: Read) -> None:
    """Behind the new life's first launch the old life's is use after free; the re-use is told, too."""
    pages = history.alloc([5], "request:1")
    early = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    history.give_back(pages, "request:1")
    history.alloc([5], "request:2")
    writer = history.forward(TRANSFER, writes=[[5, 2, 0, 4]])
    late = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    assert [("TR202", writer.seq, early.launch), ("TR201", late.seq, None)] == [
        (found["code"], found["seq"], found["other_launch"]) for found in told(history)
    ]


def test_missing_edge_of_a_reuse(history: History, tmp_path: Path) -> None:
    """The call stands between the old life's last launch and the new one's first."""
    reader, writer = reuse(history, TRANSFER, lambda _: None)
    expected = (
        reader.launch,
        reader.seq,
        writer.launch,
        writer.seq,
        "fence = device.record(compute); device.wait(transfer, fence)",
    )
    assert [expected] == history.read(tmp_path).connection.execute(
        'SELECT from_launch, from_seq, to_launch, to_seq, "call" FROM missing_edge(1)'
    ).fetchall()


def refilled(history: History, order: Callable[[History], object]) -> tuple[Launched, Launched]:
    """Slot 0 is loaded into page 6 on transfer, and filled anew on compute, with `order` in between."""
    first, second = history.alloc([5, 7], "request:1")
    history.forward(COMPUTE, writes=[[*first, 0, 4], [*second, 0, 4]])
    history.moved("offload", COMPUTE, [(0, *first)])
    history.order(COMPUTE, TRANSFER)
    (target,) = history.alloc([6], "request:2")
    load = history.moved("load", TRANSFER, [(0, *target)])
    order(history)
    return load, history.moved("offload", COMPUTE, [(0, *second)])


def test_a_slot_that_is_filled_anew_while_it_is_loaded(history: History, told: Read) -> None:
    """The load may bring what was offloaded after it."""
    load, offload = refilled(history, lambda _: None)
    (finding,) = told(history)
    assert {
        "code": "TR202",
        "seq": offload.seq,
        "confidence": "proven",
        "sentence": (
            f"launch {offload.launch} (offload_pages) on compute fills slot 0 of the host tier anew, and "
            f"nothing orders it after launch {load.launch} (load_pages) on transfer, which loads the slot "
            "into page 6.1"
        ),
        "resource_id": 6,
        "life": 1,
        "request": 2,
        "other_launch": load.launch,
    }.items() <= finding.items()


def test_a_slot_that_two_streams_fill(history: History, told: Read) -> None:
    """What it has in the end is luck."""
    first, second = history.alloc([5, 7], "request:1")
    history.sync()
    early = history.moved("offload", COMPUTE, [(0, *first)])
    late = history.moved("offload", TRANSFER, [(0, *second), (1, *first)])
    (finding,) = told(history)
    assert (late.seq, early.launch, 7) == tuple(
        finding[name] for name in ("seq", "other_launch", "resource_id")
    )
    assert finding["sentence"].endswith("(offload_pages) on compute, which fills it, too")


def test_a_slot_that_is_filled_anew_in_order(history: History, told: Read) -> None:
    """Behind a fence of the stream that loads."""
    refilled(history, lambda on: on.order(TRANSFER, COMPUTE))
    assert [] == told(history)
