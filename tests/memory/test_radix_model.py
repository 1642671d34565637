"""The radix cache against a model without edges, and an oracle of page contents."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.prefix_bench import Bench
from tests.memory.prefix_machine import PAGES, SIZE, PrefixMachine
from tracert.memory.prefix_cache import Identity
from tracert.record.access import Holder

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


class RadixMachine(PrefixMachine):
    """The radix cache."""

    def __init__(self) -> None:
        super().__init__(Bench(PAGES, SIZE))


RadixMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestRadixCache = RadixMachine.TestCase
