"""The arena on the simulated device: cleared, copied, and seen through its views."""

import pytest
import torch
from tracert_kernels.twins import clear_pages, copy_pages

from tests.memory.history import History
from tracert.device.device import Memory
from tracert.device.simulated import SimDevice
from tracert.memory.arena import Arena
from tracert.memory.errors import LayoutError
from tracert.memory.layout import KvLayout
from tracert.record.access import Compute, Extent

LAYOUT = KvLayout(pages=4, layers=2, page_size=16, kv_heads=1, head_dim=2, dtype=torch.float32)


class Bench:
    """A cleared arena whose pages are then filled with their own number."""

    def __init__(self, schedule: str = "fifo") -> None:
        self.history = History()
        self.device = SimDevice(self.history, schedule=schedule)
        self.stream = self.device.stream("compute")
        self.arena = Arena(self.history, self.device, LAYOUT)
        self.arena.clear_all(self.stream)

    def fill(self) -> None:
        """Each page's values become its number."""

        def number(cache: torch.Tensor) -> None:
            for page in range(LAYOUT.pages):
                cache[page] = page

        access = Compute(phase="test", step=0)
        self.device.launch(self.stream, number, self.arena.cache, access=access)

    def read(self, memory: Memory) -> torch.Tensor:
        """The memory after everything launched."""
        self.device.sync_all()
        return self.device.read(memory)

    def values(self) -> list[float]:
        """One value a page, all values of a page being equal."""
        cache = self.read(self.arena.cache)
        assert torch.equal(cache, cache[:, :1, :1, :1, :1, :1].expand(cache.shape))
        return [float(value) for value in cache[:, 0, 0, 0, 0, 0]]


def test_is_cleared_at_start_by_one_recorded_launch() -> None:
    """Every page is zero, and the clear names every page before its first life."""
    bench = Bench()
    assert bench.values() == [0, 0, 0, 0]
    assert bench.history.of("clear") == [
        {
            "launch": 1,
            "stream": 1,
            "ordinal": 1,
            "kernel": "clear_arena",
            "target": [Extent(page, 0, 0, 16) for page in range(4)],
        }
    ]


def test_views_are_the_same_bytes() -> None:
    """What is written through the typed view lies where the layout says."""
    bench = Bench()
    bench.fill()
    raw = bench.read(bench.arena.bytes)
    assert raw.shape == (4, LAYOUT.page_bytes)
    for piece in LAYOUT.byte_ranges(3, 5, 7):
        assert raw[3, piece.first : piece.end].clone().view(torch.float32).tolist() == [3.0] * 4


def test_clears_and_copies_whole_pages() -> None:
    """Both take their page ids from staging, and tell the extents."""
    bench = Bench(schedule="random:1")
    bench.fill()
    bench.arena.copy_pages(copy_pages, [Extent(3, 1, 0, 16)], [Extent(1, 2, 0, 16)], bench.stream)
    bench.arena.clear_pages(clear_pages, [3, 2], [1, 5], bench.stream)
    assert bench.values() == [0, 3, 0, 0]
    copy, clear = bench.history.of("copy")[0], bench.history.of("clear")[1]
    assert (copy["source"], copy["target"]) == ([Extent(3, 1, 0, 16)], [Extent(1, 2, 0, 16)])
    assert clear["target"] == [Extent(3, 1, 0, 16), Extent(2, 5, 0, 16)]


def test_pending_launches_keep_their_page_ids() -> None:
    """Many clears in flight each read ids of their own; a fence lets later ones share."""
    bench = Bench(schedule="random:2")
    bench.fill()
    for page in (1, 2, 3):
        bench.arena.clear_pages(clear_pages, [page], [1], bench.stream)
    assert len({event["staging"] for event in bench.history.of("stage")}) == 3
    bench.arena.fenced(bench.device.record(bench.stream))
    assert bench.values() == [0, 0, 0, 0]
    bench.arena.clear_pages(clear_pages, [1], [1], bench.stream)
    assert len({event["staging"] for event in bench.history.of("stage")}) == 3


def test_refuses_to_copy_part_of_a_page() -> None:
    """The kernel copies whole pages, so an extent that says less would be a lie."""
    bench = Bench()
    with pytest.raises(LayoutError, match=r"^copy_pages copies whole pages of 16"):
        bench.arena.copy_pages(copy_pages, [Extent(3, 1, 0, 9)], [Extent(1, 2, 0, 9)], bench.stream)
    assert bench.history.of("copy") == []


def test_is_no_larger_than_the_device() -> None:
    """The device's MemoryError passes through."""
    device = SimDevice(History(), memory_limit=LAYOUT.nbytes - 1)
    with pytest.raises(MemoryError):
        Arena(History(), device, LAYOUT)
