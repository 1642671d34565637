"""The page pool against a simple model, and against its own history."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.memory.fold import Fold
from tests.memory.history import History
from tracert.device.device import Fence
from tracert.memory.errors import InvariantError, LayoutError, NoRoom
from tracert.memory.pool import RESERVED, Counts, PagePool
from tracert.record.access import Holder
from tracert.record.recorder import Keyframe

A, B, C = Holder("request", 1), Holder("request", 2), Holder("request", 3)
FENCE = Fence(id=7, stream=1, ordinal=4, seq=0)


def pool(pages: int = 9) -> tuple[PagePool, History]:
    """A pool of 16-token pages and its history, the reserved page already told."""
    history = History()
    return PagePool(history, pages, 16), history


def test_grants_oldest_first_in_new_lives() -> None:
    """Pages leave in the order in which they came back, each time in the next life."""
    have, _ = pool(4)
    assert have.alloc(2, A) == [1, 2]
    have.drop([2], A)
    have.drop([1], A)
    assert have.alloc(3, B) == [3, 2, 1]
    assert have.lives([3, 2, 1]) == [1, 2, 2]


def test_reserves_page_0() -> None:
    """Page 0 is held by `reserved:0` from the start, is told once and never granted."""
    have, history = pool(3)
    assert history.told == [("alloc", {"pages": [(0, 1)], "holder": RESERVED})]
    assert have.alloc(2, A) == [1, 2]
    assert have.holders(0) == {RESERVED: "write"}
    assert Counts(free=0, held=2, retired=0) == have.counts()


def test_refuses_a_grant_that_does_not_fit_and_grants_none() -> None:
    """NoRoom names the counts, and the pool is as before."""
    have, history = pool(4)
    have.alloc(2, A)
    before = list(history.told)
    with pytest.raises(NoRoom, match=r"^no room for 2 pages: 1 free, 2 held, 0 retired of 4; ask available"):
        have.alloc(2, B)
    assert before == history.told
    assert have.available() == 1


def test_needs_a_page_beside_the_reserved_one() -> None:
    """A pool of one page is refused in one line."""
    with pytest.raises(LayoutError, match=r"^no room for one page: the pool has 1, and page 0 is reserved"):
        PagePool(History(), 1, 16)


def test_a_shared_page_is_freed_by_its_last_drop() -> None:
    """One record a call, with all its pages; the mode dropped is the mode held."""
    have, history = pool()
    pages = have.alloc(2, A)
    have.hold(pages, B, "read")
    have.drop(pages, A)
    assert history.told[-1] == ("drop", {"pages": [(1, 1), (2, 1)], "holder": A, "mode": "write"})
    have.drop(pages, B)
    assert history.told[-2] == ("drop", {"pages": [(1, 1), (2, 1)], "holder": B, "mode": "read"})
    assert history.told[-1] == ("free", {"pages": [(1, 1), (2, 1)]})
    assert Counts(free=8, held=0, retired=0) == have.counts()


def test_a_fence_retires_until_it_has_passed() -> None:
    """The last drop behind a fence retires; `reclaim` frees once the fence has passed."""
    have, history = pool()
    pages = have.alloc(3, A)
    have.drop(pages, A, fence=FENCE)
    assert history.told[-1] == ("retire", {"pages": [(1, 1), (2, 1), (3, 1)], "fence": 7})
    assert Counts(free=5, held=0, retired=3) == have.counts()
    assert have.reclaim(lambda _: False) == 0
    assert have.reclaim(lambda fence: fence == FENCE) == 3
    assert history.told[-1] == ("free", {"pages": [(1, 1), (2, 1), (3, 1)]})
    have.check()


def test_an_earlier_drop_leaves_its_fence_to_the_last() -> None:
    """A prefix that outlives its request must not free what the request's launches still read."""
    have, _ = pool()
    pages = have.alloc(1, A)
    have.hold(pages, Holder("prefix", 1), "read")
    have.drop(pages, A, fence=FENCE)
    have.drop(pages, Holder("prefix", 1))
    assert have.state(1) == "retired"


