"""The radix cache against a model without edges, and an oracle of page contents."""

from array import array
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.memory.radix_bench import Bench
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
