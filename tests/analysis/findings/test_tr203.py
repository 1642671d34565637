"""TR203, double-free: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

from tests.analysis.history import History

Read = Callable[[History], list[dict[str, Any]]]


def test_a_page_given_back_twice(history: History, told: Read) -> None:
    """The second drop gives back what the holder doesn't hold any more."""
    pages = history.alloc([5], "request:1")
    history.hold(pages, "prefix:1")
    history.drop(pages, "request:1")
    second = history.drop(pages, "request:1")
    (finding,) = told(history)
    assert {
        "code": "TR203",
        "name": "double-free",
        "seq": second,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": "request:1 gives back page 5.1, which it does not hold",
        "resource_kind": "page",
        "resource_id": 5,
        "life": 1,
        "request": 1,
        "launch": None,
    }.items() <= finding.items()


def test_each_holder_gives_back_once(history: History, told: Read) -> None:
    """Three holders, three drops, one release."""
    pages = history.alloc([5], "request:1")
    history.hold(pages, "prefix:1")
    history.hold(pages, "request:2")
    history.drop(pages, "request:1")
    history.drop(pages, "request:2", "read")
    history.give_back(pages, "prefix:1")
    assert [] == told(history)


def test_holding_again_is_sound(history: History, told: Read) -> None:
    """A holder may come back."""
    pages = history.alloc([5], "prefix:1")
    for _ in range(3):
        history.hold(pages, "request:1")
        history.drop(pages, "request:1", "read")
    assert [] == told(history)


def test_a_stranger_gives_back(history: History, told: Read) -> None:
    """It never held the page."""
    pages = history.alloc([5], "request:1")
    dropped = history.drop(pages, "request:2")
    assert [("TR203", dropped, 2)] == [
        (found["code"], found["seq"], found["request"]) for found in told(history)
    ]


def test_an_earlier_life_is_another_matter(history: History, told: Read) -> None:
    """The holder holds the page, in the life that it names no more."""
    first = history.alloc([5], "request:1")
    history.give_back(first, "request:1")
    history.alloc([5], "request:1")
    dropped = history.drop(first, "request:1")
    assert [("TR203", dropped, 1)] == [
        (found["code"], found["seq"], found["life"]) for found in told(history)
    ]


def test_freed_while_another_holds_it(history: History, told: Read) -> None:
    """The prefix cache still holds it."""
    pages = history.alloc([5], "request:1")
    history.hold(pages, "prefix:1")
    history.drop(pages, "request:1")
    freed = history.free(pages)
    assert [(freed, "page 5.1 is freed while prefix:1 holds it")] == [
        (found["seq"], found["sentence"]) for found in told(history)
    ]


def test_retired_while_another_holds_it(history: History, told: Read) -> None:
    """Retirement is for pages that nobody holds."""
    pages = history.alloc([5], "request:1")
    retired = history.retire(pages, history.record(1))
    assert [(retired, "page 5.1 is retired while request:1 holds it")] == [
        (found["seq"], found["sentence"]) for found in told(history)
    ]


def test_freed_twice(history: History, told: Read) -> None:
    """The page stands in the free list twice, and will be granted twice."""
    pages = history.alloc([5], "request:1")
    history.give_back(pages, "request:1")
    again = history.free(pages)
    assert [(again, "page 5.1 is freed a second time")] == [
        (found["seq"], found["sentence"]) for found in told(history)
    ]


def test_retired_then_freed_is_sound(history: History, told: Read) -> None:
    """The usual way behind a fence."""
    pages = history.alloc([5, 6], "request:1")
    fence = history.record(1)
    history.drop(pages, "request:1")
    history.retire(pages, fence)
    history.passed(fence)
    history.free(pages)
    assert [] == told(history)


def test_a_hold_from_before_the_history_is_unknown(told: Read) -> None:
    """The drop may well be right."""
    history = History(first_seq=50)
    history.give_back([(5, 1)], "request:1")
    assert [] == told(history)


def test_a_keyframe_knows_the_holders(told: Read) -> None:
    """What it doesn't name is no holder; what came before it counts no more."""
    history = History(first_seq=50)
    history.hold([(5, 1)], "request:1")
    history.keyframe(
        [{"page": 5, "life": 1, "state": "held", "holders": ["request:1/read", "prefix:1/read"]}]
    )
    history.drop([(5, 1)], "request:1", "read")
    dropped = history.drop([(5, 1)], "request:2", "read")
    assert [("TR203", dropped)] == [(found["code"], found["seq"]) for found in told(history)]
