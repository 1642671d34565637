"""The block table on the simulated device, under random schedules, and against its own history."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tracert_kernels.twins import copy_row

from tests.memory.fold import Fold
from tests.memory.history import History
from tracert.device.simulated import SimDevice
from tracert.memory.block_table import POISON, BlockTable, RowHandle
from tracert.memory.errors import InvariantError, LayoutError, NoRoom, RowError
from tracert.record.recorder import Keyframe


class Bench:
    """A cleared table with its device and its history."""

    def __init__(self, rows: int = 2, width: int = 6, poison: bool = False, schedule: str = "fifo") -> None:
        self.history = History()
        self.device = SimDevice(self.history, schedule=schedule)
        self.stream = self.device.stream("transfer")
        self.table = BlockTable(self.history, self.device, rows, width, copy_row, poison=poison)
        self.table.clear(self.stream)

    def rows(self) -> list[list[int]]:
        """The device table, after everything launched."""
        self.device.sync_all()
        read: list[list[int]] = self.device.read(self.table.memory).tolist()
        return read


def test_activates_extends_and_releases() -> None:
    """Host and device agree, and every act is told directly after it, the publish at its launch."""
    bench = Bench()
    handle = bench.table.acquire(17)
    bench.table.activate(handle, [3, 5], [1, 2], bench.stream)
    bench.table.extend(handle, [4], [1], bench.stream)
    assert bench.table.row(0) == (1, 17, 2, [3, 5, 4], [1, 2, 1])
    assert bench.rows() == [[3, 5, 4, 0, 0, 0], [0] * 6]
    bench.table.release(handle, bench.stream)
    assert bench.table.row(0) == (1, 0, 2, [], [])
    kinds = [kind for kind in bench.history.kinds() if kind != "fence_passed"]
    acts = ["row_acquire", "map", "stage", "publish", "map", "stage", "publish", "unmap", "row_release"]
    assert kinds == ["launch", *acts]
    publishes = [(event["epoch"], event["entries"]) for event in bench.history.of("publish")]
    assert publishes == [(1, [(0, 3, 1), (1, 5, 2)]), (2, [(2, 4, 1)])]
    assert bench.history.of("unmap")[0]["pages"] == [(3, 1), (5, 2), (4, 1)]


def test_starts_with_a_recorded_clear() -> None:
    """Fresh device memory is garbage; the table is zeroed by a launch that the history has."""
    bench = Bench()
    assert bench.rows() == [[0] * 6] * 2
    launch = bench.history.of("launch")[0]
    assert (launch["kernel"], launch["resources"]) == ("clear_table", ["write:block_table"])


def test_a_released_row_keeps_what_the_tenant_left() -> None:
    """Without poison the next tenant's shorter row is followed by the former one's entries."""
    bench = Bench(rows=1)
    first = bench.table.acquire(1)
    bench.table.activate(first, [3, 5, 4], [1, 1, 1], bench.stream)
    bench.table.release(first, bench.stream)
    second = bench.table.acquire(2)
    bench.table.activate(second, [6], [1], bench.stream)
    assert second == RowHandle(0, 2)
    assert bench.rows() == [[6, 5, 4, 0, 0, 0]]
    assert bench.table.published(0) == [(6, 1), (5, 1), (4, 1)]


def test_poison_overwrites_the_former_extent() -> None:
    """With poison a released row names no page of any pool, as far as it was mapped."""
    bench = Bench(rows=1, poison=True)
    handle = bench.table.acquire(1)
    bench.table.activate(handle, [3, 5, 4], [1, 1, 1], bench.stream)
    bench.table.release(handle, bench.stream)
    assert bench.history.of("publish")[-1] == {
        "launch": 3,
        "stream": 1,
        "ordinal": 3,
        "kernel": "copy_row",
        "row": 0,
        "generation": 1,
        "epoch": 2,
        "staging": 1,
        "entries": [(0, POISON, 0), (1, POISON, 0), (2, POISON, 0)],
    }
    assert bench.rows() == [[POISON] * 3 + [0] * 3]


def test_activating_again_replaces_the_row() -> None:
    """A second activation of a tenancy unmaps what the first mapped."""
    bench = Bench(rows=1)
    handle = bench.table.acquire(1)
    bench.table.activate(handle, [3, 5], [1, 1], bench.stream)
    bench.table.activate(handle, [4], [1], bench.stream)
    assert bench.table.row(0).pages == [4]
    assert bench.history.of("unmap")[0]["pages"] == [(3, 1), (5, 1)]
    bench.table.check()


def test_extending_before_a_publish_has_executed_is_fine() -> None:
    """Pending copies read buffers of their own: nothing is overwritten under them."""
    bench = Bench(rows=1, width=40)
    handle = bench.table.acquire(1)
    bench.table.activate(handle, [1], [1], bench.stream)
    for page in range(2, 40):
        bench.table.extend(handle, [page], [1], bench.stream)
    assert bench.rows() == [[*range(1, 40), 0]]


def test_fenced_publishes_share_staging() -> None:
    """With a fence a step, a table that publishes for ever needs few buffers."""
    bench = Bench(rows=1)
    for request in range(1, 50):
        handle = bench.table.acquire(request)
        bench.table.activate(handle, [request], [1], bench.stream)
        fence = bench.device.record(bench.stream)
        bench.table.fenced(fence)
        bench.device.sync(fence)
        bench.table.release(handle, bench.stream)
    assert len(bench.table.staging) == 1


def test_refuses_what_does_not_fit() -> None:
    """Each refusal is one line and changes nothing."""
    bench = Bench(rows=1, width=3)
    handle = bench.table.acquire(1)
    with pytest.raises(NoRoom, match=r"^no room for a row: all 1 are taken; release one first$"):
        bench.table.acquire(2)
    with pytest.raises(RowError, match=r"^row 0 has 3 entries, 0 of them mapped: 4 more do not fit$"):
        bench.table.activate(handle, [1, 2, 3, 4], [1] * 4, bench.stream)
    bench.table.activate(handle, [1, 2], [1, 1], bench.stream)
    with pytest.raises(RowError, match=r"^row 0 has 3 entries, 2 of them mapped: 2 more do not fit$"):
        bench.table.extend(handle, [3, 4], [1, 1], bench.stream)
    with pytest.raises(RowError, match=r"^no pages to map to row 0"):
        bench.table.extend(handle, [], [], bench.stream)
    assert bench.table.row(0).pages == [1, 2]
    with pytest.raises(LayoutError, match=r"^a block table of 0 rows of 3 entries has no entry"):
        BlockTable(bench.history, bench.device, 0, 3, copy_row)


def test_check_finds_a_publish_that_was_skipped() -> None:
    """A fault that maps and does not publish breaks an invariant, not a mutator."""
    bench = Bench()
    handle = bench.table.acquire(1)
    launch = bench.table.activate(handle, [3], [1], bench.stream)
    bench.table.publish = lambda *_, **__: launch  # type: ignore[method-assign]
    bench.table.extend(handle, [4], [1], bench.stream)
    with pytest.raises(InvariantError, match=r"row 0 maps \[3, 4\] and published \[3\]"):
        bench.table.check()


def test_a_wrapped_take_can_rewrite_staging_under_a_copy() -> None:
    """With one buffer for all, some schedule lets a later row's pages land in an earlier row."""

    def rows_under(seed: int, *, reuse: bool) -> list[list[int]]:
        bench = Bench(schedule=f"random:{seed}")
        if reuse:
            buffer = bench.table.staging.take()
            bench.table.staging.take = lambda: buffer  # type: ignore[method-assign]
        for page in (3, 4):
            bench.table.activate(bench.table.acquire(page), [page], [1], bench.stream)
        return bench.rows()

    sound = [[3, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0]]
    wrong = [[4, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0]]
    assert all(rows_under(seed, reuse=False) == sound for seed in range(20))
    assert any(rows_under(seed, reuse=True) == wrong for seed in range(20))


