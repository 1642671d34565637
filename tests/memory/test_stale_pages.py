"""Each policy on the simulated device: what it clears, when, and what it leaves."""

import pytest
import torch
from tracert_kernels.twins import clear_pages, clear_positions

from tests.memory.history import History
from tracert.device.simulated import SimDevice
from tracert.memory.arena import Arena
from tracert.memory.layout import KvLayout
from tracert.memory.stale_pages import StalePages, StalePagesKind, open_policy
from tracert.record.access import Compute, Extent

LAYOUT = KvLayout(pages=4, layers=2, page_size=16, kv_heads=1, head_dim=4, dtype=torch.float8_e4m3fn)
ANY = Compute(phase="test", step=0)


class Bench:
    """An arena with no byte that is 0, and a device that runs only when it must."""

    def __init__(self, kind: StalePagesKind) -> None:
        self.history = History()
        self.device = SimDevice(self.history, schedule="fifo")
        self.compute = self.device.stream("compute")
        self.arena = Arena(self.history, self.device, LAYOUT)
        self.policy: StalePages = open_policy(kind, self.device, self.arena, clear_pages, clear_positions)

        def fill(arena: torch.Tensor) -> None:
            arena.fill_(0x7F)

        self.device.launch(self.compute, fill, self.arena.bytes, access=ANY)

    def dead(self) -> dict[int, list[int]]:
        """Positions that are 0 in all layers, of each page."""
        self.device.sync_all()
        cache = self.device.read(self.arena.cache).view(torch.uint8)
        zero = (cache == 0).all(dim=5).all(dim=4).all(dim=2).all(dim=1)
        return {page: row.nonzero().flatten().tolist() for page, row in enumerate(zero) if row.any()}


def test_inert_leaves_every_byte() -> None:
    """Nothing is launched, and the kernels to go with it touch tokens only."""
    bench = Bench("inert")
    assert bench.policy.granted([1, 2], [2, 2], 5, bench.compute) is None
    assert bench.policy.restored(1, 2, 5, bench.compute) is None
    assert ("valid", {}) == (bench.policy.covers, bench.dead())


def test_zero_clears_whole_pages_of_earlier_lives() -> None:
    """A page in its first life has the arena's zeros already."""
    bench = Bench("zero")
    assert bench.policy.granted([1, 2, 3], [2, 1, 7], 5, bench.compute) is not None
    every = list(range(16))
    assert ("page", {1: every, 3: every}) == (bench.policy.covers, bench.dead())
    assert [[Extent(1, 2, 0, 16), Extent(3, 7, 0, 16)]] == [
        clear["target"] for clear in bench.history.of("clear")
    ]


def test_zero_launches_nothing_for_pages_in_their_first_life() -> None:
    """Nor for a copied page, which is as clean as its source."""
    bench = Bench("zero")
    assert bench.policy.granted([1, 2], [1, 1], 5, bench.compute) is None
    assert bench.policy.restored(1, 2, 5, bench.compute) is None
    assert {} == bench.dead()


@pytest.mark.parametrize(
    ("end", "expected"), [(5, {2: list(range(5, 16))}), (0, {2: list(range(16))}), (16, {})]
)
def test_clear_tail_clears_the_last_page_from_the_end_on(end: int, expected: dict[int, list[int]]) -> None:
    """Pages before it are filled by their request, and a full page has no tail."""
    bench = Bench("clear-tail")
    bench.policy.granted([1, 2], [2, 2], end, bench.compute)
    assert ({2: list(range(end, 16))} if end < 16 else {}) == bench.dead()
    assert bench.policy.covers == "page"


def test_clear_tail_clears_behind_a_copy_in_any_life() -> None:
    """The copy brought what the source had past its end."""
    bench = Bench("clear-tail")
    assert bench.policy.granted([1], [1], 5, bench.compute) is None
    assert bench.policy.restored(1, 1, 5, bench.compute) is not None
    assert {1: list(range(5, 16))} == bench.dead()


@pytest.mark.parametrize("kind", ["zero", "clear-tail"])
def test_clears_on_the_stream_that_is_named(kind: StalePagesKind) -> None:
    """The launch is the caller's stream's, behind what was launched there."""
    bench = Bench(kind)
    other = bench.device.stream("other")
    launch = bench.policy.granted([1], [2], 3, other)
    assert launch is not None
    assert other.id == launch.stream
    assert [other.id] == [clear["stream"] for clear in bench.history.of("clear")]
