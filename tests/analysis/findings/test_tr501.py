"""TR501, prefix-identity: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Launched, Page, use

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


def through_the_host(
    history: History, wanted: str, *, identity: int = 7, again: bool = False, written: bool = False
) -> Launched:
    """Prefix 1 goes to slot 3; after prefix 2, with `again`. It comes back for request 2, as `wanted`."""
    if again:
        other = cached(history, digest=OTHER, node=2)
        history.event("evict", node=2, pages=[list(page) for page in other])
        history.moved("offload", COMPUTE, [(3, *other[0])])
    (page,) = cached(history)
    history.event("evict", node=1, pages=[list(page)])
    history.moved("offload", COMPUTE, [(3, *page)])
    (target,) = history.alloc([9], "request:2")
    load = history.moved("load", COMPUTE, [(3, *target)])
    if written:
        history.forward(COMPUTE, writes=[[*target, 0, 4]])
    history.hold([target], "prefix:3")
    history.event("insert", node=3, digest=wanted, parent=0, identity=identity, pages=[list(target)])
    return load


def test_a_slot_that_was_filled_anew_is_loaded_for_its_former_prefix(history: History, told: Read) -> None:
    """It was found by the name of what it had before: keys and values of other tokens come back."""
    load = through_the_host(history, OTHER, again=True)
    (finding,) = told(history)
    seqs = {event["kind"]: event["seq"] for event in history.events}
    assert {
        "code": "TR501",
        "seq": load.seq,
        "confidence": "proven",
        "sentence": (
            f"launch {load.launch} (load_pages) on compute loads slot 3 of the host tier into page 9.1 of "
            f"request 2, which is cached as prefix 3 from event {seqs['insert']} on; but the slot has prefix "
            f"1, offloaded from page 5.1 by launch {load.launch - 1} (offload_pages) on compute: other "
            f"tokens; what was wanted had been offloaded there at event {history.events[7]['seq']}"
        ),
        "resource_kind": "page",
        "resource_id": 9,
        "life": 1,
        "request": 2,
        "launch": load.launch,
        "other_launch": load.launch - 1,
        "other_seq": seqs["offload"],
    }.items() <= finding.items()
    assert "offload" == history.events[7]["kind"]


def test_a_slot_is_loaded_for_another_identity(history: History, told: Read) -> None:
    """The tier keeps pages by their tokens alone."""
    through_the_host(history, OWN, identity=8)
    (finding,) = told(history)
    assert finding["sentence"].endswith("on compute, for another model, adapter, salt or weights epoch")


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("written", [False, True])
def test_what_was_offloaded_comes_back(history: History, told: Read, again: bool, written: bool) -> None:
    """As what it was, or written by then with what it is cached as."""
    through_the_host(history, "c" * 16 if written else OWN, again=again, written=written)
    assert [] == told(history)


def test_only_the_last_page_of_a_node_has_its_digest(history: History, told: Read) -> None:
    """Of those before it no digest is known: until the ones behind them have left the node."""
    pages = history.alloc([5, 6, 7], "prefix:1")
    history.event("insert", node=1, digest=OWN, parent=0, identity=7, pages=[list(page) for page in pages])
    history.event("evict", node=1, pages=[list(page) for page in pages[1:]])
    history.event("insert", node=1, digest=OTHER, parent=0, identity=7, pages=[])
    history.event("evict", node=1, pages=[list(pages[0])])
    history.moved("offload", COMPUTE, [(slot, *page) for slot, page in enumerate(pages)])
    back = history.alloc([11, 12, 13], "request:2")
    load = history.moved("load", COMPUTE, [(slot, *page) for slot, page in enumerate(back)])
    for node, digest, page in zip([2, 3, 4], ["c" * 16, "d" * 16, OWN], back, strict=True):
        history.event("insert", node=node, digest=digest, parent=node - 1, identity=7, pages=[list(page)])
    (finding,) = told(history)
    assert (load.seq, 11) == (finding["seq"], finding["resource_id"])
    assert "but the slot has prefix 1, offloaded from page 5.1" in finding["sentence"]


def started_behind(history: History, pages: list[Page], start: int) -> Launched:
    """Request 2 has row 1 over these pages, and computes from `start` on."""
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, pages)
    return history.forward(COMPUTE, use(1, 1, start, start + 1))


def computed(history: History, count: int = 2) -> list[Page]:
    """Request 1 computes so many pages, and the cache keeps them."""
    pages = history.alloc(range(5, 5 + count), "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 4 * count))
    history.hold(pages, "prefix:1")
    listed = [list(page) for page in pages]
    history.event("insert", node=1, digest=OWN, parent=0, identity=7, pages=listed)
    return pages


@pytest.mark.parametrize("turned", [False, True])
def test_pages_that_are_read_in_another_order(history: History, told: Read, turned: bool) -> None:
    """Each was computed as another entry: keys are of other positions of the sequence."""
    pages = computed(history)
    match(history, pages, tokens=8)
    history.hold(pages, "request:2")
    own = history.alloc([9], "request:2")
    launch = started_behind(history, (pages[::-1] if turned else pages) + own, 8)
    found = told(history)
    assert ([("TR501", launch.seq)] if turned else []) == [
        (one["code"], one["seq"]) for one in found if one["resource_id"] == 5
    ]
    assert all(one["code"] == "TR501" for one in found)
    if turned:
        assert {one["sentence"] for one in found} >= {
            f"launch {launch.launch} (forward) on compute reads page 5.1 as entry 1 of request 2; "
            "request 1 computed it as entry 0: other positions of a sequence"
        }


@pytest.mark.parametrize("entry", [0, 1])
def test_a_tail_that_is_copied_from_another_entry(history: History, told: Read, entry: int) -> None:
    """A page has keys of its place in the sequence, wherever they are copied, and over how many stages."""
    pages = computed(history, 2)
    match(history, pages, tokens=3)
    stage, own = history.alloc([8], "transfer:1"), history.alloc([7], "request:2")
    history.copy(COMPUTE, [[*pages[entry], 0, 3]], [[*stage[0], 0, 3]])
    history.copy(COMPUTE, [[*stage[0], 0, 3]], [[*own[0], 0, 3]])
    launch = started_behind(history, own, 3)
    found = told(history)
    assert (["TR501"] if entry else []) == [one["code"] for one in found]
    for one in found:
        assert (
            f"launch {launch.launch} (forward) on compute reads page 7.1 as entry 0 of request 2; "
            "request 1 computed what was copied there as entry 1: other positions of a sequence"
        ) == one["sentence"]


def test_a_hit_that_is_not_used_is_computed(history: History, told: Read) -> None:
    """The request computes all of its positions: what the cache gave does not matter."""
    pages = computed(history, 1)
    match(history, pages)
    started_behind(history, history.alloc([9], "request:2"), 0)
    assert [] == told(history)


@pytest.mark.parametrize("named", ["as it stands", "turned"])
def test_the_window_of_another_that_moved_on(history: History, told: Read, named: str) -> None:
    """Request 1's second page goes, its third moves up; request 2 is forked from what is left, twice over."""
    pages = computed(history, 3)
    left = [pages[0], pages[2]]
    history.publish(COMPUTE, 0, 1, left)
    history.forward(COMPUTE, use(0, 1, 8, 8))
    history.hold(left, "request:2")
    history.hold(left, "request:3")
    forked = left if named == "as it stands" else left[::-1]
    copied = history.alloc([10], "request:3")
    history.copy(COMPUTE, [[*left[1], 0, 4]], [[*copied[0], 0, 4]])
    history.acquire(2, 1, 3)
    history.publish(COMPUTE, 2, 1, [forked[0], *copied, *history.alloc([11], "request:3")])
    started_behind(history, forked + history.alloc([9], "request:2"), 8)
    history.forward(COMPUTE, use(2, 1, 8, 9))
    found = {(one["code"], one["row"], one["resource_id"]) for one in told(history)}
    assert (set() if named == "as it stands" else {("TR501", 1, 5), ("TR501", 1, 7)}) == found


