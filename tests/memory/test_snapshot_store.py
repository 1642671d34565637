"""Snapshots: rows in the bytes of KV pages, found, restored and given up."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tracert_kernels.twins import copy_pages

from tests.memory.fold import Fold
from tests.memory.history import History
from tracert.device.simulated import SimDevice
from tracert.memory.arena import Arena
from tracert.memory.errors import InvariantError
from tracert.memory.layout import KvLayout
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity
from tracert.memory.snapshot_store import DEDICATED, SnapshotId, SnapshotStore
from tracert.memory.tail_copies import TailCopies
from tracert.record.access import ByteRange, Compute, Extent, Holder

MODEL = Identity(model="m")
SIZE = 16
NUMBERS = 24
ANY = Compute(phase="test", step=0)
SCHEDULES = st.sampled_from(["eager", "fifo"])


class Told(History):
    """Snapshot events as well, with what their launches declare."""

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Any) -> int:
        """Keep rows' launches apart from others."""
        if isinstance(access, Compute) and access.content:
            return self._add(
                "rows", launch=launch, reads=list(access.reads), writes=list(access.writes), kernel=kernel
            )
        return super().launch(launch, stream, ordinal, kernel, access)

    def snapshot_alias(
        self, snapshot: int, ranges: Sequence[ByteRange], pages: Sequence[int], lives: Sequence[int]
    ) -> int:
        """Keep it."""
        return self._add("snapshot_alias", snapshot=snapshot, ranges=list(ranges), pages=list(pages))

    def snapshot_release(
        self, snapshot: int, ranges: Sequence[ByteRange], pages: Sequence[int], lives: Sequence[int]
    ) -> int:
        """Keep it."""
        return self._add("snapshot_release", snapshot=snapshot, ranges=list(ranges), pages=list(pages))

    def snapshot_save(self, *fields: Any) -> int:
        """Keep snapshot, request, launch, positions, ranges, pages, lives."""
        return self._add("snapshot_save", fields=fields)

    def snapshot_restore(self, *fields: Any) -> int:
        """Keep snapshot, request, launch, positions, ranges, pages, lives."""
        return self._add("snapshot_restore", fields=fields)