def test_a_wide_row_is_published_whole() -> None:
    """262,144 tokens of 16 a page are 16,384 entries, one publish."""
    bench = Bench(rows=1, width=16_384)
    pages = list(range(1, 16_385))
    bench.table.activate(bench.table.acquire(1), pages, [1] * len(pages), bench.stream)
    assert bench.rows() == [pages]


def test_fills_a_keyframe_with_device_rows() -> None:
    """The frame has what each device row holds, the tenant of another life included."""
    bench = Bench()
    first = bench.table.acquire(1)
    bench.table.activate(first, [3, 5], [1, 2], bench.stream)
    bench.table.release(first, bench.stream)
    bench.table.activate(bench.table.acquire(2), [4], [1], bench.stream)
    frame = Keyframe()
    bench.table.keyframe(frame)
    assert frame.rows == [(0, 1, 0, 1, [(3, 1), (5, 2)]), (1, 1, 2, 1, [(4, 1)])]


class TableMachine(RuleBasedStateMachine):
    """Tenants come and go under a random schedule; the model is a list a row, and what it covers."""

    ROWS, WIDTH = 3, 8

    @initialize(seed=st.integers(0, 2**16), poison=st.booleans())
    def start(self, seed: int, poison: bool) -> None:
        """An empty table."""
        self.bench = Bench(self.ROWS, self.WIDTH, poison, f"random:{seed}")
        self.poison = poison
        self.model = [[0] * self.WIDTH for _ in range(self.ROWS)]
        self.tenants: dict[int, tuple[RowHandle, list[int]]] = {}
        self.free = list(range(self.ROWS))
        self.requests = 0
        self.next_page = 0

    def pages(self, count: int) -> list[int]:
        """Page ids that no row maps, in turn."""
        mapped = {page for _, pages in self.tenants.values() for page in pages}
        found: list[int] = []
        while len(found) < count:
            self.next_page = self.next_page % 50 + 1
            if self.next_page not in mapped:
                found.append(self.next_page)
        return found

    @precondition(lambda self: self.free)
    @rule(count=st.integers(1, 8))
    def enter(self, count: int) -> None:
        """A request gets the row that was free longest and publishes all its pages."""
        self.requests += 1
        handle = self.bench.table.acquire(self.requests)
        assert handle.row == self.free.pop(0)
        pages = self.pages(count)
        self.bench.table.activate(handle, pages, [1] * count, self.bench.stream)
        self.tenants[handle.row] = handle, pages
        self.model[handle.row][:count] = pages

    @precondition(lambda self: self.tenants)
    @rule(data=st.data(), count=st.integers(1, 3))
    def extend(self, data: st.DataObject, count: int) -> None:
        """A request grows, or is refused at the end of its row."""
        handle, have = self.tenants[data.draw(st.sampled_from(sorted(self.tenants)))]
        pages = self.pages(count)
        if len(have) + count > self.WIDTH:
            with pytest.raises(RowError):
                self.bench.table.extend(handle, pages, [1] * count, self.bench.stream)
            return
        self.bench.table.extend(handle, pages, [1] * count, self.bench.stream)
        self.model[handle.row][len(have) : len(have) + count] = pages
        have += pages

    @precondition(lambda self: self.tenants)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        """A request gives its row back."""
        row = data.draw(st.sampled_from(sorted(self.tenants)))
        handle, have = self.tenants.pop(row)
        self.bench.table.release(handle, self.bench.stream)
        self.free.append(row)
        if self.poison:
            self.model[row][: len(have)] = [POISON] * len(have)

    @rule()
    def end_step(self) -> None:
        """One fence for the publishes so far."""
        self.bench.table.fenced(self.bench.device.record(self.bench.stream))

    @rule()
    def synchronise(self) -> None:
        """The device rows are what the model says."""
        assert self.bench.rows() == self.model

    @invariant()
    def agrees(self) -> None:
        """Host view, published view and history agree with the model at every step."""
        table = self.bench.table
        table.check()
        fold = Fold(self.bench.history.told)
        frame = Keyframe()
        table.keyframe(frame)
        for row in range(self.ROWS):
            handle, pages = self.tenants.get(row, (None, []))
            assert table.row(row).pages == pages
            assert table.mapped(row) == len(pages)
            shown = [page for page, _ in table.published(row)]
            assert shown + [0] * (self.WIDTH - len(shown)) == self.model[row]
            assert fold.mapped.get(row, []) == [(page, 1) for page in pages]
            if handle is not None:
                assert fold.tenant[row] == (handle.generation, table.row(row).request)
        assert {row: entries for row, _, _, _, entries in frame.rows} == {
            row: [fold.device_row[row][index] for index in sorted(fold.device_row[row])]
            for row in fold.device_row
        }

    def teardown(self) -> None:
        """At the end everything has executed as launched."""
        if hasattr(self, "bench"):
            assert self.bench.rows() == self.model


TableMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestBlockTable = TableMachine.TestCase
