"""What the radix cache evicts, in which order, and what it must not."""

import pytest

from tests.memory.prefix_bench import MODEL, Bench
from tracert.device.device import Fence
from tracert.record.access import Holder


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


def test_evicting_behind_a_fence_retires() -> None:
    """A fence that the request left on the page outlives the request's hold, and a split."""
    bench = Bench()
    pages = bench.compute(1, [1, 2, 3, 4])
    bench.pool.drop(pages, Holder("request", 1), fence=Fence(id=1, stream=1, ordinal=1, seq=0))
    bench.cache.match(2, [1, 2, 0], MODEL)
    assert bench.cache.evict(2) == 2
    assert bench.pool.counts().retired == 2
    assert bench.pool.reclaim(lambda _: True) == 2
