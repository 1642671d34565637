"""TR206, reserved-write: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


@pytest.mark.parametrize("kernel", ["dummy", "store_kv"])
def test_padding_that_somebody_reads(history: History, told: Read, kernel: str) -> None:
    """A launch writes page 0 as no request, and another loads it."""
    write = history.forward(COMPUTE, kernel=kernel, writes=[[0, 1, 0, 4]])
    read = history.forward(COMPUTE, kernel="attention", reads=[[0, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    (finding,) = told(history)
    assert {
        "code": "TR206",
        "name": "reserved-write",
        "seq": write.seq,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": (
            f"launch {write.launch} ({kernel}) on compute writes page 0, which is reserved, and launch "
            f"{read.launch} (attention) on compute reads it"
        ),
        "resource_kind": "page",
        "resource_id": 0,
        "life": 1,
        "launch": write.launch,
        "other_seq": read.seq,
    }.items() <= finding.items()


def test_padding_that_nobody_reads_is_sound(history: History, told: Read) -> None:
    """It may write there as much as it likes; what was read before is no matter."""
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    history.forward(COMPUTE, writes=[[0, 1, 0, 4]])
    history.forward(COMPUTE, writes=[[0, 1, 0, 4]])
    assert [] == told(history)


def test_clearing_is_sound(history: History, told: Read) -> None:
    """Zeros are what readers of padding count on."""
    history.clear(COMPUTE, [[0, 1, 0, 4], [0, 0, 0, 4]])
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    assert [] == told(history)


def test_other_pages_are_no_matter(history: History, told: Read) -> None:
    """Page 5 is a request's."""
    history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    assert [] == told(history)


def test_a_copy_into_the_reserved_page(history: History, told: Read) -> None:
    """Its target was left at zero."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    copy = history.copy(COMPUTE, [[*pages[0], 0, 4]], [[0, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    assert [("TR206", copy.seq)] == [(found["code"], found["seq"]) for found in told(history)]


def test_a_row_of_nobody_writes_it(history: History, told: Read) -> None:
    """A padded row of the batch: no request ever had it."""
    history.publish(COMPUTE, 2, 0, [(0, 1)])
    write = history.forward(COMPUTE, use(2, 0, 0, 1))
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    assert [("TR206", write.seq)] == [(found["code"], found["seq"]) for found in told(history)]


@pytest.mark.parametrize("whose", ["nobody", "request 0", "given back"])
def test_padding_that_only_padding_reads_is_sound(history: History, told: Read, whose: str) -> None:
    """The rows that a captured graph has beyond the batch: what they read is nobody's, either."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.event("map", row=0, generation=1, index=0, page=5, life=1)
    history.publish(COMPUTE, 0, 1, pages)
    if whose != "nobody":
        history.acquire(2, 1, 0 if whose == "request 0" else 2)
    if whose == "given back":
        history.release(2, 1, 2)
    history.publish(COMPUTE, 2, 1, [(0, 1), (0, 1)])
    for end in (1, 2, 3):
        history.forward(COMPUTE, use(0, 1, end - 1, end), use(2, 1, end, end + 4))
    assert [] == told(history)


def test_a_request_that_reads_padding(history: History, told: Read) -> None:
    """Its row names page 0, and that is wrong; so is that the page isn't zeros any more."""
    history.publish(COMPUTE, 2, 1, [(0, 1)])
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, [(0, 1)])
    write = history.forward(COMPUTE, use(2, 1, 0, 1))
    read = history.forward(COMPUTE, use(0, 1, 1, 2), use(2, 1, 1, 2))
    assert {("TR206", write.seq), ("TR402", read.seq)} == {
        (found["code"], found["seq"]) for found in told(history)
    }


def test_what_is_read_before_or_beside_it_or_cleared_between_is_sound(history: History, told: Read) -> None:
    """Positions count, and so do the zeros of a clear; a dummy launch reads for nobody."""
    history.forward(COMPUTE, kernel="dummy", reads=[[0, 1, 0, 4]], writes=[[0, 1, 0, 1]])
    history.forward(COMPUTE, kernel="dummy", reads=[[0, 1, 0, 4]], writes=[[0, 1, 0, 1]])
    history.forward(COMPUTE, reads=[[0, 1, 1, 4]])
    history.clear(COMPUTE, [[0, 1, 0, 4]])
    read = history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    history.forward(COMPUTE, writes=[[0, 1, 0, 2]])
    assert [] == told(history)
    history.forward(COMPUTE, reads=[[0, 1, 1, 2]])
    assert [("TR206", read.seq + 1, read.seq + 2)] == [
        (found["code"], found["seq"], found["other_seq"]) for found in told(history)
    ]


def test_observed_where_the_reader_s_numbers_are_not_finite(history: History, told: Read) -> None:
    """Zero times NaN."""
    write = history.forward(COMPUTE, writes=[[0, 1, 0, 4]])
    read = history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    history.event("nonfinite", launch=read.launch, request=1, row=0, position=1, layer=0)
    assert [(write.seq, "observed")] == [
        (found["seq"], found["confidence"]) for found in told(history) if found["code"] == "TR206"
    ]


def test_without_the_grant_no_page_is_reserved(told: Read) -> None:
    """The history does not reach back to it, and has no keyframe."""
    history = History(first_seq=50)
    history.forward(COMPUTE, writes=[[0, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[0, 1, 0, 4]])
    assert [] == told(history)
