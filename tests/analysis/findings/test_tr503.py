"""TR503, evicted-hit: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

from tests.analysis.history import History, Page

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


def told_of(history: History, kind: str, pages: list[Page], node: int = 1) -> int:
    """The cache tells of an insert or an evict."""
    named = [list(page) for page in pages]
    about = {"digest": "a" * 16, "parent": 0, "identity": 7} if kind == "insert" else {}
    return history.event(kind, node=node, pages=named, **about)


def match(history: History, pages: list[Page], node: int = 1) -> int:
    """Request 2 asks, and hits."""
    return history.event(
        "match", request=2, node=node, digest="a" * 16, identity=7, hit_tokens=4 * len(pages),
        pages=[list(page) for page in pages], lookup_ns=1,
    )  # fmt: skip


def test_a_hit_of_an_evicted_page(history: History, told: Read) -> None:
    """The entry outlived the eviction; a second hit is the same again."""
    pages = history.alloc([5, 6], "prefix:1")
    told_of(history, "insert", pages)
    gone = told_of(history, "evict", pages[1:])
    hit = match(history, pages)
    match(history, pages)
    (finding,) = told(history)
    assert {
        "code": "TR503",
        "name": "evicted-hit",
        "seq": hit,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": f"request 2 hits page 6.1, which was evicted from prefix 1 at event {gone}",
        "resource_kind": "page",
        "resource_id": 6,
        "life": 1,
        "request": 2,
        "launch": None,
        "other_seq": gone,
    }.items() <= finding.items()


def test_a_hit_of_what_is_left_is_sound(history: History, told: Read) -> None:
    """The end of an edge was evicted, its front was not."""
    pages = history.alloc([5, 6], "prefix:1")
    told_of(history, "insert", pages)
    told_of(history, "evict", pages[1:])
    match(history, pages[:1])
    assert [] == told(history)


def test_a_hit_before_the_eviction_is_sound(history: History, told: Read) -> None:
    """What comes after it is no matter, nor is a page that was cached again."""
    pages = history.alloc([5], "prefix:1")
    told_of(history, "insert", pages)
    match(history, pages)
    told_of(history, "evict", pages)
    told_of(history, "insert", pages, node=2)
    match(history, pages, node=2)
    assert [] == told(history)


def test_a_split_moves_pages_and_evicts_none(history: History, told: Read) -> None:
    """The front of an edge is told again as a node of its own."""
    pages = history.alloc([5, 6], "prefix:1")
    told_of(history, "insert", pages)
    told_of(history, "insert", pages[:1], node=2)
    match(history, pages)
    assert [] == told(history)


def test_a_hit_of_an_older_life(history: History, told: Read) -> None:
    """The page is cached again, in a new life; the hit names the old one."""
    old = history.alloc([5], "prefix:1")
    told_of(history, "insert", old)
    told_of(history, "evict", old)
    history.give_back(old, "prefix:1")
    told_of(history, "insert", history.alloc([5], "prefix:2"), node=2)
    hit = match(history, old, node=2)
    assert [("TR503", hit, 1)] == [(found["code"], found["seq"], found["life"]) for found in told(history)]


def test_a_hit_of_a_life_that_is_over(history: History, told: Read) -> None:
    """The cache was never told that the page is granted anew; a hold of the old life revives nothing."""
    old = history.alloc([5], "prefix:1")
    told_of(history, "insert", old)
    history.forward(COMPUTE, writes=[[*old[0], 0, 4]])
    history.give_back(old, "prefix:1")
    # Free, and still cached: that is no end.
    match(history, old)
    history.hold(old, "request:2", "read")
    history.forward(COMPUTE, reads=[[*old[0], 0, 4]])
    history.give_back(old, "request:2")
    anew = history.alloc([5], "request:1")
    granted = history.seq
    history.forward(COMPUTE, writes=[[*anew[0], 0, 4]])
    hit = match(history, old)
    history.hold(old, "request:2", "read")
    reader = history.forward(COMPUTE, reads=[[*old[0], 0, 4]])
    found = {finding["code"]: finding for finding in told(history)}
    assert found["TR503"]["sentence"] == (
        f"request 2 hits page 5.1, whose life is over: page 5.2 was granted at event {granted}, and nothing "
        "evicted the other from prefix 1"
    )
    assert (hit, 1, granted) == tuple(found["TR503"][name] for name in ("seq", "life", "other_seq"))
    assert found["TR201"]["seq"] == reader.seq


def test_a_hit_of_what_was_never_cached(history: History, told: Read) -> None:
    """The page is somebody's, and no prefix; a reserved page stands for one that nobody needs."""
    told_of(history, "insert", history.alloc([6], "prefix:1"))
    pages = history.alloc([5], "request:1")
    hit = match(history, [(0, 1), *pages])
    assert [(hit, "request 2 hits page 5.1, which was never cached")] == [
        (found["seq"], found["sentence"]) for found in told(history)
    ]


def test_what_was_cached_before_the_history_is_unknown(told: Read) -> None:
    """A page that the history saw granted is known, another is not."""
    history = History(first_seq=50)
    told_of(history, "insert", history.alloc([7], "prefix:1"))
    match(history, [(5, 1)])
    assert [] == told(history)
    hit = match(history, history.alloc([6], "request:1"))
    assert [("TR503", hit, 6)] == [
        (found["code"], found["seq"], found["resource_id"]) for found in told(history)
    ]


def test_suspected_where_events_are_missing(history: History, told: Read) -> None:
    """The insert may be among them."""
    told_of(history, "insert", history.alloc([6], "prefix:1"))
    match(history, history.alloc([5], "request:1"))
    history.header["ring"] |= {"torn": 1}
    assert ["suspected"] == [found["confidence"] for found in told(history)]
