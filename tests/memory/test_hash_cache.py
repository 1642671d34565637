"""The hash prefix cache against a simple model, an oracle of page contents, and its own history."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.history import History
from tests.memory.prefix_bench import MODEL, SECRET
from tests.memory.prefix_bench import Bench as PrefixBench
from tests.memory.prefix_machine import PAGES, SIZE, PrefixMachine
from tracert.device.device import Fence
from tracert.memory import prefix_tree
from tracert.memory.errors import InvariantError
from tracert.memory.hash_cache import Digest, HashCache, chained
from tracert.memory.no_cache import NoCache
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import Identity, open_cache
from tracert.record.access import Holder


class Bench(PrefixBench):
    """A hash cache of 2-token pages with its pool and its history."""

    def __init__(self, pages: int = 20, digest: Digest = chained, page_size: int = 2) -> None:
        super().__init__(pages, page_size, HashCache, digest=digest)


def test_matches_full_pages_and_leaves_a_token() -> None:
    """The last token is always left to compute, and a page counts when it is full."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4, 5])
    assert bench.cache.pages() == 2
    assert bench.cache.match(2, [1, 2, 3, 4, 5], MODEL) == (pages[:2], [1, 1], 4, [1, 2], None)
    assert bench.cache.match(2, [1, 2, 3, 4], MODEL) == (pages[:1], [1], 3, [1], (pages[1], 1, 1, 2))
    assert bench.cache.match(2, [1, 2, 9, 4, 5], MODEL) == (pages[:1], [1], 2, [1], None)
    assert bench.cache.match(2, [9, 2, 3, 4, 5], MODEL) == ([], [], 0, [], None)
    assert bench.cache.match(2, [1], MODEL) == ([], [], 0, [], None)
    assert bench.cache.match(2, [], MODEL) == ([], [], 0, [], None)
    bench.check()


def test_tells_what_was_inserted_matched_and_evicted() -> None:
    """Nodes, parents, digests and lookup times are in the history; a miss has node 0."""
    bench = Bench()
    bench.compute(1, [1, 2, 3, 4])
    bench.cache.match(2, [1, 2, 3, 4, 5], MODEL)
    bench.cache.match(3, [7, 7, 7], MODEL)
    bench.pool.drop([1, 2], Holder("request", 1))
    bench.cache.evict(1)
    first, second = bench.history.of("insert")
    assert (first["node"], first["parent"], first["pages"]) == (1, 0, [(1, 1)])
    assert (second["node"], second["parent"], second["pages"]) == (2, 1, [(2, 1)])
    assert second["digest"] == chained(SECRET, first["digest"], b"\3\0\0\0\4\0\0\0")
    hit, miss = bench.history.of("match")
    assert (hit["request"], hit["node"], hit["hit_tokens"]) == (2, 2, 4)
    assert (hit["digest"], hit["identity"]) == (second["digest"], second["identity"])
    assert (miss["node"], miss["pages"], miss["hit_tokens"]) == (0, [], 0)
    assert min(hit["lookup_ns"], miss["lookup_ns"]) > 0
    assert bench.history.of("evict") == [{"node": 2, "pages": [(2, 1)]}]
    assert bench.history.kinds()[-3:] == ["evict", "drop", "free"]
    assert first["identity"] < 2**53


def test_a_cached_page_is_held_by_its_node() -> None:
    """The prefix holds it for reading, and goes on holding it when the request is gone."""
    bench = Bench()
    (page,) = bench.compute(1, [1, 2])
    assert bench.pool.holders(page) == {Holder("request", 1): "write", Holder("prefix", 1): "read"}
    bench.pool.drop([page], Holder("request", 1))
    assert bench.pool.state(page) == "held"
    assert bench.cache.match(2, [1, 2, 3], MODEL).pages == [page]


@pytest.mark.parametrize(
    "other",
    [
        Identity(model="n"),
        Identity(model="m", adapter="a"),
        Identity(model="m", salt="s"),
        Identity(model="m", weights_epoch=1),
        Identity(model="m', '", adapter=""),
    ],
)
def test_another_identity_never_matches(other: Identity) -> None:
    """Model, adapter, salt and weights epoch each keep prefixes apart, both ways."""
    bench = Bench()
    mine = bench.compute(1, [1, 2, 3, 4])
    assert bench.cache.match(2, [1, 2, 3, 4, 5], other).pages == []
    theirs = bench.compute(2, [1, 2, 3, 4], other)
    assert bench.cache.match(3, [1, 2, 3, 4, 5], MODEL).pages == mine
    assert bench.cache.match(3, [1, 2, 3, 4, 5], other).pages == theirs
    mine_told, _, theirs_told, _ = (event["identity"] for event in bench.history.of("insert"))
    assert mine_told != theirs_told
    bench.check()


