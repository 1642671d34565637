"""Copies of pages filled in part, on the simulated device: at once, and staged over two steps."""

from typing import Any

import pytest
import torch
from tracert_kernels.twins import copy_pages

from tests.memory.history import History
from tracert.device.simulated import SimDevice
from tracert.memory.arena import Arena
from tracert.memory.errors import InvariantError
from tracert.memory.layout import KvLayout
from tracert.memory.pool import PagePool
from tracert.memory.tail_copies import TailCopies
from tracert.record.access import Compute, Extent, Holder

SIZE = 16
LAYOUT = KvLayout(pages=5, layers=1, page_size=SIZE, kv_heads=1, head_dim=1, dtype=torch.float32)
ANY = Compute(phase="test", step=0)


class Bench:
    """Two pages of one request, and a device that runs only when it must unless told otherwise."""

    def __init__(self, schedule: str = "fifo") -> None:
        self.history = History()
        self.device = SimDevice(self.history, schedule=schedule)
        self.compute = self.device.stream("compute")
        self.transfer = self.device.stream("transfer")
        self.pool = PagePool(self.history, LAYOUT.pages, SIZE)
        self.arena = Arena(self.history, self.device, LAYOUT)
        self.arena.clear_all(self.compute)
        self.copies = TailCopies(self.history, self.device, self.pool, self.arena, copy_pages)
        self.holder = Holder("request", 1)
        self.pages = self.pool.alloc(2, self.holder)
        self.source, self.target = (Extent(page, 1, 0, 5) for page in self.pages)

    def write(self, page: int, first: int, value: float) -> None:
        """A launch on the compute stream that sets all positions from `first` on."""

        def fill(cache: torch.Tensor) -> None:
            cache[page, :, :, first:] = value

        self.device.launch(self.compute, fill, self.arena.cache, access=ANY)

    def begin(self) -> int:
        """A staged copy of the first page to the second."""
        return self.copies.begin(1, self.source, self.target, self.transfer, self.compute)

    def told(self, number: int) -> dict[str, Any]:
        """What plan and end of a copy say."""
        return {"transaction": number, "source": [self.source], "target": [self.target]}

    def values(self, page: int) -> list[float]:
        """Keys of a page, after everything launched."""
        self.device.sync_all()
        return [float(value) for value in self.device.read(self.arena.cache)[page, 0, 0, :, 0, 0]]


@pytest.mark.parametrize("schedule", ["eager", "fifo", "random:0", "random:1"])
def test_a_direct_copy_is_ordered_by_its_stream(schedule: str) -> None:
    """One launch, behind what wrote the source and before what goes on in the target."""
    bench = Bench(schedule)
    bench.write(bench.source.page, 0, 7)
    fence = bench.copies.direct(bench.source, bench.target, bench.compute)
    bench.write(bench.source.page, 5, 9)
    bench.write(bench.target.page, 5, 8)
    assert fence.stream == bench.compute.id
    assert bench.values(bench.target.page) == [7] * 5 + [8] * 11
    assert bench.values(bench.source.page) == [7] * 5 + [9] * 11


def test_a_copy_says_that_it_copies_whole_pages() -> None:
    """The plan has the positions that are wanted; the launch has what the kernel touches."""
    bench = Bench()
    bench.begin()
    assert bench.history.of("copy_plan") == [bench.told(1)]
    (copy,) = bench.history.of("copy")
    assert copy["source"] == [Extent(bench.source.page, 1, 0, SIZE)]
    assert copy["target"] == [Extent(bench.target.page, 1, 0, SIZE)]
    assert copy["stream"] == bench.transfer.id


@pytest.mark.parametrize("schedule", ["eager", "fifo", "random:0", "random:1", "random:2"])
def test_a_staged_copy_sees_what_was_written_before(schedule: str) -> None:
    """It waits for the stream that writes, not only for its own."""
    bench = Bench(schedule)
    bench.write(bench.source.page, 0, 7)
    number = bench.begin()
    assert bench.copies.finish(number, wait=True)
    bench.write(bench.target.page, 5, 8)
    assert bench.values(bench.target.page) == [7] * 5 + [8] * 11


def test_both_pages_are_pinned_until_the_host_knows() -> None:
    """Their request may go before; they are free once the copy has executed, and not earlier."""
    bench = Bench()
    number = bench.begin()
    bench.pool.drop(bench.pages, bench.holder)
    pins = {Holder("transfer", number): "read"}
    assert [bench.pool.holders(page) for page in bench.pages] == [pins, pins]
    bench.copies.check()
    assert not bench.copies.finish(number)
    assert bench.copies.pending(number)
    assert bench.history.of("copy_done") == []
    assert bench.copies.finish(number, wait=True)
    assert not bench.copies.pending(number)
    assert bench.history.of("copy_done") == [bench.told(number)]
    assert [bench.pool.state(page) for page in bench.pages] == ["free", "free"]
    assert bench.copies.finish(number)
    assert len(bench.history.of("copy_done")) == 1


def test_settles_those_that_have_executed() -> None:
    """All of them when told to wait, the oldest first."""
    bench = Bench()
    first = bench.begin()
    bench.copies.finish(first, wait=True)
    second, third = bench.begin(), bench.begin()
    bench.copies.settle(wait=True)
    assert bench.history.of("copy_done") == [bench.told(number) for number in (first, second, third)]
    bench.copies.check()


@pytest.mark.parametrize("schedule", ["fifo", *(f"random:{seed}" for seed in range(6))])
def test_who_appends_to_the_source_comes_behind_its_copies(schedule: str) -> None:
    """A copy reads whole pages: even positions that nobody wants must not change while it does."""
    bench = Bench(schedule)
    bench.write(bench.source.page, 0, 7)
    bench.begin()
    bench.copies.order_before(bench.source.page, bench.compute)
    bench.write(bench.source.page, 5, 9)
    assert bench.values(bench.target.page) == [7] * SIZE


def test_check_finds_a_page_that_was_let_go_too_early() -> None:
    """Each side is named with the copy that reads or writes it."""
    bench = Bench()
    number = bench.begin()
    bench.pool.drop([bench.source.page], Holder("transfer", number))
    with pytest.raises(InvariantError, match=f"copy 1 does not hold page {bench.source.page}"):
        bench.copies.check()


def test_who_goes_on_in_the_source_comes_behind_the_copy() -> None:
    """A turn that was taken before the copy began is written after it, whatever order the device picks."""
    for seed in range(20):
        bench = Bench(f"random:{seed}")
        bench.write(bench.source.page, 0, 7)
        bench.begin()
        bench.write(bench.source.page, 5, 9)
        assert [7] * 16 == bench.values(bench.target.page)
        assert [7] * 5 + [9] * 11 == bench.values(bench.source.page)
