"""What both prefix caches do alike: tails that end inside a page, digests of requests, and spills."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.memory.prefix_bench import MODEL, SECRET, Bench
from tracert.device.device import Fence
from tracert.memory.errors import InvariantError
from tracert.memory.hash_cache import HashCache
from tracert.memory.prefix import Tail
from tracert.memory.prefix_digest import page_digests, root_digest, token_bytes
from tracert.memory.radix_cache import RadixCache
from tracert.record.access import Holder

SIZE = 4


@pytest.fixture(params=[HashCache, RadixCache])
def bench(request: Any) -> Bench:
    """A cache of each kind over 19 pages of 4 tokens."""
    return Bench(20, SIZE, request.param)


def end(bench: Bench, request: int, tokens: list[int], drop: bool = True) -> list[int]:
    """A request that computed all its tokens in pages of its own, and ended."""
    pages = bench.pool.alloc(-(-len(tokens) // SIZE), Holder("request", request))
    bench.cache.insert(request, tokens, pages, MODEL, len(tokens), ended=True)
    if drop:
        bench.pool.drop(pages, Holder("request", request))
    return pages


def tail(bench: Bench, tokens: list[int]) -> tuple[int, int, int] | None:
    """Page, positions and hit tokens of what a prompt gets behind its whole pages."""
    match = bench.cache.match(99, tokens, MODEL)
    return (match.tail.page, match.tail.tokens, match.hit_tokens) if match.tail else None


def test_a_page_filled_in_part_is_cached_when_its_request_ends(bench):
    """Not before: until then it is written; a prompt gets as many of its positions as it has tokens for."""
    tokens = [1, 2, 3, 4, 5, 6]
    pages = bench.pool.alloc(2, Holder("request", 1))
    assert bench.cache.insert(1, tokens, pages, MODEL, 6) == 1
    assert tail(bench, [*tokens, 7]) is None
    assert bench.cache.insert(1, tokens, pages, MODEL, 6, ended=True) == 1
    assert bench.cache.pages() == 2
    assert tail(bench, [*tokens, 7, 8]) == (pages[1], 2, 6)
    assert tail(bench, tokens) == (pages[1], 1, 5)
    assert tail(bench, [1, 2, 3, 4, 5, 9, 9]) == (pages[1], 1, 5)
    assert tail(bench, [1, 2, 3, 4, 9, 6, 7]) is None
    assert tail(bench, [1, 2, 3, 4, 5]) is None
    assert bench.history.of("insert")[-1]["positions"] == 2
    bench.check()


def test_a_prompt_shorter_than_a_page_is_a_tail_of_the_root(bench):
    """It hangs below the identity's root, and the miss of whole pages has node 0."""
    (page,) = end(bench, 1, [1, 2, 3])
    assert tail(bench, [1, 2, 9]) == (page, 2, 2)
    match = bench.history.of("match")[-1]
    assert (match["node"], match["pages"], match["hit_tokens"]) == (0, [(page, 1)], 2)
    assert match["digest"] == root_digest(SECRET, MODEL)
    bench.check()


def test_the_front_of_a_full_page_serves_as_a_tail(bench):
    """Where two prompts part inside a page, the longest common front is copied from the better one."""
    one = end(bench, 1, [1, 2, 3, 4, 5, 6, 7, 8])
    two = end(bench, 2, [1, 2, 3, 4, 5, 6, 9, 9])
    assert tail(bench, [1, 2, 3, 4, 5, 6, 9, 1, 1]) == (two[1], 3, 7)
    assert tail(bench, [1, 2, 3, 4, 5, 6, 7, 8]) == (one[1], 3, 7)
    assert tail(bench, [1, 2, 3, 4, 5, 6, 7, 8, 9]) is None
    bench.check()


def test_a_longer_continuation_takes_the_place_of_a_shorter(bench):
    """No page is cached beside one that has all its positions, whichever comes first."""
    short = end(bench, 1, [1, 2, 3, 4, 5])
    longer = end(bench, 2, [1, 2, 3, 4, 5, 6, 7])
    assert bench.pool.state(short[1]) == "free"
    assert tail(bench, [1, 2, 3, 4, 5, 6, 7, 9]) == (longer[1], 3, 7)
    end(bench, 3, [1, 2, 3, 4, 5, 6])
    assert bench.cache.pages() == 2
    whole = end(bench, 4, [1, 2, 3, 4, 5, 6, 7, 8])
    assert bench.pool.state(longer[1]) == "free"
    end(bench, 5, [1, 2, 3, 4, 5, 6, 7])
    assert bench.cache.match(6, [1, 2, 3, 4, 5, 6, 7, 8, 9], MODEL).pages == [short[0], whole[1]]
    assert bench.cache.pages() == 2
    bench.check()


def test_a_tail_that_its_own_page_outgrows_stays_where_it_is(bench):
    """A turn goes on in the page of the one before: the page moves from the tail to what it has become."""
    tokens = [1, 2, 3, 4, 5, 6]
    pages = end(bench, 1, tokens, drop=False)
    assert bench.cache.insert(2, [*tokens, 7], pages, MODEL, 7, ended=True) == 1
    assert tail(bench, [*tokens, 7, 8, 9]) == (pages[1], 3, 7)
    assert bench.cache.insert(3, [*tokens, 7, 8, 9], pages, MODEL, 8) == 1
    assert bench.cache.match(4, [*tokens, 7, 8, 9], MODEL).pages == pages
    assert bench.pool.count(pages[1]) == 2
    assert bench.pool.lives(pages) == [1, 1]
    bench.check()


