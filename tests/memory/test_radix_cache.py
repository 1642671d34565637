"""The radix prefix cache: matches, splits, inserts, identities, and the history of each."""

from array import array

import pytest

from tests.memory.history import History
from tests.memory.prefix_bench import MODEL, SECRET, Bench
from tracert.memory import prefix_tree
from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import Identity, open_cache
from tracert.memory.radix_cache import RadixCache
from tracert.record.access import Holder


def test_matches_full_pages_and_leaves_a_token() -> None:
    """The last token is always left to compute, and a page counts when it is full."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4, 5])
    assert bench.cache.pages() == 2
    assert bench.cache.match(2, [1, 2, 3, 4, 5], MODEL) == (pages[:2], [1, 1], 4, [1, 1], None)
    assert bench.cache.match(2, [9, 2, 3, 4, 5], MODEL) == ([], [], 0, [], None)
    assert bench.cache.match(2, [1], MODEL) == ([], [], 0, [], None)
    assert bench.cache.match(2, [], MODEL) == ([], [], 0, [], None)
    assert bench.edges() == {1: pages[:2]}
    assert bench.cache.match(2, [1, 2, 3, 4], MODEL) == (pages[:1], [1], 3, [2], (pages[1], 1, 1, 1))
    assert bench.cache.match(2, [1, 2, 9, 4, 5], MODEL) == (pages[:1], [1], 2, [2], None)
    assert bench.cache.match(2, [1, 2, 3, 4, 5], MODEL) == (pages[:2], [1, 1], 4, [2, 1], None)
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
    assert bench.cache.match(2, [1, 1, 2, 2, 9], MODEL) == (pages[:2], [1, 1], 4, [2, 2], None)
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
    assert bench.cache.match(2, [1, 1, 2, 2, 3, 3, 4], MODEL) == (pages, [1, 1, 1], 6, [1, 1, 1], None)
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
    monkeypatch.setattr(prefix_tree, "CURSORS", 1)
    bench = Bench()
    pages = bench.pool.alloc(3, Holder("request", 1))
    bench.cache.insert(1, [1, 2, 3, 4, 5, 6], pages, MODEL, 2)
    bench.compute(2, [8, 8])
    assert bench.cache.insert(1, [1, 2, 3, 4, 5, 6], pages, MODEL, 6) == 2
    bench.check()


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