def test_the_first_insert_of_equal_pages_wins() -> None:
    """A duplicate stays its request's own, and the chain goes on below the node that won."""
    bench = Bench()
    first = bench.compute(1, [1, 2, 3, 4])
    second = bench.compute(2, [1, 2, 3, 4, 5, 6])
    assert bench.cache.match(3, [1, 2, 3, 4, 5, 6, 7], MODEL).pages == [*first, second[2]]
    assert bench.pool.holders(second[0]) == {Holder("request", 2): "write"}
    bench.check()


def test_inserts_as_pages_fill() -> None:
    """Called after every step, it caches each page once, when computed tokens fill it."""
    bench = Bench()
    tokens = list(range(7))
    pages = bench.pool.alloc(4, Holder("request", 1))
    added = [bench.cache.insert(1, tokens, pages, MODEL, computed) for computed in range(8)]
    assert added == [0, 0, 1, 0, 1, 0, 1, 0]
    bench.check()


def test_goes_on_from_a_match_and_survives_its_eviction() -> None:
    """Where a request's chain ended is remembered, unless that node was evicted meanwhile."""
    bench = Bench()
    bench.pool.drop(bench.compute(1, [1, 2, 3, 4]), Holder("request", 1))
    bench.cache.match(2, [1, 2, 3, 4, 5], MODEL)
    assert bench.cache.evict(2) == 2
    pages = bench.compute(2, [1, 2, 3, 4])
    assert bench.cache.match(3, [1, 2, 3, 4, 5], MODEL).pages == pages
    bench.check()


def test_more_requests_than_cursors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose place was forgotten finds it again, and inserts nothing twice."""
    monkeypatch.setattr(prefix_tree, "CURSORS", 1)
    bench = Bench()
    pages = bench.pool.alloc(3, Holder("request", 1))
    bench.cache.insert(1, [1, 2, 3, 4, 5, 6], pages, MODEL, 2)
    bench.compute(2, [8, 8])
    assert bench.cache.insert(1, [1, 2, 3, 4, 5, 6], pages, MODEL, 6) == 2
    bench.check()


def test_evicts_the_least_recently_used_leaf() -> None:
    """Leaves before parents, older before younger; a match makes its path young."""
    bench = Bench()
    chains = {1: [1, 1, 1, 2], 2: [2, 2, 2, 3], 3: [3, 3]}
    pages = {request: bench.compute(request, tokens) for request, tokens in chains.items()}
    for request, held in pages.items():
        bench.pool.drop(held, Holder("request", request))
    bench.cache.match(9, [1, 1, 1, 2, 0], MODEL)
    assert bench.cache.evict(3) == 3
    assert [event["pages"][0][0] for event in bench.history.of("evict")] == [
        pages[2][1],
        pages[2][0],
        pages[3][0],
    ]
    assert bench.cache.evict(9) == 2
    assert bench.cache.pages() == 0
    bench.check()


def test_a_parent_is_as_young_as_the_child_that_was_used() -> None:
    """A use of a leaf was a use of its path, also when the leaf has gone before."""
    bench = Bench()
    holder = Holder("request", 1)
    pages = bench.pool.alloc(2, holder)
    bench.cache.insert(1, [1, 1, 1, 1], pages, MODEL, 2)
    between = bench.compute(2, [2, 2])
    bench.cache.insert(1, [1, 1, 1, 1], pages, MODEL, 4)
    bench.pool.drop(pages, holder)
    assert bench.cache.evict(1) == 1
    bench.pool.drop(between, Holder("request", 2))
    assert bench.cache.evict(1) == 1
    assert [event["pages"][0][0] for event in bench.history.of("evict")] == [pages[1], between[0]]
    bench.check()


def test_a_page_in_use_is_not_evicted() -> None:
    """Its holders are the lock: it goes when the request has gone."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4])
    assert bench.cache.evict(1) == 0
    bench.pool.drop(pages[1:], Holder("request", 1))
    assert bench.cache.evict(9) == 1
    bench.pool.drop(pages[:1], Holder("request", 1))
    assert bench.cache.evict(9) == 1
    assert bench.pool.counts().free == 19
    bench.check()


def test_evicting_behind_a_fence_retires() -> None:
    """A fence that the request left on the page outlives the request's hold."""
    bench = Bench()
    pages = bench.compute(1, [1, 2])
    bench.pool.drop(pages, Holder("request", 1), fence=Fence(id=1, stream=1, ordinal=1, seq=0))
    assert bench.cache.evict(1) == 1
    assert bench.pool.counts().retired == 1
    assert bench.pool.reclaim(lambda _: True) == 1


