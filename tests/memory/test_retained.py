"""Retained conversations: kept, found, taken once, and given up."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.memory.fold import Fold
from tests.memory.history import History
from tracert.memory.errors import InvariantError, LayoutError
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity
from tracert.memory.retained import EntryId, RetainedStore
from tracert.record.access import Holder

MODEL = Identity(model="m")
SIZE = 4


class Bench:
    """A store over 19 pages of 4 tokens."""

    def __init__(self, limit: int = 2, pages: int = 20) -> None:
        self.history = History()
        self.pool = PagePool(self.history, pages, SIZE)
        self.store = RetainedStore(self.pool, limit)
        self.requests = 0

    def end(self, tokens: list[int], identity: Identity = MODEL) -> tuple[EntryId, list[int]]:
        """A turn that computed all its tokens, was kept and let go."""
        self.requests += 1
        holder = Holder("request", self.requests)
        pages = self.pool.alloc(-(-len(tokens) // SIZE), holder)
        entry_id = self.store.keep(tokens, pages, identity, len(tokens))
        self.pool.drop(pages, holder)
        assert entry_id is not None
        return entry_id, pages

    def check(self) -> None:
        """No contradiction, and the history has the same holders."""
        self.pool.check()
        self.store.check()
        fold = Fold(self.history.told)
        for page in range(1, self.pool.pages):
            assert fold.holders.get(page, {}) == self.pool.holders(page)


def test_keeps_the_pages_of_a_turn_until_the_next() -> None:
    """Full pages and the one filled in part; who takes the entry holds them first."""
    bench = Bench()
    entry_id, pages = bench.end([1, 2, 3, 4, 5])
    assert [bench.pool.holders(page) for page in pages] == [{Holder("checkpoint", 1): "read"}] * 2
    assert bench.store.find([1, 2, 3, 4, 5, 6], MODEL) == entry_id
    seen = bench.store.look(entry_id)
    assert seen is not None
    assert (seen.pages, seen.lives, seen.computed) == (pages, [1, 1], 5)
    mine = Holder("request", 9)
    bench.pool.hold(pages[:1], mine, "read")
    bench.pool.hold(pages[1:], mine, "write")
    assert bench.store.take(entry_id) == seen
    assert bench.pool.holders(pages[1]) == {mine: "write"}
    assert bench.pool.lives(pages) == [1, 1]
    assert bench.store.find([1, 2, 3, 4, 5, 6], MODEL) is None
    bench.check()


def test_the_second_lane_that_wants_an_entry_gets_none() -> None:
    """Its id names a generation that has passed, also when the slot is in use again."""
    bench = Bench(limit=1)
    entry_id, _ = bench.end([1, 2, 3])
    assert bench.store.take(entry_id) is not None
    assert bench.store.take(entry_id) is None
    again, _ = bench.end([1, 2, 3])
    assert again == EntryId(entry_id.slot, entry_id.generation + 1)
    assert bench.store.take(entry_id) is None
    assert bench.store.look(entry_id) is None
    assert bench.store.take(again) is not None
    bench.check()


def test_who_could_not_go_on_gives_the_entry_back() -> None:
    """It is kept again under another id, with the pages it had."""
    bench = Bench(limit=1)
    entry_id, pages = bench.end([1, 2, 3])
    bench.pool.hold(pages, Holder("request", 9), "write")
    entry = bench.store.take(entry_id)
    assert entry is not None
    again = bench.store.give_back(entry)
    bench.pool.drop(pages, Holder("request", 9))
    assert bench.store.take(entry_id) is None
    assert bench.store.find([1, 2, 3, 4], MODEL) == again
    assert [bench.pool.holders(page) for page in pages] == [{Holder("checkpoint", 2): "read"}]
    bench.check()


def test_finds_the_longest_entry_that_leaves_a_token() -> None:
    """Only of the same identity, and only one whose tokens the prompt begins with."""
    bench = Bench(limit=9)
    short, _ = bench.end([1, 2])
    longer, _ = bench.end([1, 2, 3, 4, 5])
    bench.end([1, 2, 9])
    salted = Identity(model="m", salt="s")
    other, _ = bench.end([1, 2, 3, 4, 5, 6], salted)
    assert bench.store.find([1, 2, 3, 4, 5, 6, 7], MODEL) == longer
    assert bench.store.find([1, 2, 3, 4, 5, 6, 7], salted) == other
    assert bench.store.find([1, 2, 3, 4, 5], MODEL) == short
    assert bench.store.find([1, 2], MODEL) is None
    assert bench.store.find([2, 2, 2], MODEL) is None
    youngest, _ = bench.end([1, 2])
    assert bench.store.find([1, 2, 8], MODEL) == youngest


def test_keeps_only_what_is_computed() -> None:
    """Pages behind the frontier are not kept, and a turn without a computed token is no entry."""
    bench = Bench()
    holder = Holder("request", 1)
    pages = bench.pool.alloc(3, holder)
    assert bench.store.keep([1, 2, 3, 4, 5, 6], pages, MODEL, 0) is None
    bench.store.keep([1, 2, 3, 4, 5, 6], pages, MODEL, 4)
    assert bench.pool.holders(pages[1]) == {holder: "write"}
    assert bench.store.find([1, 2, 3, 4, 9], MODEL) is not None
    bench.check()


def test_the_oldest_gives_way() -> None:
    """By number, and for want of pages: as many entries go as free that many pages."""
    bench = Bench(limit=2)
    _, first = bench.end([1, 2, 3, 4])
    second, kept = bench.end([2, 2, 3, 4, 5])
    third, _ = bench.end([3, 2, 3])
    assert bench.pool.state(first[0]) == "free"
    assert len(bench.store) == 2
    assert bench.store.evict(1) == 2
    assert [bench.pool.state(page) for page in kept] == ["free", "free"]
    assert bench.store.look(second) is None
    assert bench.store.look(third) is not None
    assert bench.store.evict(9) == 1
    assert bench.store.evict(9) == 0
    bench.check()


def test_a_page_that_others_hold_is_not_counted_as_given_up() -> None:
    """Prefixes can be asked for it then; a request can't, so another entry goes."""
    bench = Bench(limit=9)
    _, shared = bench.end([1, 2, 3])
    _, cached = bench.end([2, 2, 3])
    bench.pool.hold(shared, Holder("request", 9), "read")
    bench.pool.hold(cached, Holder("prefix", 1), "read")
    assert bench.store.evict(1) == 1
    assert len(bench.store) == 0
    assert bench.pool.state(cached[0]) == "held"
    bench.check()