def test_a_fence_known_to_have_passed_guards_nothing() -> None:
    """After `reclaim` learned of a later point of the stream, an earlier fence frees at once."""
    have, _ = pool()
    first, second = have.alloc(1, A), have.alloc(1, A)
    have.hold(second, B, "read")
    have.drop(second, A, fence=FENCE)
    have.drop(first, A, fence=FENCE)
    assert have.reclaim(lambda _: True) == 1
    have.drop(second, B)
    assert have.state(second[0]) == "free"


def test_reclaim_asks_each_stream_until_it_says_no() -> None:
    """A stream that lags does not hold back another; within a stream, order is kept."""
    have, _ = pool()
    fences = [Fence(id=i, stream=stream, ordinal=i, seq=0) for i, stream in enumerate([1, 2, 1, 2], start=1)]
    for fence in fences:
        have.drop(have.alloc(1, A), A, fence=fence)
    asked: list[int] = []

    def passed(fence: Fence) -> bool:
        asked.append(fence.id)
        return fence.stream == 2

    assert have.reclaim(passed) == 2
    assert asked == [1, 2, 4]
    assert [have.state(page) for page in (1, 2, 3, 4)] == ["retired", "free", "retired", "free"]


def test_fills_a_keyframe_with_every_page_granted() -> None:
    """Free, held, shared and retired pages are in it; pages never granted are not."""
    have, _ = pool(6)
    have.alloc(4, A)
    have.hold([2], B, "read")
    have.drop([1], A)
    have.drop([4], A, fence=FENCE)
    frame = Keyframe()
    have.keyframe(frame)
    assert frame.pages == [
        (0, 1, "held", [(RESERVED, "write")]),
        (1, 1, "free", []),
        (2, 1, "held", [(A, "write"), (B, "read")]),
        (3, 1, "held", [(A, "write")]),
        (4, 1, "retired", []),
    ]


def test_a_stranger_s_drop_frees_a_page_in_use() -> None:
    """A sloppy drop counts: the page is granted again while its holder believes in it; `check` says so."""
    have, _ = pool(2)
    have.alloc(1, A)
    have.drop([1], B)
    with pytest.raises(InvariantError, match="pages 1 counted otherwise than held"):
        have.check()
    assert have.alloc(1, C) == [1]
    with pytest.raises(InvariantError, match="pages 1 held for writing by more than one"):
        have.check()


def test_a_page_released_twice_is_granted_twice() -> None:
    """A double free puts the page in the queue once more, and tells it twice."""
    have, history = pool(3)
    have.alloc(1, A)
    have.drop([1], A)
    have.release([1])
    assert len(history.of("free")) == 2
    with pytest.raises(InvariantError, match="pages 1 queued more than once"):
        have.check()
    assert [have.alloc(1, holder)[0] for holder in (A, B, C)] == [2, 1, 1]
    assert have.lives([1])[0] == 3


def test_a_wrapped_release_can_leave_the_fence_out() -> None:
    """`drop` goes through the public `release`, so a fault can free a page that a fence guards."""
    have, history = pool()
    sound = have.release
    have.release = lambda pages, fence=None: sound(pages)  # type: ignore[method-assign]
    have.drop(have.alloc(1, A), A, fence=FENCE)
    assert history.kinds()[-1] == "free"
    assert have.state(1) == "free"


