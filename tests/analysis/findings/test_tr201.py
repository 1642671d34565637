"""TR201, use-after-free: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


def test_a_launch_through_a_row_whose_pages_are_free(history: History, told: Read) -> None:
    """The request gave its page back, and is launched once more."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 5))
    history.forward(COMPUTE, use(0, 1, 5, 6))
    history.drop(pages[1:], "request:1")
    freed = history.free(pages[1:])
    launch = history.forward(COMPUTE, use(0, 1, 6, 7))
    history.forward(COMPUTE, use(0, 1, 7, 8))
    found = told(history)
    assert ["TR201", "TR402"] == [one["code"] for one in found]
    assert {
        "name": "use-after-free",
        "seq": launch.seq,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute writes page 6.1 through row 0, which nobody has "
            f"held since event {freed - 1}; it was granted to request:1"
        ),
        "resource_kind": "page",
        "resource_id": 6,
        "life": 1,
        "row": 0,
        "generation": 1,
        "request": 1,
        "launch": launch.launch,
        "stream": COMPUTE,
        "other_launch": None,
        "other_seq": freed - 1,
    }.items() <= found[0].items()


def test_a_launch_before_the_pages_are_free_is_sound(history: History, told: Read) -> None:
    """Launched first, given back later: it may still run then."""
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 8))
    history.give_back(pages, "request:1")
    assert [] == told(history)


def test_a_page_that_another_still_holds_is_sound(history: History, told: Read) -> None:
    """The prefix cache holds it, and the next request, too."""
    pages = history.alloc([5], "request:1")
    history.fill(COMPUTE, pages)
    history.hold(pages, "prefix:1")
    history.drop(pages, "request:1")
    history.hold(pages, "request:2")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 4, 4))
    assert [] == told(history)


def test_a_page_freed_though_another_holds_it(history: History, told: Read) -> None:
    """A stranger's drop lets the page go: the owner's next launch uses it after that."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    dropped = history.drop(pages, "request:2")
    history.free(pages)
    launch = history.forward(COMPUTE, use(0, 1, 1, 2))
    assert [("TR203", dropped), ("TR201", launch.seq)] == [
        (found["code"], found["seq"]) for found in told(history)
    ]


def test_retired_is_not_held(history: History, told: Read) -> None:
    """A fence guards what was launched before, not what comes now."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    dropped = history.drop(pages, "request:1")
    history.retire(pages, history.record(COMPUTE))
    launch = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    assert [("TR201", launch.seq, dropped)] == [
        (found["code"], found["seq"], found["other_seq"]) for found in told(history)
    ]


def test_an_old_life_of_a_page_that_lives_on(history: History, told: Read) -> None:
    """The page is held, in another life."""
    pages = history.alloc([5], "request:1")
    history.give_back(pages, "request:1")
    history.alloc([5], "request:2")
    launch = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    history.forward(COMPUTE, reads=[[5, 2, 0, 4]])
    assert [("TR201", launch.seq, 1)] == [
        (found["code"], found["seq"], found["life"]) for found in told(history)
    ]


def test_a_life_that_was_never_granted(history: History, told: Read) -> None:
    """Nothing before it in a whole history grants it."""
    launch = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    (finding,) = told(history)
    assert ("TR201", launch.seq) == (finding["code"], finding["seq"])
    assert finding["sentence"].endswith("reads page 5.1, a life that was never granted")


def test_a_life_before_its_grant(history: History, told: Read) -> None:
    """Written first, granted later."""
    launch = history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    granted = history.seq + 1
    history.alloc([5], "request:1")
    (finding,) = told(history)
    assert ("TR201", launch.seq, granted) == (finding["code"], finding["seq"], finding["other_seq"])


def test_clearing_free_pages_is_sound(history: History, told: Read) -> None:
    """What is given back may be cleared before the next grant."""
    pages = history.alloc([5], "request:1")
    history.give_back(pages, "request:1")
    history.clear(COMPUTE, [[5, 1, 0, 4]])
    assert [] == told(history)


def test_a_life_from_before_the_history_is_unknown(told: Read) -> None:
    """Nobody knows whether it is held."""
    history = History(first_seq=50)
    history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    assert [] == told(history)


def test_a_life_that_a_keyframe_knows(told: Read) -> None:
    """Held by the keyframe, given back behind it."""
    history = History(first_seq=50)
    history.keyframe([{"page": 5, "life": 3, "state": "held", "holders": ["request:1/write"]}])
    history.forward(COMPUTE, reads=[[5, 3, 0, 4]])
    history.give_back([(5, 3)], "request:1")
    launch = history.forward(COMPUTE, reads=[[5, 3, 0, 4]])
    assert [("TR201", launch.seq)] == [(found["code"], found["seq"]) for found in told(history)]


@pytest.mark.parametrize("cached", ["evicted", "never", "freed again"])
def test_a_hold_of_a_free_page_does_not_take_it_up(history: History, told: Read, cached: str) -> None:
    """It would if the page were still cached, and until it is freed once more."""
    pages, other = history.alloc([5], "request:1"), history.alloc([6], "request:1")
    history.fill(COMPUTE, pages + other)
    history.event("insert", node=2, digest="bb", identity=1, pages=[list(other[0])])
    if cached != "never":
        history.event("insert", node=1, digest="aa", identity=1, pages=[list(pages[0])])
    dropped = history.drop(pages, "request:1")
    if cached == "evicted":
        history.event("evict", node=1, digest="aa", pages=[list(pages[0])])
    since = history.free(pages)
    history.hold(pages, "request:2")
    if cached == "freed again":
        history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
        since = history.drop(pages, "request:2", "read")
        history.free(pages)
    launch = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    assert [("TR201", launch.seq, since)] == [
        (found["code"], found["seq"], found["other_seq"]) for found in told(history)
    ]
    assert dropped < since