def test_reset_lets_all_go() -> None:
    """After new weights nothing that was computed may be gone on from."""
    bench = Bench()
    bench.end([1, 2, 3])
    bench.end([2, 2, 3])
    bench.store.reset()
    assert (len(bench.store), bench.pool.available()) == (0, 19)
    bench.check()


def test_check_finds_what_a_stranger_broke() -> None:
    """A page that someone gave back for the entry is named."""
    bench = Bench()
    _, pages = bench.end([1, 2, 3])
    bench.pool.drop(pages, Holder("checkpoint", 1))
    with pytest.raises(InvariantError, match="entry 1 does not hold page 1"):
        bench.store.check()


def test_refuses_a_store_of_nothing() -> None:
    """None is said by leaving the store out."""
    with pytest.raises(LayoutError, match="0 retained conversations are none; give at least 1"):
        RetainedStore(PagePool(History(), 4, SIZE), 0)


class RetainedMachine(RuleBasedStateMachine):
    """Turns end and go on in lanes that race for entries; the model is a list, the youngest last."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(limit=3, pages=200)
        self.kept: list[tuple[EntryId, str, list[int], list[int]]] = []
        self.running: dict[int, tuple[str, list[int], list[int]]] = {}
        self.wanted: dict[int, tuple[str, list[int], EntryId]] = {}

    @precondition(lambda self: len(self.running) < 4)
    @rule(model=st.sampled_from("mn"), tokens=st.lists(st.integers(0, 1), min_size=1, max_size=9))
    def arrive(self, model: str, tokens: list[int]) -> None:
        """A turn that goes on from the longest entry, once it takes it, or starts in pages of its own."""
        self.bench.requests += 1
        request = self.bench.requests
        fit = [
            (entry_id, have)
            for entry_id, named, have, _ in self.kept
            if named == model and len(have) < len(tokens) and tokens[: len(have)] == have
        ]
        longest = max((len(have) for _, have in fit), default=0)
        expected = [entry_id for entry_id, have in fit if len(have) == longest][-1:]
        found = self.bench.store.find(tokens, Identity(model=model))
        assert [found] == (expected or [None])
        if found is None:
            self.running[request] = model, tokens, self.pages_for(request, tokens, [])
        else:
            self.wanted[request] = model, tokens, found

    def pages_for(self, request: int, tokens: list[int], pages: list[int]) -> list[int]:
        """The pages, and as many more as the tokens need."""
        count = -(-len(tokens) // SIZE) - len(pages)
        return [*pages, *self.bench.pool.alloc(count, Holder("request", request))]

    @precondition(lambda self: self.wanted)
    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        """The first lane gets the entry; later ones, and those whose entry went, get nothing."""
        request = data.draw(st.sampled_from(sorted(self.wanted)))
        model, tokens, entry_id = self.wanted.pop(request)
        mine = [(have, pages) for other, _, have, pages in self.kept if other == entry_id]
        seen = self.bench.store.look(entry_id)
        assert (seen is not None) == bool(mine)
        pages: list[int] = []
        if seen is not None:
            assert [(len(have), pages) for have, pages in mine] == [(seen.computed, seen.pages)]
            pages, part = seen.pages, seen.computed % SIZE
            holder, whole = Holder("request", request), len(pages) - (part > 0)
            self.bench.pool.hold(pages[:whole], holder, "read")
            self.bench.pool.hold(pages[whole:], holder, "write")
            assert self.bench.store.take(entry_id) == seen
            self.kept = [kept for kept in self.kept if kept[0] != entry_id]
        assert self.bench.store.take(entry_id) is None
        self.running[request] = model, tokens, self.pages_for(request, tokens, pages)

    @precondition(lambda self: self.running)
    @rule(data=st.data(), left=st.integers(0, 2), keep=st.booleans())
    def end(self, data: st.DataObject, left: int, keep: bool) -> None:
        """A turn ends, its last tokens not computed; it is kept, unless it was aborted."""
        request = data.draw(st.sampled_from(sorted(self.running)))
        model, tokens, pages = self.running.pop(request)
        computed = max(len(tokens) - left, 0)
        if keep:
            entry_id = self.bench.store.keep(tokens, pages, Identity(model=model), computed)
            assert (entry_id is None) == (computed == 0)
            if entry_id is not None:
                self.kept.append((entry_id, model, tokens[:computed], pages[: -(-computed // SIZE)]))
                self.kept = self.kept[-3:]
        self.bench.pool.drop(pages, Holder("request", request))

    @rule(count=st.integers(0, 4))
    def evict(self, count: int) -> None:
        """The oldest go until so many pages are free."""
        freed = 0
        while self.kept and freed < count:
            freed += len(self.kept.pop(0)[3])
        assert self.bench.store.evict(count) == freed

    @invariant()
    def agrees(self) -> None:
        """Store, model, pool and history agree."""
        self.bench.check()
        assert len(self.bench.store) == len(self.kept)
        held: set[Any] = {page for _, _, pages in self.running.values() for page in pages}
        held |= {page for _, _, _, pages in self.kept for page in pages}
        assert self.bench.pool.counts().held == len(held)


RetainedMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestRetainedStore = RetainedMachine.TestCase


def test_more_entries_than_pages_take_no_room():
    """A limit that could never be reached is not laid out: it took gigabytes."""
    pool = PagePool(History(), 5, 16)
    assert len(RetainedStore(pool, 2**31 - 1)._generation) == 5
