"""TR401, index-out-of-range: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

from tests.analysis.history import History, use

Read = Callable[[History], list[dict[str, Any]]]
LEGACY, COMPUTE, TRANSFER = 0, 1, 2
OUTSIDE = 0x7FFFFFFF


def test_an_entry_that_was_published_out_of_range(history: History, told: Read) -> None:
    """Page 32 of a pool of 32."""
    (page,) = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    publish = history.publish(COMPUTE, 0, 1, [page, (32, 1)])
    history.forward(COMPUTE, use(0, 1, 0, 4))
    launch = history.forward(COMPUTE, use(0, 1, 4, 5))
    (finding,) = told(history)
    assert {
        "code": "TR401",
        "name": "index-out-of-range",
        "seq": launch.seq,
        "class": "mapping",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute follows entry 1 of row 0, which names page 32; the "
            f"pool has pages 0 to 31. It was published by launch {publish.launch} (copy_row) on compute"
        ),
        "resource_kind": "row",
        "resource_id": 0,
        "row": 0,
        "generation": 1,
        "request": 1,
        "launch": launch.launch,
        "other_launch": publish.launch,
        "other_seq": publish.seq,
    }.items() <= finding.items()


def test_the_last_page_of_the_pool_is_sound(history: History, told: Read) -> None:
    """Page 31 of a pool of 32."""
    pages = history.alloc([31], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 4))
    assert [] == told(history)


def test_a_poisoned_entry_that_is_not_followed_is_sound(history: History, told: Read) -> None:
    """The row is poisoned, published again and followed as far as that goes."""
    history.publish(COMPUTE, 0, 1, [(OUTSIDE, 0)] * 3)
    pages = history.alloc([5], "request:1")
    history.acquire(0, 2, 1)
    history.publish(COMPUTE, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 0, 4))
    assert [] == told(history)


def test_a_walk_past_what_was_published(history: History, told: Read) -> None:
    """One entry further stands the poison of the former tenant."""
    history.publish(COMPUTE, 0, 1, [(OUTSIDE, 0)] * 3)
    pages = history.alloc([5], "request:1")
    history.acquire(0, 2, 1)
    history.publish(COMPUTE, 0, 2, pages)
    launch = history.forward(COMPUTE, use(0, 2, 0, 4, walked=2))
    assert [("TR401", launch.seq)] == [(found["code"], found["seq"]) for found in told(history)]


def test_poison_that_only_a_lack_of_order_shows(history: History, told: Read) -> None:
    """Program order gives the row's own page: that the launch may meet the poison is TR102's consequence."""
    history.publish(TRANSFER, 0, 1, [(OUTSIDE, 0)])
    history.sync()
    pages = history.alloc([5], "request:1")
    history.acquire(0, 2, 1)
    history.publish(LEGACY, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 0, 1))
    assert ["TR102"] == [found["code"] for found in told(history)]


def test_poison_that_need_not_be_there_yet(history: History, told: Read) -> None:
    """The poison itself is without order: until it is ordered, a launch may still find the page."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.publish(TRANSFER, 0, 1, [(OUTSIDE, 0)])
    first = history.forward(COMPUTE, use(0, 1, 0, 1))
    history.order(TRANSFER, COMPUTE)
    second = history.forward(COMPUTE, use(0, 1, 1, 2))
    assert [("TR102", first.seq), ("TR401", second.seq)] == [
        (found["code"], found["seq"]) for found in told(history)
    ]


def test_observed_where_the_device_failed_in_it(history: History, told: Read) -> None:
    """An id out of range is what a device fails at."""
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, [(OUTSIDE, 0)])
    history.forward(COMPUTE, use(0, 1, 0, 1))
    history.progress[COMPUTE] = (3, 2)
    history.error(COMPUTE)
    assert [("TR401", "observed")] == [(found["code"], found["confidence"]) for found in told(history)]


def test_without_the_pool_nothing_is_outside_of_it(history: History, told: Read) -> None:
    """The header doesn't tell how many pages there are."""
    del history.header["config"]["kv_pages"]
    pages = history.alloc([700], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    assert [] == told(history)