class PoolMachine(RuleBasedStateMachine):
    """Random sound use; the model is a holder set a page and fences that pass in order."""

    PAGES = 7

    @initialize()
    def start(self) -> None:
        """An empty pool, two streams."""
        self.pool, self.history = pool(self.PAGES)
        self.holding: dict[int, dict[Holder, str]] = {}
        self.guard: dict[int, Fence] = {}
        self.retired: dict[int, Fence] = {}
        self.lives = dict.fromkeys(range(self.PAGES), 0) | {0: 1}
        self.ordinal = {1: 0, 2: 0}
        self.passed = {1: 0, 2: 0}
        self.known = {1: 0, 2: 0}
        self.numbers = 0

    @rule(count=st.integers(0, 4), holder=st.integers(1, 4))
    def alloc(self, count: int, holder: int) -> None:
        """Grant when there is room, refuse when not."""
        free = self.PAGES - 1 - len(self.holding) - len(self.retired)
        assert free == self.pool.available()
        if count > free:
            with pytest.raises(NoRoom):
                self.pool.alloc(count, Holder("request", holder))
            return
        for page in self.pool.alloc(count, Holder("request", holder)):
            assert page not in self.holding
            assert page not in self.retired
            self.holding[page] = {Holder("request", holder): "write"}
            self.lives[page] += 1

    @rule(data=st.data(), holder=st.integers(1, 4))
    def hold(self, data: st.DataObject, holder: int) -> None:
        """Share pages with one that does not hold them yet."""
        who = Holder("prefix", holder)
        options = sorted(page for page, holders in self.holding.items() if who not in holders)
        pages = data.draw(st.lists(st.sampled_from(options), unique=True) if options else st.just([]))
        self.pool.hold(pages, who, "read")
        for page in pages:
            self.holding[page][who] = "read"

    @rule(data=st.data(), stream=st.sampled_from([0, 1, 2]))
    def drop(self, data: st.DataObject, stream: int) -> None:
        """One holder gives back some of its pages, behind a fence unless stream is 0."""
        who = sorted({holder for holders in self.holding.values() for holder in holders})
        if not who:
            return
        holder = data.draw(st.sampled_from(who))
        options = sorted(page for page, holders in self.holding.items() if holder in holders)
        pages = data.draw(st.lists(st.sampled_from(options), unique=True, min_size=1))
        fence = None
        if stream:
            self.numbers += 1
            self.ordinal[stream] += 1
            fence = Fence(id=self.numbers, stream=stream, ordinal=self.ordinal[stream], seq=0)
        self.pool.drop(pages, holder, fence=fence)
        for page in pages:
            del self.holding[page][holder]
            if fence is not None:
                self.guard[page] = fence
            if not self.holding[page]:
                del self.holding[page]
                guard = self.guard.pop(page, None)
                if guard is not None and guard.ordinal > self.known[guard.stream]:
                    self.retired[page] = guard

    @rule(stream=st.sampled_from([1, 2]), data=st.data())
    def device_runs(self, stream: int, data: st.DataObject) -> None:
        """Fences pass, unseen by the host."""
        self.passed[stream] = data.draw(st.integers(self.passed[stream], self.ordinal[stream]))

    @rule()
    def reclaim(self) -> None:
        """What has passed is freed, and nothing else."""
        due = {
            page: fence for page, fence in self.retired.items() if fence.ordinal <= self.passed[fence.stream]
        }
        # A stream is asked oldest retirement first, and no further than its first no.
        assert len(due) >= self.pool.reclaim(lambda fence: fence.ordinal <= self.passed[fence.stream])
        for page in list(due):
            if self.pool.state(page) == "free":
                fence = self.retired.pop(page)
                self.known[fence.stream] = max(self.known[fence.stream], fence.ordinal)
        if not self.pool.counts().retired:
            assert self.retired == {}

    @invariant()
    def agrees(self) -> None:
        """Model, pool and history have the same state; no page is lost."""
        counts = self.pool.counts()
        assert sum(counts) + 1 == self.PAGES
        assert counts.free == self.pool.available()
        assert (len(self.holding), len(self.retired)) == (counts.held, counts.retired)
        for page in range(1, self.PAGES):
            assert self.holding.get(page, {}) == self.pool.holders(page)
        assert list(self.lives.values()) == self.pool.lives(range(self.PAGES))
        self.pool.check()
        fold = Fold(self.history.told)
        frame = Keyframe()
        self.pool.keyframe(frame)
        assert frame.pages == [
            (page, life, fold.state[page], list(fold.holders[page].items()))
            for page, life in sorted(fold.life.items())
        ]


PoolMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestPool = PoolMachine.TestCase


def test_takes_just_the_pages_that_are_named() -> None:
    """They leave the queue in new lives, wherever they are in it; the others keep their order."""
    have, history = pool(6)
    have.take([4, 2], A)
    assert history.told[-1] == ("alloc", {"pages": [(4, 1), (2, 1)], "holder": A})
    assert have.alloc(3, B) == [1, 3, 5]
    have.check()


def test_takes_nothing_when_one_page_is_not_free() -> None:
    """NoRoom names it, and the pool is as before."""
    have, history = pool(6)
    have.alloc(1, A)
    before = list(history.told)
    with pytest.raises(NoRoom, match=r"^no room on pages 1: not free"):
        have.take([3, 1], B)
    assert before == history.told
    assert have.available() == 4
