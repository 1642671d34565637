"""The host tier against a list of prefixes, and its bytes against what was evicted."""

import random
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tracert_analysis.load import open_dump

from tests.memory.tier_bench import SECRET, SIZE, TierBench, block, digest
from tracert.device.simulated import SimDevice
from tracert.memory.errors import InvariantError
from tracert.memory.prefix_cache import Identity
from tracert.memory.prefix_digest import page_digests, token_bytes
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

PREFIXES = 12
schedules = st.one_of(st.sampled_from(["eager", "fifo"]), st.integers(0, 999).map("random:{}".format))


class TierMachine(RuleBasedStateMachine):
    """Prefixes are computed, evicted, found, loaded and left; the model is a list, oldest first."""

    @initialize(slots=st.integers(0, 6), schedule=schedules)
    def start(self, slots: int, schedule: str) -> None:
        """A pool too small for all prefixes, and a tier that may be smaller still."""
        self.bench = TierBench(8, slots, schedule)
        self.kept: list[int] = []
        self.found: list[tuple[list[int], list[int]]] = []

    @property
    def pinned(self) -> set[int]:
        """Prefixes whose slots were found, and neither loaded nor left."""
        return {prefix for prefixes, _ in self.found for prefix in prefixes}

    @rule(prefix=st.integers(0, PREFIXES))
    def write(self, prefix: int) -> None:
        """A prefix is computed."""
        if prefix not in self.bench.cached:
            self.expect_eviction(1)
            assert self.bench.write(prefix)

    @rule(count=st.integers(1, 6))
    def evict(self, count: int) -> None:
        """The oldest go."""
        self.spilled(list(self.bench.cached)[:count])
        self.bench.evict(count)

    @rule(prefixes=st.lists(st.integers(0, PREFIXES), min_size=1, max_size=4, unique=True))
    def find(self, prefixes: list[int]) -> None:
        """The longest front that is kept, in the slots that have it."""
        slots = self.bench.find(prefixes)
        front = []
        for prefix in prefixes:
            if prefix not in self.kept:
                break
            front.append(prefix)
        assert len(front) == len(slots) == len(set(slots))
        if slots:
            self.found.append((front, slots))
            self.use(front)

    @rule(pick=st.integers(0, 99), clear=st.booleans())
    def load(self, pick: int, clear: bool) -> None:
        """What was found comes back, unless another request brought it back meanwhile."""
        if not self.found:
            return
        prefixes, slots = self.found[pick % len(self.found)]
        if any(prefix in self.bench.cached for prefix in prefixes):
            return
        self.expect_eviction(len(slots))
        self.found.remove((prefixes, slots))
        assert self.bench.load(prefixes, slots, clear=clear)

    @rule(pick=st.integers(0, 99))
    def leave(self, pick: int) -> None:
        """What was found is not wanted."""
        if self.found:
            _, slots = self.found.pop(pick % len(self.found))
            self.bench.tier.unpin(slots)

    @rule(pick=st.integers(0, 99))
    def judge(self, pick: int) -> None:
        """A cached page is read."""
        cached = list(self.bench.cached.items())
        if cached:
            self.bench.judge(*cached[pick % len(cached)])

    @rule()
    def reset(self) -> None:
        """Only what is pinned is kept."""
        self.bench.tier.reset()
        self.kept = [prefix for prefix in self.kept if prefix in self.pinned]

    @rule()
    def rest(self) -> None:
        """The device comes to rest."""
        self.bench.device.sync_all()

    @invariant()
    def sound(self) -> None:
        """Slots, pages and bytes are what they should be."""
        if not hasattr(self, "bench"):
            return
        self.bench.check()
        stats = self.bench.tier.stats
        assert (len(self.kept), self.bench.tier.slots) == (stats.used, stats.used + stats.free)

    def teardown(self) -> None:
        """Everything has run."""
        if hasattr(self, "bench"):
            self.bench.device.sync_all()
            self.bench.check()

    def use(self, prefixes: list[int]) -> None:
        """The first of them is the one used last."""
        for prefix in reversed(prefixes):
            self.kept.remove(prefix)
            self.kept.append(prefix)

    def expect_eviction(self, count: int) -> None:
        """What the bench evicts to grant `count` pages."""
        counts = self.bench.pool.counts()
        self.spilled(list(self.bench.cached)[: max(count - counts.free - counts.retired, 0)])

    def spilled(self, going: list[int]) -> None:
        """The last ones first, while there are slots that neither they nor a request needs."""
        stay = []
        for prefix in reversed(going):
            if prefix not in self.kept:
                if len(self.kept) == self.bench.tier.slots:
                    may_go = [each for each in self.kept if each not in self.pinned and each not in stay]
                    if not may_go:
                        break
                    self.kept.remove(may_go[0])
                self.kept.append(prefix)
            stay.append(prefix)
        self.use([prefix for prefix in going if prefix in self.kept][::-1])


