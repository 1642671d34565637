"""Requests share prefixes of few tokens, whole pages and tails; the model is dicts of fronts, and no tree."""

from array import array
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.memory.history import pairs
from tests.memory.prefix_bench import Bench
from tracert.memory.prefix import Match
from tracert.memory.prefix_cache import Identity
from tracert.record.access import Holder

SIZE = 3
"""Positions a page: few, so that fronts meet, and more than 2, so that tails have several lengths."""
PAGES = 600

Front = tuple[Any, ...]
"""A model and tokens: whole pages of them in `cached`, any other number in `tails`."""

token = st.integers(0, 1)


class PrefixMachine(RuleBasedStateMachine):
    """A cache of the kind that `bench` has, the model, and what each page holds in its life."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self.cached: dict[Front, int] = {}
        self.tails: dict[Front, int] = {}
        self.age: dict[Front, int] = {}
        self.clock = 0
        self.running: dict[int, tuple[str, list[int], list[int]]] = {}
        self.content: dict[tuple[int, int], Front] = {}
        self.requests = 0

    def fronts(self, model: str, tokens: list[int]) -> list[Front]:
        """The fronts of whole pages, shortest first."""
        return [(model, *tokens[:end]) for end in range(SIZE, len(tokens) + 1, SIZE)]

    def use(self, fronts: list[Front]) -> None:
        """A use of a front is a use of all shorter ones."""
        self.clock += 1
        self.age |= dict.fromkeys(fronts, self.clock)

    @precondition(lambda self: len(self.running) < 6)
    @rule(
        model=st.sampled_from("mn"),
        tokens=st.lists(token, min_size=1, max_size=11),
        share=st.booleans(),
        computed=st.integers(0, 11),
    )
    def admit(self, model: str, tokens: list[int], share: bool, computed: int) -> None:
        """A prompt hits the longest cached front, or was admitted before it was there; part is computed."""
        self.requests += 1
        holder, pool = Holder("request", self.requests), self.bench.pool
        match = Match([], [], 0, [])
        if share:
            match = self.bench.cache.match(self.requests, tokens, Identity(model=model))
            self.judge(match, model, tokens)
        pool.hold(match.pages, holder, "read")
        if match.tail:
            # Held while pages are granted, copied, given back.
            pool.hold([match.tail.page], holder, "read")
        fresh = pool.alloc(-(-len(tokens) // SIZE) - len(match.pages), holder)
        if match.tail:
            pool.drop([match.tail.page], holder, "read")
        self.running[self.requests] = model, tokens, [*match.pages, *fresh]
        self.offer(self.requests, max(match.hit_tokens, min(computed, len(tokens))))

    def judge(self, match: Match, model: str, tokens: list[int]) -> None:
        """Is the match the longest one, and do its pages hold what it says?"""
        hits = [front for front in self.fronts(model, tokens[:-1]) if front in self.cached]
        assert match.pages == [self.cached[front] for front in hits]
        whole = len(hits) * SIZE
        wanted = tokens[:-1][: whole + SIZE]
        below = {
            front: page
            for front, page in (self.cached | self.tails).items()
            if front[: whole + 1] == (model, *tokens[:whole]) and whole < len(front) - 1 <= whole + SIZE
        }
        common = {front: _common(list(front[1:]), wanted) - whole for front in below}
        longest = max(common.values(), default=0)
        assert (match.tail.tokens if match.tail else 0) == longest
        assert match.hit_tokens == whole + longest
        used = hits
        if match.tail:
            assert self.content[match.tail.page, match.tail.life][: whole + longest + 1] == (
                model,
                *tokens[: whole + longest],
            )
            (found,) = [front for front, page in below.items() if page == match.tail.page]
            assert common[found] == longest
            used = [*hits, *([found] if found in self.tails else [])]
        for end, (page, life) in enumerate(pairs(match.pages, match.lives), start=1):
            assert self.content[page, life][: end * SIZE + 1] == (model, *tokens[: end * SIZE])
        if used:
            self.use(used)

    def offer(self, request: int, computed: int, ended: bool = False) -> None:
        """Insert, in cache and model."""
        model, tokens, pages = self.running[request]
        for index, key in enumerate(pairs(pages, self.bench.pool.lives(pages))):
            held = (model, *tokens[: min(computed, (index + 1) * SIZE)])
            self.content[key] = max(self.content.get(key, ()), held, key=len)
        fronts = self.fronts(model, tokens[:computed])
        new = [front for front in fronts if front not in self.cached]
        part: list[Front] = [(model, *tokens[:computed])] if ended and computed % SIZE else []
        new += [front for front in part if not any(self.goes_on(other, front) for other in self.all())]
        for front, page in zip([*fronts, *part], pages, strict=False):
            if front in new:
                for shorter in [tail for tail in self.tails if self.goes_on(front, tail)]:
                    del self.tails[shorter]
                (self.tails if front in part else self.cached)[front] = page
        added = self.bench.cache.insert(request, tokens, pages, Identity(model=model), computed, ended=ended)
        assert added == len(new)
        if new:
            self.use([*fronts, *new])

    def all(self) -> dict[Front, int]:
        """Every front that is cached."""
        return self.cached | self.tails

    def goes_on(self, front: Front, begin: Front) -> bool:
        """Do both end inside the same page, and has the first all positions of the second?"""
        same_page = -(-(len(front) - 1) // SIZE) == -(-(len(begin) - 1) // SIZE)
        return same_page and front[: len(begin)] == begin

    @precondition(lambda self: self.running)
    @rule(data=st.data(), more=st.lists(token, max_size=4))
    def compute(self, data: st.DataObject, more: list[int]) -> None:
        """A request computes all it has, and a few tokens more."""
        request = data.draw(st.sampled_from(sorted(self.running)))
        self.lengthen(request, more)
        self.offer(request, len(self.running[request][1]))

    def lengthen(self, request: int, more: list[int]) -> None:
        """More tokens, and pages for them."""
        model, tokens, pages = self.running[request]
        if len(tokens) < 16:
            tokens = [*tokens, *more]
        count = -(-len(tokens) // SIZE) - len(pages)
        pages = [*pages, *self.bench.pool.alloc(count, Holder("request", request))]
        self.running[request] = model, tokens, pages

    @precondition(lambda self: self.running)
    @rule(data=st.data(), ended=st.booleans(), left=st.integers(0, 2))
    def finish(self, data: st.DataObject, ended: bool, left: int) -> None:
        """A request gives its pages back, aborted or at its end; what is cached stays."""
        request = data.draw(st.sampled_from(sorted(self.running)))
        if ended:
            self.offer(request, max(len(self.running[request][1]) - left, 0), ended=True)
        self.bench.pool.drop(self.running.pop(request)[2], Holder("request", request))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), more=st.lists(token, min_size=1, max_size=4))
    def turn(self, data: st.DataObject, more: list[int]) -> None:
        """A request ends, and another goes on in its pages: it appends behind what others may copy."""
        request = data.draw(st.sampled_from(sorted(self.running)))
        model, tokens, pages = self.running[request]
        self.offer(request, len(tokens), ended=True)
        self.requests += 1
        self.bench.pool.hold(pages, Holder("request", self.requests), "read")
        self.bench.pool.drop(pages, Holder("request", request))
        del self.running[request]
        self.running[self.requests] = model, tokens, pages
        self.lengthen(self.requests, more)
        self.offer(self.requests, len(self.running[self.requests][1]))

    @rule(count=st.integers(0, 5))
    def evict(self, count: int) -> None:
        """The oldest front that nobody uses and that is no part of another goes first, again and again."""
        used = {page for _, _, pages in self.running.values() for page in pages}
        before = len(self.all())
        for _ in range(count):
            whole = self.all()
            parents = {front[: (len(front) - 2) // SIZE * SIZE + 1] for front in whole}
            leaves = [front for front, page in whole.items() if front not in parents and page not in used]
            if leaves:
                oldest = min(leaves, key=self.age.__getitem__)
                (self.tails if oldest in self.tails else self.cached).pop(oldest)
        assert self.bench.cache.evict(count) == before - len(self.all())

    @rule()
    def reset(self) -> None:
        """Everything is forgotten."""
        self.bench.cache.reset()
        self.cached.clear()
        self.tails.clear()

    @invariant()
    def agrees(self) -> None:
        """Cache, model and history have the same pages for the same fronts."""
        self.bench.check()
        have: dict[Front, int] = {}
        for node in self.bench.cache._nodes.values():
            path = node.path()
            tokens = array("i", b"".join(bytes(step.tokens) for step in path)).tolist()
            fronts = self.fronts(node.identity.model, tokens)[node.start :]
            have |= zip(fronts or [(node.identity.model, *tokens)], node.pages, strict=True)
        assert have == self.all()
        assert self.bench.cache.pages() == len(have)
        running = {page for _, _, pages in self.running.values() for page in pages}
        counts = self.bench.pool.counts()
        assert counts.held == len(running | set(have.values()))
        assert sum(counts) + 1 == PAGES


def _common(one: list[int], other: list[int]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