def test_a_tail_is_evicted_before_what_it_hangs_below(bench):
    """It is a leaf like others: least recently used first, and locked while somebody holds it."""
    pages = end(bench, 1, [1, 2, 3, 4, 5])
    other = end(bench, 2, [7, 7, 7, 7])
    bench.pool.hold([pages[1]], Holder("transfer", 1), "read")
    assert bench.cache.evict(9) == 1
    assert bench.evicted() == other
    bench.pool.drop([pages[1]], Holder("transfer", 1))
    assert bench.cache.evict(9) == 2
    assert bench.evicted() == [*other, pages[1], pages[0]]
    bench.check()


def test_a_tail_that_was_hit_is_young(bench):
    """The older of two goes first, unless it was used since."""
    one, two = end(bench, 1, [1, 1]), end(bench, 2, [2, 2])
    assert tail(bench, [1, 1, 5]) == (one[0], 2, 2)
    bench.cache.evict(1)
    assert bench.evicted() == two
    bench.check()


def test_a_tail_inside_an_edge_needs_a_place_of_its_own():
    """The edge of a radix tree parts where the tail hangs, unless its next page has the positions."""
    bench = Bench(20, SIZE, RadixCache)
    pages = end(bench, 1, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    end(bench, 2, [1, 1, 1, 1, 2, 2])
    assert bench.edges() == {1: pages}
    other = end(bench, 3, [1, 1, 1, 1, 2, 2, 9])
    assert bench.edges() == {1: pages[1:], 2: pages[:1], 3: other[1:]}
    bench.check()


def test_an_edge_grows_over_its_tail():
    """A turn that goes on behind a tail lengthens the edge of its front: no node is left beside it."""
    bench = Bench(20, SIZE, RadixCache)
    first = end(bench, 1, [1, 1, 1, 1, 2, 2])
    second = end(bench, 2, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4])
    assert bench.edges() == {1: [first[0], *second[1:]]}
    bench.check()


def test_a_match_is_told_by_the_digest_of_its_own_tokens(bench):
    """The same chain for caches of both kinds and for whoever else names pages."""
    tokens = list(range(11))
    end(bench, 1, tokens)
    bench.cache.match(2, tokens, MODEL)
    names = page_digests(SECRET, MODEL, tokens, SIZE)
    assert len(names) == 2
    assert bench.history.of("match")[-1]["digest"] == names[1]
    assert names[0] == page_digests(SECRET, MODEL, tokens[:4], SIZE)[0] != names[1]
    assert page_digests(SECRET, MODEL, tokens[:3], SIZE) == []


class Spilled:
    """Takes what is spilled, and answers with a fence."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.taken: list[tuple[bytes, bytes, int, int]] = []
        self.held: list[bool] = []

    def __call__(
        self, digests: Sequence[bytes], blocks: Sequence[bytes], pages: Sequence[int], lives: Sequence[int]
    ) -> Fence:
        """Remember the pages, and whether they are held."""
        self.taken += zip(digests, blocks, pages, lives, strict=True)
        self.held += [self.bench.pool.state(page) == "held" for page in pages]
        return Fence(id=1, stream=2, ordinal=1, seq=0)


@pytest.mark.parametrize("kind", [HashCache, RadixCache])
def test_full_pages_are_spilled_before_they_go(kind):
    """With the names and tokens by which they are found again; not a tail, nor what is replaced."""
    bench = Bench(20, SIZE, kind)
    spilled = Spilled(bench)
    bench.cache = kind(bench.history, bench.pool, SECRET, spill=spilled)
    end(bench, 1, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    pages = end(bench, 2, [1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
    assert bench.pool.state(pages[2]) == "held"
    assert spilled.taken == []
    assert bench.cache.evict(9) == 3
    names = page_digests(SECRET, MODEL, list(range(1, 9)), SIZE)
    blocks = [token_bytes([1, 2, 3, 4]), token_bytes([5, 6, 7, 8])]
    assert sorted(spilled.taken, key=lambda told: told[2]) == [
        (names[0], blocks[0], 1, 1),
        (names[1], blocks[1], 2, 1),
    ]
    assert spilled.held == [True, True]
    # The tail's page waits for nothing; those that are copied are retired behind the copy.
    assert bench.pool.counts() == (17, 0, 2)
    bench.check()


def test_check_finds_a_page_beside_one_that_begins_with_it(bench):
    """A duplicate would never be chosen and never be missed."""
    end(bench, 1, [1, 2, 3])
    (node,) = bench.cache._nodes.values()
    del node.tokens[-4:]
    root = node.parent
    root.children.take(token_bytes([1, 2, 3]))
    root.children.put(node.key, node)
    bench.cache.check()
    other = bench.pool.alloc(1, Holder("request", 2))
    root.children.put(
        token_bytes([1, 2, 4]),
        type(node)(7, root, MODEL, 16, 0, [b"", b""], bytearray(token_bytes([1, 2, 4])), other, [1]),
    )
    with pytest.raises(InvariantError, match="below node 0 a page is cached beside one that begins with it"):
        bench.cache.check()


def test_a_tail_names_page_life_positions_and_node(bench):
    """What the engine copies, and what `check` and the history can be asked about it."""
    pages = end(bench, 1, [1, 2, 3, 4, 5])
    assert bench.cache.match(2, [1, 2, 3, 4, 5, 6], MODEL).tail == Tail(pages[1], 1, 1, 2)