TierMachine.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestHostTier = TierMachine.TestCase


def test_a_page_comes_back_with_its_bytes() -> None:
    """Evicted, its page cleared and granted to others, loaded: in a hundred orders of execution."""
    for seed in range(100):
        bench = TierBench(4, 3, f"random:{seed}")
        for prefix in range(1, 7):
            bench.write(prefix)
        slots = bench.find([3, 2, 1])
        assert [] == bench.find([4])
        assert bench.load([3, 2, 1], slots, clear=True)
        bench.device.sync_all()
        bench.check()
        assert 3 == bench.read


def test_a_load_waits_for_what_clears_its_page() -> None:
    """Without the tier's fence before a load, some order clears the page after the load has landed."""
    wrong = 0
    for seed in range(40):
        bench = TierBench(4, 3, f"random:{seed}")
        bench.tier._after_compute = lambda: None  # type: ignore[method-assign]
        bench.write(1)
        bench.device.sync_all()
        bench.evict(1)
        bench.load([1], bench.find([1]), clear=True)
        bench.device.sync_all()
        wrong += bool(bench.wrong)
    assert 0 < wrong < 40


def test_an_evicted_page_is_not_granted_before_its_copy_has_passed() -> None:
    """It is retired behind the offload, and free once that has run."""
    bench = TierBench(3, 3, "replay:")
    bench.write(1)
    bench.write(2)
    bench.evict(2)
    assert (0, 2) == (bench.pool.counts().free, bench.pool.counts().retired)
    bench.device.sync_all()
    assert 2 == bench.pool.reclaim(bench.device.query)


def test_what_is_kept_already_is_not_copied_again() -> None:
    """A page that came back and goes again finds its slot, and needs no fence."""
    bench = TierBench(4, 3, "eager")
    bench.write(1)
    bench.evict(1)
    bench.load([1], bench.find([1]), clear=False)
    assert None is bench.tier.spill([digest(1)], [block(1)], [bench.cached[1]], [1])
    assert 1 == bench.tier.stats.offloaded


def test_other_tokens_of_the_same_digest_are_a_miss() -> None:
    """A collision of digests must not bring another's page, nor take its place."""
    bench = TierBench(4, 3, "eager")
    bench.write(1)
    bench.evict(1)
    assert [] == bench.tier.find([digest(1)], [block(2)])
    assert None is bench.tier.spill([digest(1)], [block(2)], [2], [1])
    assert [0] == bench.find([1])


