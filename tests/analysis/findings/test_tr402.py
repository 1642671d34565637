"""TR402, stale-mapping: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

from tests.analysis.history import History, use

Read = Callable[[History], list[dict[str, Any]]]
LEGACY, COMPUTE, TRANSFER = 0, 1, 2


def test_an_entry_that_names_another_requests_page(history: History, told: Read) -> None:
    """Page 6 is request 2's."""
    (own,) = history.alloc([5], "request:1")
    (other,) = history.alloc([6], "request:2")
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
    history.hold(shared, "prefix:1")
    history.hold(shared, "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, shared + history.alloc([6], "request:1"))
    history.forward(COMPUTE, use(0, 1, 4, 5))
    assert [] == told(history)


def test_a_page_of_the_prefix_that_only_the_cache_holds(history: History, told: Read) -> None:
    """The hit gave the pages, and nobody held them for the request."""
    shared = history.alloc([5], "request:9")
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