@pytest.mark.parametrize(
    ("named", "start", "foreign"),
    [([2, 3], 8, []), ([3, 2], 8, [7, 8]), ([2, 3], 9, [7, 8]), ([2], 4, [7]), ([1, 3], 8, [6, 8])],
)
def test_a_row_that_names_the_window_of_a_hit_alone(
    history: History, told: Read, named: list[int], start: int, foreign: list[int]
) -> None:
    """The end of what was hit, in its order, and the sequence counted from there; nothing else."""
    pages = computed(history, 4)
    match(history, pages, tokens=16)
    history.hold(pages, "request:2")
    started_behind(history, [pages[at] for at in named] + history.alloc([10, 11], "request:2"), start)
    found = [one["resource_id"] for one in told(history) if one["code"] == "TR501"]
    assert foreign == sorted(found)


def test_a_window_that_moved_on_is_the_requests_own(history: History, told: Read) -> None:
    """Hit pages stand in a later row of the request one entry further to the front."""
    pages = computed(history, 2)
    match(history, pages, tokens=8)
    history.hold(pages, "request:2")
    own = history.alloc([9], "request:2")
    started_behind(history, pages + own, 8)
    history.release(1, 1, 2)
    history.acquire(1, 2, 2)
    history.publish(COMPUTE, 1, 2, pages[1:] + own)
    history.forward(COMPUTE, use(1, 2, 5, 6))
    assert [] == [one for one in told(history) if one["code"] == "TR501"]