def test_reset_forgets_everything_but_takes_no_page_away() -> None:
    """After new weights no old page matches; a running request keeps its pages."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4])
    bench.pool.drop(bench.compute(2, [5, 6]), Holder("request", 2))
    bench.cache.reset()
    assert bench.cache.pages() == 0
    assert bench.cache.match(3, [1, 2, 3, 4, 5], MODEL).pages == []
    assert [bench.pool.holders(page) for page in pages] == [{Holder("request", 1): "write"}] * 2
    bench.check()
    assert bench.cache.insert(1, [1, 2, 3, 4], pages, MODEL, 4) == 2
    bench.check()


def weak(bits: int) -> Digest:
    """A digest of few bits."""
    return lambda secret, parent, block: bytes([chained(secret, parent, block)[0] % 2**bits])


def test_nothing_is_cached_below_a_collision() -> None:
    """Pages behind another front must not hang below the node that collided."""
    bench = Bench(digest=lambda secret, parent, block: parent + block[-4:])
    pages = bench.compute(1, [1, 2])
    bench.compute(2, [3, 2, 5, 6])
    assert bench.cache.match(3, [1, 2, 5, 6, 7], MODEL).pages == pages
    assert bench.cache.pages() == 1
    bench.check()


def test_a_collision_is_a_miss() -> None:
    """Equal digests, other tokens: nothing is found, and nothing replaces what is there."""
    bench = Bench(digest=lambda *_: b"same")
    (page,) = bench.compute(1, [1, 2])
    bench.compute(2, [3, 4])
    assert bench.cache.match(3, [3, 4, 5], MODEL).pages == []
    assert bench.cache.match(3, [1, 2, 5], MODEL).pages == [page]
    assert bench.cache.match(3, [1, 2, 5], Identity(model="n")).pages == []
    assert bench.cache.match(3, [1, 2, 1, 2, 5], MODEL).pages == [page]
    bench.check()


steps = st.tuples(
    st.sampled_from(["m", "n"]), st.lists(st.integers(0, 1), min_size=1, max_size=9), st.integers(0, 3)
)


@settings(max_examples=200, deadline=None)
@given(st.lists(steps, max_size=12), st.sampled_from([weak(1), weak(3), chained]))
def test_a_match_has_the_tokens_of_its_pages(work: list[tuple[str, list[int], int]], digest: Digest) -> None:
    """Whatever collides, each page matched was computed for just this front and identity."""
    bench = Bench(pages=200, digest=digest)
    content: dict[tuple[int, int], tuple[Any, ...]] = {}
    for request, (model, tokens, evicted) in enumerate(work, start=1):
        identity, holder = Identity(model=model), Holder("request", request)
        match = bench.cache.match(request, tokens, identity)
        assert len(match.pages) * 2 == match.hit_tokens - (match.tail is not None) < len(tokens)
        for index, (page, life) in enumerate(zip(match.pages, match.lives, strict=True)):
            assert content[page, life] == (model, tokens[: 2 * index + 2])
        bench.pool.hold(match.pages, holder, "read")
        own = bench.pool.alloc(-(-len(tokens) // 2) - len(match.pages), holder)
        pages = [*match.pages, *own]
        for index, (page, life) in enumerate(zip(pages, bench.pool.lives(pages), strict=True)):
            content[page, life] = model, tokens[: 2 * index + 2]
        bench.cache.insert(request, tokens, pages, identity, len(tokens))
        bench.pool.drop(pages, holder)
        bench.cache.evict(evicted)
        bench.check()


@pytest.mark.parametrize("page_size", [16, 17, 64, 256])
def test_page_sizes(page_size: int) -> None:
    """A long prompt is found in full pages of any size."""
    bench = Bench(pages=40, page_size=page_size)
    tokens = [token * 7 % 32_000 for token in range(30 * page_size)]
    pages = bench.compute(1, tokens)
    assert bench.cache.match(2, tokens, MODEL).pages == pages[:29]
    assert bench.cache.match(2, [*tokens, 0], MODEL).pages == pages


def test_check_finds_what_a_stranger_broke() -> None:
    """A cached page that someone freed is named, with its node."""
    bench = Bench()
    pages = bench.compute(1, [1, 2])
    bench.pool.drop(pages, Holder("prefix", 1))
    with pytest.raises(InvariantError, match="node 1 does not hold page 1"):
        bench.cache.check()


def test_opens_by_kind() -> None:
    """`none` finds and keeps nothing; `hash` is keyed by a secret of its own unless given one."""
    history = History()
    pool = PagePool(history, 4, 16)
    off = open_cache("none", history, pool)
    assert isinstance(off, NoCache)
    assert off.insert(1, list(range(16)), pool.alloc(1, Holder("request", 1)), MODEL, 16) == 0
    assert off.match(2, list(range(17)), MODEL) == ([], [], 0, [], None)
    assert (off.pages(), off.evict(3)) == (0, 0)
    told = []
    for _ in range(2):
        cache = open_cache("hash", history, pool)
        cache.match(1, list(range(17)), MODEL)
        told.append(history.of("match")[-1]["digest"])
    assert told[0] != told[1]


class CacheMachine(PrefixMachine):
    """The hash cache."""

    def __init__(self) -> None:
        super().__init__(PrefixBench(PAGES, SIZE, HashCache))


CacheMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestHashCache = CacheMachine.TestCase
