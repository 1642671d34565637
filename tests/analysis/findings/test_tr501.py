"""TR501, prefix-identity: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Page

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2


OWN, OTHER = "a" * 16, "b" * 16


def cached(history: History, *, digest: str = OWN, identity: int = 7, node: int = 1) -> list[Page]:
    """A page of the prefix, as the cache has it."""
    pages = history.alloc([4 + node], f"request:{90 + node}")
    history.hold(pages, f"prefix:{node}")
    history.event(
        "insert", node=node, digest=digest, parent=0, identity=identity, pages=[list(page) for page in pages]
    )
    return pages


def match(
    history: History,
    pages: list[Page],
    *,
    digest: str = OWN,
    identity: int = 7,
    node: int = 1,
    tokens: int = 4,
) -> int:
    """Request 2 asks, and hits."""
    return history.event(
        "match", request=2, node=node, digest=digest, identity=identity, hit_tokens=tokens,
        pages=[list(page) for page in pages], lookup_ns=1,
    )  # fmt: skip


def test_a_hit_of_the_same_is_sound(history: History, told: Read) -> None:
    """Tokens and identity are those of the insert."""
    match(history, cached(history))
    assert [] == told(history)


def test_a_hit_of_other_tokens(history: History, told: Read) -> None:
    """A collision: the digest of the request's own tokens is another."""
    hit = match(history, cached(history), digest=OTHER)
    match(history, [(5, 1)], digest=OTHER)
    (finding,) = told(history)
    assert {
        "code": "TR501",
        "name": "prefix-identity",
        "seq": hit,
        "class": "content",
        "confidence": "proven",
        "sentence": (
            "request 2 hits prefix 1, whose tokens, as inserted at event 6, are not those of the request"
        ),
        "resource_kind": "prefix",
        "resource_id": 1,
        "request": 2,
        "launch": None,
        "other_seq": 6,
    }.items() <= finding.items()


def test_a_hit_of_another_identity(history: History, told: Read) -> None:
    """An adapter was loaded again under its name."""
    hit = match(history, cached(history), identity=8)
    (finding,) = told(history)
    assert (hit, "prefix") == (finding["seq"], finding["resource_kind"])
    assert finding["sentence"].endswith("for another model, adapter, salt or weights epoch")


def test_the_last_insert_says_what_a_node_is(history: History, told: Read) -> None:
    """A split tells the node anew, without pages."""
    pages = cached(history, digest=OTHER)
    history.event("insert", node=1, digest=OWN, parent=0, identity=7)
    match(history, pages)
    assert [] == told(history)


def test_a_miss_is_no_hit(history: History, told: Read) -> None:
    """Node 0 is the root."""
    cached(history)
    match(history, [], node=0, digest=OTHER, identity=8, tokens=0)
    assert [] == told(history)


@pytest.mark.parametrize(("identity", "codes"), [(7, []), (8, ["TR501"])])
def test_of_a_tail_only_the_identity_counts(
    history: History, told: Read, identity: int, codes: list[str]
) -> None:
    """It is a page of another node, below the one that the match names: its digest is of more tokens."""
    whole = cached(history)
    tail = cached(history, node=2, digest=OTHER, identity=identity)
    match(history, whole + tail, tokens=6)
    assert codes == [found["code"] for found in told(history)]


def test_a_tail_alone_names_the_root(history: History, told: Read) -> None:
    """The digest of a match without whole pages is that of nothing."""
    tail = cached(history, digest=OTHER)
    match(history, tail, node=0, tokens=2)
    assert [] == told(history)


def test_an_insert_before_the_history_is_unknown(told: Read) -> None:
    """Nothing to compare with."""
    history = History(first_seq=50)
    match(history, [(5, 1)])
    assert [] == told(history)


def test_suspected_where_events_are_missing(history: History, told: Read) -> None:
    """A later insert of the node may be among them."""
    match(history, cached(history), digest=OTHER)
    history.header["ring"] |= {"torn": 1}
    assert ["suspected"] == [found["confidence"] for found in told(history)]