def test_a_prompt_is_found_by_its_tokens() -> None:
    """Full pages behind those of a hit, short of the last token; another identity has others."""
    bench = TierBench(8, 4, "eager")
    mine, tokens = Identity(model="m"), list(range(3 * SIZE))
    names = page_digests(SECRET, mine, tokens, SIZE)
    blocks = [token_bytes(tokens[at : at + SIZE]) for at in range(0, len(tokens), SIZE)]
    bench.write(1)
    bench.evict(1)
    bench.tier.spill(names[::-1], blocks[::-1], [4, 3, 2], [1, 1, 1])
    slots = bench.tier.find(names, blocks)
    assert 3 == len(slots)
    assert slots[:2] == bench.tier.find_behind(tokens, mine, 0)
    assert slots[1:2] == bench.tier.find_behind(tokens, mine, 1)
    assert slots[1:] == bench.tier.find_behind([*tokens, 7], mine, 1)
    assert [] == bench.tier.find_behind(tokens, mine, 2)
    assert [] == bench.tier.find_behind(tokens, Identity(model="m", salt="s"), 0)
    assert [] == bench.tier.find_behind([9, *tokens[1:]], mine, 0)
    assert [] == bench.tier.find_behind([], mine, 0)


@pytest.mark.parametrize(("slots", "front"), [(0, []), (1, [1]), (2, [1, 2]), (5, [1, 2, 3, 4])])
def test_the_front_of_a_prefix_is_kept_when_slots_are_few(slots: int, front: list[int]) -> None:
    """An eviction gives the ends first: without its front an end could not be found."""
    bench = TierBench(8, slots, "eager")
    for prefix in (4, 3, 2, 1):
        bench.write(prefix)
    bench.evict(4)
    assert len(front) == len(bench.find([1, 2, 3, 4]))
    assert 4 - len(front) == bench.tier.stats.forgotten


def test_pinned_slots_are_not_taken() -> None:
    """A found page stays until it is loaded or left, whatever is evicted meanwhile."""
    bench = TierBench(8, 2, "eager")
    for prefix in (1, 2, 3, 4):
        bench.write(prefix)
    bench.evict(2)
    slots = bench.find([2])
    bench.evict(2)
    assert [] == bench.find([3])
    bench.tier.unpin(slots)
    assert slots == bench.find([2])
    assert 1 == len(bench.find([4]))


def test_a_tier_that_the_host_has_no_room_for() -> None:
    """One line says how much was asked for."""
    with pytest.raises(MemoryError, match=r"^host memory: no room for \d+ slots of 128 bytes"):
        TierBench(4, 2**50, "eager")


def test_check_tells_a_contradiction() -> None:
    """A slot that is given back more often than it was found."""
    bench = TierBench(4, 2, "eager")
    bench.tier.unpin([0])
    with pytest.raises(InvariantError, match=r"^the host tier contradicts itself: slot 0 is pinned -1 times"):
        bench.tier.check()


@pytest.mark.parametrize("seed", range(3))
def test_a_sound_history_breaks_no_rule(tmp_path: Path, seed: int) -> None:
    """Offloads, re-use, clears and loads in a random order are all ordered: the reader finds nothing."""
    pages = 9
    ring = Ring.create(tmp_path / "a.ring", Geometry(slots=2**14, pages=pages, rows=1, row_width=4))
    ring.describe({"config": {"page_size": SIZE, "kv_pages": pages}})

    def name(device: SimDevice) -> None:
        for stream in device.streams():
            ring.name_stream(stream.id, stream.name, blocking=stream.blocking)

    bench = TierBench(pages, 5, f"random:{seed}", RingRecorder(ring), name)
    draw = random.Random(seed)
    for _ in range(150):
        prefix = draw.randrange(PREFIXES)
        if prefix in bench.cached:
            bench.judge(prefix, bench.cached[prefix])
        elif slots := bench.find([prefix]):
            bench.load([prefix], slots, clear=draw.random() < 0.5)
        else:
            bench.write(prefix)
    assert bench.tier.stats.loaded > 10
    bench.device.sync_all()
    bench.check()
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    reader = open_dump(str(tmp_path / "dump.jsonl"), macros=False).connection
    assert [] == reader.execute("SELECT code, sentence FROM finding").fetchall()
    moved = reader.execute("SELECT kind, count(*) FROM launch GROUP BY kind").fetchall()
    assert {"offload", "load", "launch", "clear"} == {kind for kind, _ in moved}
    ring.close()