class Bench:
    """A store over pages of 256 bytes, of 16 positions."""

    def __init__(
        self, slots: int = 4, pages: int = 12, *, dedicated: bool = False, schedule: str = "eager"
    ) -> None:
        layout = KvLayout(pages, layers=1, page_size=SIZE, kv_heads=1, head_dim=2, dtype=torch.float32)
        self.history = Told()
        self.device = SimDevice(self.history, schedule=schedule)
        self.compute = self.device.stream("compute")
        self.pool = PagePool(self.history, pages, SIZE)
        self.arena = Arena(self.history, self.device, layout)
        self.arena.clear_all(self.compute)
        copies = TailCopies(self.history, self.device, self.pool, self.arena, copy_pages)
        self.store = SnapshotStore(
            self.history,
            self.device,
            self.pool,
            self.arena,
            copies,
            self.compute,
            slots,
            NUMBERS,
            dedicated=dedicated,
        )
        self.logits = self.device.allocate(4 * NUMBERS).view(torch.float32, (NUMBERS,))
        self.requests = 0

    def write(self, value: float) -> None:
        """A launch that sets the logits."""

        def fill(logits: torch.Tensor) -> None:
            logits.fill_(value)

        self.device.launch(self.compute, fill, self.logits, access=ANY)

    def read(self) -> list[float]:
        """The logits, after everything launched."""
        self.device.sync_all()
        return [float(number) for number in self.device.read(self.logits)]

    def save(self, tokens: list[int], value: float = 1.0) -> SnapshotId | None:
        """A request with this prompt and these logits comes, is saved and goes."""
        self.requests += 1
        holder = Holder("request", self.requests)
        pages = self.pool.alloc(-(-len(tokens) // SIZE), holder)
        self.write(value)
        saved = self.store.save(self.requests, tokens, pages, MODEL, self.logits, 0)
        self.pool.drop(pages, holder)
        return saved

    def skip_page_1(self) -> None:
        """It goes to the end of the queue, so that the first slot is not in the way of prompts."""
        self.pool.drop(self.pool.alloc(1, Holder("request", 99)), Holder("request", 99))

    def check(self) -> None:
        """No contradiction, and the history has the same holders."""
        self.pool.check()
        self.store.check()
        fold = Fold(self.history.told)
        for page in range(1, self.pool.pages):
            assert fold.holders.get(page, {}) == self.pool.holders(page)


def test_a_saved_prompt_is_found_by_its_tokens_and_identity() -> None:
    """Neither a longer prompt, nor a shorter one, nor another identity finds it."""
    bench = Bench()
    saved = bench.save([1] * 20)
    assert saved is not None
    assert saved == bench.store.find([1] * 20, MODEL)
    for tokens, identity in (([1] * 21, MODEL), ([1] * 19, MODEL), ([1] * 20, Identity(model="n"))):
        assert bench.store.find(tokens, identity) is None
    bench.check()


def test_a_snapshot_holds_full_pages_and_a_copy_of_the_tail() -> None:
    """The tail's whole page is copied, dead positions too; a prompt that fills its pages has none."""
    bench = Bench()
    saved = bench.save([1] * 20)
    assert saved is not None
    snapshot = bench.store.look(saved)
    assert snapshot is not None
    assert snapshot.pages == [1]
    assert bench.pool.holders(1) == {Holder("snapshot", 1): "read"}
    assert snapshot.tail is not None
    assert bench.pool.holders(snapshot.tail) == {Holder("snapshot", 1): "write"}
    whole = [Extent(2, 1, 0, SIZE)], [Extent(snapshot.tail, 1, 0, SIZE)]
    assert whole == (bench.history.of("copy")[0]["source"], bench.history.of("copy")[0]["target"])
    full = bench.save([2] * 32)
    assert full is not None
    kept = bench.store.look(full)
    assert kept is not None
    assert kept.tail is None
    bench.check()


def test_a_restored_row_is_the_saved_one() -> None:
    """Two snapshots keep their logits apart, and the corrupted bytes of one are seen in it alone."""
    bench = Bench(slots=10, pages=20)
    one, two = bench.save([1] * 20, 1.5), bench.save([2] * 20, 2.5)
    assert one is not None
    assert two is not None
    bench.write(0.0)
    bench.store.restore(one, 7, bench.logits, 1)
    assert [1.5] * NUMBERS == bench.read()
    piece = bench.history.of("snapshot_alias")[0]["ranges"][0]

    def corrupt(arena: torch.Tensor) -> None:
        arena[piece.page, piece.first] = 0x55

    bench.device.launch(bench.compute, corrupt, bench.arena.bytes, access=ANY)
    bench.store.restore(two, 8, bench.logits, 1)
    assert [2.5] * NUMBERS == bench.read()
    bench.store.restore(one, 9, bench.logits, 1)
    assert bench.read()[0] != 1.5
    assert [1.5] * (NUMBERS - 1) == bench.read()[1:]


def test_events_tell_bytes_pages_and_launches() -> None:
    """Alias, then the row's store, then save; restore by the launch that loads; release before the drop."""
    bench = Bench(slots=2)
    saved = bench.save([1] * 20)
    assert saved is not None
    bench.store.restore(saved, 7, bench.logits, 1)
    bench.store.release(saved)
    kinds = [
        kind for kind in bench.history.kinds() if kind.startswith("snapshot") or kind in ("rows", "drop")
    ]
    expected = "snapshot_alias rows snapshot_save drop rows snapshot_restore drop drop snapshot_release drop"
    assert expected.split() == kinds
    store, load = bench.history.of("rows")
    (alias,) = bench.history.of("snapshot_alias")
    # The request is on page 1, so that it is the other slot's bytes, at the end of the pool.
    assert ([ByteRange(11, 160, 256)], [11]) == (alias["ranges"], alias["pages"])
    # They are the last 12 positions of the values: 8 bytes each.
    assert [Extent(11, 1, 4, 16)] == store["writes"] == load["reads"]
    (save,) = (event["fields"] for event in bench.history.of("snapshot_save"))
    assert (1, 1, store["launch"], 20, [ByteRange(11, 160, 256)]) == save[:5]
    (restore,) = (event["fields"] for event in bench.history.of("snapshot_restore"))
    assert (1, 7, load["launch"], 20) == restore[:4]


def test_the_last_row_on_a_page_frees_it() -> None:
    """Two slots meet in a page: the first to go leaves it held, the second gives it back uncleared."""
    bench = Bench(slots=8, pages=5)
    shared = [
        page
        for page in range(1, 5)
        if sum(page in bench.store.row_pages(SnapshotId(slot, 0)) for slot in (0, 1)) == 2
    ]
    assert [1] == shared
    bench.skip_page_1()
    one, two = bench.save([1] * 16), bench.save([2] * 16)
    assert one is not None
    assert two is not None
    assert {Holder("snapshot", 1): "write", Holder("snapshot", 2): "read"} == bench.pool.holders(1)
    bench.store.release(one)
    assert {Holder("snapshot", 2): "read"} == bench.pool.holders(1)
    bench.store.release(two)
    bench.pool.reclaim(bench.device.query)
    assert bench.pool.state(1) == "free"
    assert bool(bench.device.read(bench.arena.bytes)[1].any())
    bench.check()


def test_released_pages_wait_for_the_fence_behind_the_last_launch() -> None:
    """They are retired while the device may still read the row."""
    bench = Bench(schedule="fifo")
    saved = bench.save([1] * 20)
    assert saved is not None
    pages = bench.store.row_pages(saved)
    bench.store.release(saved)
    assert ["retired"] * len(pages) == [bench.pool.state(page) for page in pages]
    bench.device.sync_all()
    bench.pool.reclaim(bench.device.query)
    assert ["free"] * len(pages) == [bench.pool.state(page) for page in pages]


def test_the_least_recently_used_gives_way_when_slots_run_out() -> None:
    """A restore is a use; a pinned one stays."""
    bench = Bench(slots=2, pages=20)
    bench.skip_page_1()
    one, two = bench.save([1] * 20), bench.save([2] * 20)
    assert one is not None
    assert two is not None
    bench.store.restore(one, 7, bench.logits, 1)
    assert bench.save([3] * 20) is not None
    assert (one, None) == (bench.store.find([1] * 20, MODEL), bench.store.find([2] * 20, MODEL))
    bench.store.pin(one)
    assert bench.save([4] * 20) is not None
    assert one == bench.store.find([1] * 20, MODEL)
    assert bench.store.find([3] * 20, MODEL) is None
    bench.check()


def test_a_saved_prompt_is_not_saved_again() -> None:
    """The snapshot that there is is as good."""
    bench = Bench()
    assert bench.save([1] * 20) == bench.save([1] * 20)
    assert len(bench.store) == 1
    assert bench.store.free == 3


def test_eviction_counts_the_pages_that_nobody_holds_any_more() -> None:
    """Full pages that a request shares are not given back; what is pinned is not touched."""
    bench = Bench(slots=2, pages=20)
    bench.skip_page_1()
    one, _ = bench.save([1] * 20), bench.save([2] * 20)
    assert one is not None
    bench.store.pin(one)
    assert bench.store.evict(100) == 3
    assert len(bench.store) == 1
    bench.store.unpin(one)
    shared = bench.store.look(one)
    assert shared is not None
    bench.pool.hold(shared.pages, Holder("request", 50), "read")
    assert bench.store.evict(100) == 2
    bench.check()


def test_dedicated_rows_never_meet_keys_and_values() -> None:
    """Their pages are held from the start, and nobody is told of borrowed bytes."""
    bench = Bench(slots=4, dedicated=True)
    assert {DEDICATED: "write"} == bench.pool.holders(11)
    assert bench.pool.available() == 9
    saved = bench.save([1] * 20, 3.5)
    assert saved is not None
    bench.store.restore(saved, 7, bench.logits, 1)
    assert [3.5] * NUMBERS == bench.read()
    bench.store.release(saved)
    assert not bench.history.of("snapshot_alias")
    bench.check()


def test_check_finds_a_page_that_a_request_got_while_it_has_rows() -> None:
    """Rows and keys in one page is what the store must never do."""
    bench = Bench()
    saved = bench.save([1] * 20)
    assert saved is not None
    bench.pool.hold(bench.store.row_pages(saved), Holder("request", 50), "write")
    with pytest.raises(InvariantError, match=r"have rows, and are held by others"):
        bench.store.check()


class Snapshots(RuleBasedStateMachine):
    """Requests come and go, snapshots with them; the pool and the store never disagree."""

    requests: dict[int, list[int]]

    @initialize(
        slots=st.integers(1, 12), dedicated=st.booleans(), schedule=st.sampled_from(["eager", "fifo"])
    )
    def start(self, slots: int, dedicated: bool, schedule: str) -> None:
        """A pool of 11 pages."""
        self.bench = Bench(slots, dedicated=dedicated, schedule=schedule)
        self.requests = {}
        self.values: dict[tuple[int, ...], float] = {}

    @rule(count=st.integers(1, 4))
    def grant(self, count: int) -> None:
        """A request that stays."""
        if self.bench.pool.available() >= count:
            self.bench.requests += 1
            holder = Holder("request", self.bench.requests)
            self.requests[self.bench.requests] = self.bench.pool.alloc(count, holder)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        """It goes."""
        number = data.draw(st.sampled_from(sorted(self.requests)))
        self.bench.pool.drop(self.requests.pop(number), Holder("request", number))

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), token=st.integers(1, 4), missing=st.integers(0, 15))
    def save(self, data: st.DataObject, token: int, missing: int) -> None:
        """The prompt of one that runs is saved; when it can't be, no snapshot is left to give way."""
        number = data.draw(st.sampled_from(sorted(self.requests)))
        pages = self.requests[number]
        tokens = [token] * (len(pages) * SIZE - missing)
        there = self.bench.store.find(tokens, MODEL)
        self.bench.write(float(number))
        saved = self.bench.store.save(number, tokens, pages, MODEL, self.bench.logits, 0)
        if saved is None:
            assert not len(self.bench.store)
        elif there is None:
            self.values[tuple(tokens)] = float(number)

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        """What is loaded is what was saved with that prompt."""
        known = [tokens for tokens in self.values if self.bench.store.find(tokens, MODEL) is not None]
        if known:
            tokens = data.draw(st.sampled_from(known))
            snapshot_id = self.bench.store.find(tokens, MODEL)
            assert snapshot_id is not None
            self.bench.store.restore(snapshot_id, 0, self.bench.logits, 0)
            assert [self.values[tokens]] * NUMBERS == self.bench.read()

    @rule(count=st.integers(1, 5))
    def evict(self, count: int) -> None:
        """Pages are short."""
        gained = self.bench.pool.counts().held
        counted = self.bench.store.evict(count)
        assert counted == gained - self.bench.pool.counts().held

    @rule()
    def reclaim(self) -> None:
        """The host looks at fences."""
        self.bench.pool.reclaim(self.bench.device.query)

    @invariant()
    def agree(self) -> None:
        """No contradiction, and the slots add up."""
        if hasattr(self, "bench"):
            self.bench.check()
            assert self.bench.store.slots == self.bench.store.free + len(self.bench.store)


TestSnapshots = Snapshots.TestCase
TestSnapshots.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
