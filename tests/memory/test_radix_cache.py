"""The radix prefix cache against a simple model, the hash cache, an oracle of contents, and its history."""

from array import array
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.memory.fold import Fold
from tests.memory.history import History
from tracert.device.device import Fence
from tracert.memory import radix_cache
from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import Identity, open_cache
from tracert.memory.radix_cache import RadixCache
from tracert.record.access import Holder

MODEL = Identity(model="m")
SECRET = b"0123456789abcdef"


class Bench:
    """A cache of 2-token pages with its pool and its history."""

    def __init__(self, pages: int = 20, page_size: int = 2) -> None:
        self.history = History()
        self.pool = PagePool(self.history, pages, page_size)
        self.cache = RadixCache(self.history, self.pool, SECRET)

    def compute(self, request: int, tokens: list[int], identity: Identity = MODEL) -> list[int]:
        """A request that shares nothing: fresh pages for all its tokens, offered to the cache."""
        size = self.pool.page_size
        pages = self.pool.alloc(-(-len(tokens) // size), Holder("request", request))
        self.cache.insert(request, tokens, pages, identity, len(tokens))
        return pages

    def leave(self, request: int, tokens: list[int], identity: Identity = MODEL) -> list[int]:
        """A request that ends at once: its full pages stay cached, and nobody else holds them."""
        pages = self.compute(request, tokens, identity)
        self.pool.drop(pages, Holder("request", request))
        return pages

    def edges(self) -> dict[int, list[int]]:
        """The pages of each node."""
        return {number: node.pages for number, node in self.cache._nodes.items()}

    def evicted(self) -> list[int]:
        """Every page evicted so far, in order of events."""
        return [page for event in self.history.of("evict") for page, _ in event["pages"]]

    def check(self) -> None:
        """No contradiction, and the history folds to the state."""
        self.pool.check()
        self.cache.check()
        fold = Fold(self.history.told)
        assert fold.nodes == {
            number: (
                node.digest,
                node.parent.number if node.parent else 0,
                list(zip(node.pages, node.lives, strict=True)),
                fold.nodes[number][3],
            )
            for number, node in self.cache._nodes.items()
        }
        for page in range(1, self.pool.pages):
            assert fold.holders.get(page, {}) == self.pool.holders(page)


def test_matches_full_pages_and_leaves_a_token() -> None:
    """The last token is always left to compute, and a page counts when it is full."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4, 5])
    assert bench.cache.pages() == 2
    assert bench.cache.match(2, [1, 2, 3, 4, 5], MODEL) == (pages[:2], [1, 1], 4, [1, 1])
    assert bench.cache.match(2, [9, 2, 3, 4, 5], MODEL) == ([], [], 0, [])
    assert bench.cache.match(2, [1], MODEL) == ([], [], 0, [])
    assert bench.cache.match(2, [], MODEL) == ([], [], 0, [])
    assert bench.edges() == {1: pages[:2]}
    assert bench.cache.match(2, [1, 2, 3, 4], MODEL) == (pages[:1], [1], 2, [2])
    assert bench.cache.match(2, [1, 2, 9, 4, 5], MODEL) == (pages[:1], [1], 2, [2])
    assert bench.cache.match(2, [1, 2, 3, 4, 5], MODEL) == (pages[:2], [1, 1], 4, [2, 1])
    bench.check()


def test_one_edge_has_the_pages_of_a_whole_prompt() -> None:
    """A prompt of any length is one node and one insert, and so is its answer when no one shares it."""
    bench = Bench(pages=3000)
    tokens = list(range(4001))
    pages = bench.pool.alloc(2001, Holder("request", 1))
    assert bench.cache.insert(1, tokens, pages, MODEL, 3998) == 1999
    assert bench.cache.insert(1, tokens, pages, MODEL, 4001) == 1
    assert bench.edges() == {1: pages[:2000]}
    assert [1999, 1] == [len(event["pages"]) for event in bench.history.of("insert")]
    assert ["alloc", "alloc", "hold", "insert", "hold", "insert"] == bench.history.kinds()
    assert bench.cache.match(2, tokens, MODEL).pages == pages[:2000]


def test_a_match_inside_an_edge_splits_it() -> None:
    """The hit becomes a node of its own; the rest hangs below it, under its old number, still found."""
    bench = Bench()
    pages = bench.compute(1, [1, 1, 2, 2, 3, 3])
    before = len(bench.history.told)
    assert bench.cache.match(2, [1, 1, 2, 2, 9], MODEL) == (pages[:2], [1, 1], 4, [2, 2])
    assert bench.edges() == {1: pages[2:], 2: pages[:2]}
    (_, held), (_, front), (_, rest), (_, dropped), (_, told) = bench.history.told[before:]
    assert (front["node"], front["parent"], front["pages"]) == (2, 0, [(1, 1), (2, 1)])
    assert (rest["node"], rest["parent"], rest["pages"]) == (1, 2, [])
    assert (held["holder"], held["pages"]) == (Holder("prefix", 2), front["pages"])
    assert (dropped["holder"], dropped["pages"]) == (Holder("prefix", 1), front["pages"])
    assert (told["node"], told["digest"]) == (2, front["digest"])
    assert front["digest"] != rest["digest"] == bench.history.of("insert")[0]["digest"]
    assert bench.pool.holders(1) == {Holder("request", 1): "write", Holder("prefix", 2): "read"}
    assert bench.cache.match(3, [1, 1, 2, 2, 3, 3, 4], MODEL).nodes == [2, 2, 1]
    bench.check()


def test_an_insert_that_parts_from_an_edge_splits_it() -> None:
    """At the border of the last page that both have, even when the next begins alike."""
    bench = Bench()
    first = bench.compute(1, [1, 1, 2, 2, 3, 3, 4, 4])
    second = bench.compute(2, [1, 1, 2, 2, 3, 9, 5, 5])
    assert bench.edges() == {1: first[2:], 2: first[:2], 3: second[2:]}
    assert [event["parent"] for event in bench.history.of("insert")] == [0, 0, 2, 2]
    assert bench.cache.match(3, [1, 1, 2, 2, 3, 9, 5, 5, 0], MODEL).pages == [*first[:2], *second[2:]]
    assert bench.cache.match(3, [1, 1, 2, 2, 3, 3, 4, 4, 0], MODEL).pages == first
    bench.check()


def test_the_first_insert_of_equal_pages_wins() -> None:
    """A duplicate stays its request's own, and the path goes on behind the pages that won."""
    bench = Bench()
    first = bench.compute(1, [1, 2, 3, 4])
    second = bench.compute(2, [1, 2, 3, 4, 5, 6])
    assert bench.edges() == {1: [*first, second[2]]}
    assert bench.cache.match(3, [1, 2, 3, 4, 5, 6, 7], MODEL).pages == [*first, second[2]]
    assert bench.pool.holders(second[0]) == {Holder("request", 2): "write"}
    bench.check()


def test_an_edge_grows_only_where_nothing_hangs_below() -> None:
    """A node with children gets another child; a leaf is lengthened."""
    bench = Bench()
    bench.compute(1, [1, 1, 2, 2])
    bench.compute(2, [1, 1, 3, 3])
    tokens = [1, 1, 3, 3, 4, 4]
    longer = bench.pool.alloc(3, Holder("request", 3))
    assert bench.cache.insert(3, tokens, longer, MODEL, 6) == 1
    assert bench.edges() == {1: [2], 2: [1], 3: [4, longer[2]]}
    bench.check()


def test_inserts_as_pages_fill() -> None:
    """Called after every step, it caches each page once, when computed tokens fill it."""
    bench = Bench()
    tokens = list(range(7))
    pages = bench.pool.alloc(4, Holder("request", 1))
    added = [bench.cache.insert(1, tokens, pages, MODEL, computed) for computed in range(8)]
    assert added == [0, 0, 1, 0, 1, 0, 1, 0]
    assert bench.edges() == {1: pages[:3]}
    bench.check()


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
def test_another_identity_has_another_root(other: Identity) -> None:
    """Model, adapter, salt and weights epoch each keep prefixes apart, both ways."""
    bench = Bench()
    mine = bench.compute(1, [1, 2, 3, 4])
    assert bench.cache.match(2, [1, 2, 3, 4, 5], other).pages == []
    theirs = bench.compute(2, [1, 2, 3, 4], other)
    assert bench.cache.match(3, [1, 2, 3, 4, 5], MODEL).pages == mine
    assert bench.cache.match(3, [1, 2, 3, 4, 5], other).pages == theirs
    mine_told, theirs_told = bench.history.of("insert")
    assert mine_told["identity"] != theirs_told["identity"]
    assert mine_told["digest"] != theirs_told["digest"]
    assert (mine_told["parent"], theirs_told["parent"]) == (0, 0)
    bench.check()


def test_no_root_is_left_behind() -> None:
    """A salt that is asked for, or was cached once, costs nothing afterwards."""
    bench = Bench()
    for request in range(1, 9):
        salted = Identity(model="m", salt=str(request))
        assert bench.cache.match(request, [1, 2, 3], salted).pages == []
        bench.leave(request, [1, 2], salted)
    assert len(bench.cache._roots) == 8
    assert bench.cache.evict(8) == 8
    assert bench.cache._roots == {}
    bench.check()


def test_names_prefixes_as_the_hash_cache_does() -> None:
    """Under one secret, hits and misses of both caches have the same digests, identities and lengths."""
    told = []
    for kind in ("hash", "radix"):
        history = History()
        pool = PagePool(history, 20, 2)
        cache = open_cache(kind, history, pool, secret=SECRET)  # type: ignore[arg-type]
        for request, tokens in enumerate([[1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 4, 4], [1, 1, 5, 5]], start=1):
            cache.match(request, tokens, MODEL)
            cache.insert(request, tokens, pool.alloc(3, Holder("request", request)), MODEL, len(tokens))
        cache.match(4, [1, 1, 2, 2, 4, 4, 0], MODEL)
        cache.match(5, [7, 7, 7], MODEL)
        fields = ("request", "digest", "identity", "hit_tokens")
        told.append([{name: event[name] for name in fields} for event in history.of("match")])
    by_hash, by_radix = told
    assert [0, 4, 2, 6, 0] == [event["hit_tokens"] for event in by_hash]
    assert by_hash == by_radix


def test_keeps_no_view_of_what_it_was_given() -> None:
    """B62 (a): pages and tokens lie in buffers that are written again after the insert; answers, likewise."""
    bench = Bench()
    pages = bench.pool.alloc(3, Holder("request", 1))
    row, tokens = array("i", pages), array("i", [1, 1, 2, 2, 3, 3])
    for computed in (1, 2, 3):
        bench.cache.insert(1, memoryview(tokens), memoryview(row), MODEL, 2 * computed)
        row[computed - 1] = 17
        tokens[2 * computed - 2] = tokens[2 * computed - 1] = 9
    match = bench.cache.match(2, [1, 1, 2, 2, 3, 3, 4], MODEL)
    assert match.pages == pages
    match.pages.clear()
    match.lives[:] = [0, 0, 0]
    assert bench.cache.match(2, [1, 1, 2, 2, 3, 3, 4], MODEL) == (pages, [1, 1, 1], 6, [1, 1, 1])
    bench.check()


@pytest.mark.parametrize("page_size", [2, 16])
def test_evict_counts_pages(page_size: int) -> None:
    """B62 (b): as many pages as asked for, not tokens or nodes, taken from the end of the edge."""
    bench = Bench(page_size=page_size)
    tokens = list(range(5 * page_size))
    pages = bench.leave(1, tokens)
    assert bench.cache.evict(2) == 2
    assert bench.evicted() == pages[3:]
    assert bench.edges() == {1: pages[:3]}
    assert (bench.cache.pages(), bench.pool.available()) == (3, 16)
    assert bench.cache.match(2, tokens, MODEL).pages == pages[:3]
    assert bench.cache.evict(0) == 0
    assert bench.cache.evict(9) == 3
    assert (bench.cache.pages(), bench.pool.available()) == (0, 19)
    bench.check()


def test_what_a_request_hit_is_locked_to_its_last_node() -> None:
    """B62 (c): the node matched is in use itself, as are those above; what is below or beside it is not."""
    bench = Bench()
    shared = bench.leave(1, [1, 1, 2, 2])
    hit = bench.leave(2, [1, 1, 2, 2, 3, 3, 4, 4])[2:]
    beside = bench.leave(3, [1, 1, 2, 2, 5, 5])[2:]
    below = bench.leave(4, [1, 1, 2, 2, 3, 3, 4, 4, 6, 6])[4:]
    match = bench.cache.match(5, [1, 1, 2, 2, 3, 3, 4, 4, 0], MODEL)
    assert match.pages == [*shared, *hit]
    assert len(set(match.nodes)) == 2
    bench.pool.hold(match.pages, Holder("request", 5), "read")
    assert bench.cache.evict(99) == 2
    assert set(bench.evicted()) == {*beside, *below}
    assert bench.cache.match(6, [1, 1, 2, 2, 3, 3, 4, 4, 0], MODEL).pages == match.pages
    bench.check()
    bench.pool.drop(match.pages, Holder("request", 5), "read")
    assert bench.cache.evict(99) == 4
    bench.check()


def test_a_page_held_inside_an_edge_keeps_what_is_before_it() -> None:
    """Pages behind it go; its own, and those that nobody holds before it, stay until it is given back."""
    bench = Bench()
    pages = bench.compute(1, [1, 1, 2, 2, 3, 3, 4, 4])
    bench.pool.drop([pages[0], *pages[2:]], Holder("request", 1))
    assert bench.cache.evict(9) == 2
    assert bench.edges() == {1: pages[:2]}
    assert bench.cache.evict(9) == 0
    bench.check()
    bench.pool.drop([pages[1]], Holder("request", 1))
    assert bench.cache.evict(9) == 2
    bench.check()


def test_an_edge_cut_short_tells_where_it_ends_now() -> None:
    """After the evict an insert without pages restates the digest, which is that of a hit so long."""
    bench = Bench()
    bench.leave(1, [1, 1, 2, 2, 3, 3])
    bench.cache.evict(1)
    whole, short = bench.history.of("insert")
    assert (short["node"], short["parent"], short["pages"]) == (1, 0, [])
    assert bench.history.kinds()[-4:] == ["evict", "insert", "drop", "free"]
    bench.cache.match(2, [1, 1, 2, 2, 3, 3], MODEL)
    (hit,) = bench.history.of("match")
    assert short["digest"] == hit["digest"] != whole["digest"]
    bench.cache.evict(2)
    assert len(bench.history.of("insert")) == 2
    bench.check()


def test_evicts_the_least_recently_used_edge() -> None:
    """Leaves before parents, older before younger; a match makes its path young."""
    bench = Bench()
    one = bench.leave(1, [1, 1, 1, 2])
    two = bench.leave(2, [2, 2, 2, 3])
    three = bench.leave(3, [3, 3])
    bench.cache.match(9, [1, 1, 1, 2, 0], MODEL)
    assert [bench.cache.evict(1) for _ in range(3)] == [1, 1, 1]
    assert bench.evicted() == [two[1], two[0], *three]
    assert bench.cache.evict(9) == 2
    assert bench.evicted()[3:] == one
    bench.check()


def test_a_hit_leaves_the_rest_of_an_edge_old() -> None:
    """What a split cut off goes first, before what was inserted later."""
    bench = Bench()
    long = bench.leave(1, [1, 1, 2, 2, 3, 3])
    later = bench.leave(2, [7, 7])
    bench.cache.match(3, [1, 1, 0], MODEL)
    assert bench.cache.evict(2) == 2
    assert bench.evicted() == long[1:]
    assert bench.cache.evict(1) == 1
    assert bench.evicted() == [*long[1:], *later]
    bench.check()


def test_a_parent_is_as_young_as_the_child_that_was_used() -> None:
    """A use of a leaf was a use of its path, also when the leaf has gone before."""
    bench = Bench()
    front, middle, last = bench.leave(1, [1, 1, 2, 2, 3, 3])
    bench.cache.match(2, [1, 1, 0], MODEL)
    between = bench.compute(3, [7, 7])
    bench.cache.match(4, [1, 1, 2, 2, 3, 3, 0], MODEL)
    assert bench.cache.evict(2) == 2
    bench.pool.drop(between, Holder("request", 3))
    assert [bench.cache.evict(1), bench.cache.evict(1)] == [1, 1]
    assert bench.evicted() == [middle, last, *between, front]
    bench.check()


def test_an_insert_that_adds_nothing_is_no_use() -> None:
    """A request that computes what is cached already does not keep the pages that it does not use."""
    bench = Bench()
    old = bench.leave(1, [1, 1])
    young = bench.leave(2, [2, 2])
    bench.leave(3, [1, 1])
    bench.cache.evict(1)
    assert bench.evicted() == old
    bench.cache.evict(1)
    assert bench.evicted() == [*old, *young]
    bench.check()


def test_goes_on_behind_a_match_and_survives_its_eviction() -> None:
    """Where a request's path ended is remembered, unless pages before that were evicted meanwhile."""
    bench = Bench()
    bench.leave(1, [1, 2, 3, 4, 5, 6])
    bench.cache.match(2, [1, 2, 3, 4, 5, 6, 7], MODEL)
    assert bench.cache.evict(2) == 2
    pages = bench.compute(2, [1, 2, 3, 4, 5, 6])
    assert bench.cache.match(3, [1, 2, 3, 4, 5, 6, 7], MODEL).pages == [1, *pages[1:]]
    bench.check()


def test_a_place_in_an_edge_that_was_cut_and_grew_again_is_forgotten() -> None:
    """Other pages stand where the request's own tokens stood: it must not go on behind them."""
    bench = Bench()
    bench.leave(1, [1, 1, 2, 2])
    mine = bench.pool.alloc(3, Holder("request", 2))
    tokens = [1, 1, 2, 2, 3, 3]
    assert bench.cache.insert(2, tokens, mine, MODEL, 4) == 0
    assert bench.cache.evict(1) == 1
    other = bench.compute(3, [1, 1, 9, 9])
    assert bench.cache.insert(2, tokens, mine, MODEL, 6) == 2
    assert bench.cache.match(4, [1, 1, 9, 9, 3, 3, 0], MODEL).pages == [1, other[1]]
    assert bench.cache.match(4, [*tokens, 0], MODEL).pages == [1, *mine[1:]]
    bench.check()


def test_a_place_in_an_edge_that_was_split_is_found_above() -> None:
    """The request's front is in the new node now, and it goes on from there."""
    bench = Bench()
    first = bench.compute(1, [1, 1, 2, 2, 3, 3])
    mine = bench.pool.alloc(3, Holder("request", 2))
    tokens = [1, 1, 4, 4, 5, 5]
    assert bench.cache.insert(2, tokens, mine, MODEL, 2) == 0
    bench.cache.match(3, [1, 1, 2, 2, 0], MODEL)
    bench.cache.match(3, [1, 1, 0], MODEL)
    assert bench.cache.insert(2, tokens, mine, MODEL, 6) == 2
    assert bench.cache.match(4, [*tokens, 0], MODEL).pages == [first[0], *mine[1:]]
    bench.check()


def test_more_requests_than_cursors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request whose place was forgotten finds it again, and inserts nothing twice."""
    monkeypatch.setattr(radix_cache, "CURSORS", 1)
    bench = Bench()
    pages = bench.pool.alloc(3, Holder("request", 1))
    bench.cache.insert(1, [1, 2, 3, 4, 5, 6], pages, MODEL, 2)
    bench.compute(2, [8, 8])
    assert bench.cache.insert(1, [1, 2, 3, 4, 5, 6], pages, MODEL, 6) == 2
    bench.check()


def test_evicting_behind_a_fence_retires() -> None:
    """A fence that the request left on the page outlives the request's hold, and a split."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4])
    bench.pool.drop(pages, Holder("request", 1), fence=Fence(id=1, stream=1, ordinal=1, seq=0))
    bench.cache.match(2, [1, 2, 0], MODEL)
    assert bench.cache.evict(2) == 2
    assert bench.pool.counts().retired == 2
    assert bench.pool.reclaim(lambda _: True) == 2


def test_reset_forgets_everything_but_takes_no_page_away() -> None:
    """After new weights no old page matches; a running request keeps its pages, and numbers go on."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4])
    bench.leave(2, [1, 2, 5, 6])
    bench.cache.reset()
    assert (bench.cache.pages(), bench.edges()) == (0, {})
    assert bench.cache.match(3, [1, 2, 3, 4, 5], MODEL).pages == []
    assert [bench.pool.holders(page) for page in pages] == [{Holder("request", 1): "write"}] * 2
    bench.check()
    assert bench.cache.insert(1, [1, 2, 3, 4], pages, MODEL, 4) == 2
    assert bench.edges() == {4: pages}
    bench.check()


@pytest.mark.parametrize("page_size", [16, 17, 64, 256])
def test_page_sizes(page_size: int) -> None:
    """A long prompt is found in full pages of any size, and parts where its tokens do."""
    bench = Bench(pages=40, page_size=page_size)
    tokens = [token * 7 % 32_000 for token in range(30 * page_size)]
    pages = bench.compute(1, tokens)
    assert bench.cache.match(2, tokens, MODEL).pages == pages[:29]
    assert bench.cache.match(2, [*tokens, 0], MODEL).pages == pages
    parts = [*tokens[: 12 * page_size - 1], -1, *tokens[12 * page_size :]]
    assert bench.cache.match(2, parts, MODEL).pages == pages[:11]
    bench.check()


def test_check_finds_what_a_stranger_broke() -> None:
    """A cached page that someone freed is named with its node, and so is a number that is not counted."""
    bench = Bench()
    pages = bench.compute(1, [1, 2])
    bench.pool.drop(pages, Holder("prefix", 1))
    with pytest.raises(InvariantError, match="node 1 does not hold page 1"):
        bench.cache.check()
    other = Bench()
    other.compute(1, [1, 2])
    other.cache._cached = 2
    with pytest.raises(InvariantError, match="2 pages are counted, 1 are cached"):
        other.cache.check()


def test_opens_by_kind() -> None:
    """`radix` is keyed by a secret of its own unless given one."""
    history = History()
    pool = PagePool(history, 4, 16)
    told = []
    for _ in range(2):
        cache = open_cache("radix", history, pool)
        assert isinstance(cache, RadixCache)
        cache.match(1, list(range(17)), MODEL)
        told.append(history.of("match")[-1]["digest"])
    assert told[0] != told[1]


steps = st.tuples(
    st.sampled_from(["m", "n"]), st.lists(st.integers(0, 1), min_size=1, max_size=9), st.integers(0, 3)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, max_size=12))
def test_a_match_has_the_tokens_of_its_pages(work: list[tuple[str, list[int], int]]) -> None:
    """Each page matched was computed for just this front and identity."""
    bench = Bench(pages=200)
    content: dict[tuple[int, int], tuple[Any, ...]] = {}
    for request, (model, tokens, evicted) in enumerate(work, start=1):
        identity, holder = Identity(model=model), Holder("request", request)
        match = bench.cache.match(request, tokens, identity)
        assert len(match.pages) * 2 == match.hit_tokens < len(tokens)
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


Front = tuple[Any, ...]
"""A model and tokens that fill pages."""


class RadixMachine(RuleBasedStateMachine):
    """Requests share prefixes of few tokens; the model is a dict of fronts with ages, and has no edges."""

    @initialize()
    def start(self) -> None:
        """Empty, with more pages than the requests can need."""
        self.bench = Bench(pages=500)
        self.cached: dict[Front, int] = {}
        self.age: dict[Front, int] = {}
        self.clock = 0
        self.running: dict[int, tuple[str, list[int], list[int]]] = {}
        self.requests = 0

    def fronts(self, model: str, tokens: list[int]) -> list[Front]:
        """The full-page fronts of tokens, shortest first."""
        return [(model, *tokens[:end]) for end in range(2, len(tokens) + 1, 2)]

    def use(self, fronts: list[Front]) -> None:
        """A use of a front is a use of all shorter ones."""
        self.clock += 1
        self.age |= dict.fromkeys(fronts, self.clock)

    @precondition(lambda self: len(self.running) < 6)
    @rule(
        model=st.sampled_from("mn"),
        tokens=st.lists(st.integers(0, 1), min_size=1, max_size=9),
        share=st.booleans(),
        computed=st.integers(0, 9),
    )
    def admit(self, model: str, tokens: list[int], share: bool, computed: int) -> None:
        """A prompt hits the longest cached front, or was admitted before it was there; part is computed."""
        self.requests += 1
        holder, identity = Holder("request", self.requests), Identity(model=model)
        hits: list[Front] = []
        if share:
            hits = [front for front in self.fronts(model, tokens[:-1]) if front in self.cached]
            match = self.bench.cache.match(self.requests, tokens, identity)
            assert match.pages == [self.cached[front] for front in hits]
            assert len(match.nodes) == len(match.lives) == len(match.pages)
            self.bench.pool.hold(match.pages, holder, "read")
        if hits:
            self.use(hits)
        fresh = self.bench.pool.alloc(-(-len(tokens) // 2) - len(hits), holder)
        self.running[self.requests] = model, tokens, [*(self.cached[front] for front in hits), *fresh]
        self.offer(self.requests, max(2 * len(hits), min(computed, len(tokens))))

    def offer(self, request: int, computed: int) -> None:
        """Insert, in cache and model."""
        model, tokens, pages = self.running[request]
        fronts = self.fronts(model, tokens[:computed])
        new = [front for front in fronts if front not in self.cached]
        assert self.bench.cache.insert(request, tokens, pages, Identity(model=model), computed) == len(new)
        for front, page in zip(fronts, pages, strict=False):
            self.cached.setdefault(front, page)
        if new:
            self.use(fronts)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), more=st.lists(st.integers(0, 1), max_size=4))
    def compute(self, data: st.DataObject, more: list[int]) -> None:
        """A request computes all it has, and a few tokens more."""
        request = data.draw(st.sampled_from(sorted(self.running)))
        model, tokens, pages = self.running[request]
        if len(tokens) < 14:
            tokens = [*tokens, *more]
        pages = [
            *pages,
            *self.bench.pool.alloc(-(-len(tokens) // 2) - len(pages), Holder("request", request)),
        ]
        self.running[request] = model, tokens, pages
        self.offer(request, len(tokens))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """A request gives its pages back; those cached stay."""
        request = data.draw(st.sampled_from(sorted(self.running)))
        self.bench.pool.drop(self.running.pop(request)[2], Holder("request", request))

    @rule(count=st.integers(0, 5))
    def evict(self, count: int) -> None:
        """The oldest front that nobody uses and that is no part of another goes first, again and again."""
        used = {page for _, _, pages in self.running.values() for page in pages}
        before = len(self.cached)
        for _ in range(count):
            parents = {front[:-2] for front in self.cached}
            leaves = [
                front for front, page in self.cached.items() if front not in parents and page not in used
            ]
            if leaves:
                del self.cached[min(leaves, key=self.age.__getitem__)]
        assert self.bench.cache.evict(count) == before - len(self.cached)

    @rule()
    def reset(self) -> None:
        """Everything is forgotten."""
        self.bench.cache.reset()
        self.cached.clear()

    @invariant()
    def agrees(self) -> None:
        """Cache, model and history have the same pages for the same fronts."""
        self.bench.check()
        have: dict[Front, int] = {}
        for node in self.bench.cache._nodes.values():
            path = node.path()
            tokens = array("i", b"".join(bytes(step.tokens) for step in path)).tolist()
            fronts = self.fronts(node.identity.model, tokens)
            have |= zip(fronts[node.start :], node.pages, strict=True)
        assert have == self.cached
        assert self.bench.cache.pages() == len(self.cached)
        running = {page for _, _, pages in self.running.values() for page in pages}
        assert self.bench.pool.counts().held == len(running | set(self.cached.values()))


RadixMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestRadixCache = RadixMachine.TestCase
