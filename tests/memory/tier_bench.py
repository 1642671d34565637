"""A host tier with pool, arena and two streams, below a cache that is a dict; contents are judged by kernels.

Each prefix is a number, and its page is full of bytes that only it has. Kernels write and compare bytes when
they run, so what is out of order goes wrong in some schedule.
"""

from collections.abc import Callable

import torch
from tracert_kernels.twins import clear_pages

from tracert.device.device import Fence
from tracert.device.simulated import SimDevice
from tracert.memory.arena import Arena
from tracert.memory.host_tier import HostTier
from tracert.memory.layout import KvLayout
from tracert.memory.pool import PagePool
from tracert.record.access import Compute, Extent, Holder
from tracert.record.recorder import NullRecorder, Recorder

SIZE = 16
SECRET = bytes(16)


def digest(prefix: int) -> bytes:
    """The name of a prefix."""
    return prefix.to_bytes(16, "big")


def block(prefix: int) -> bytes:
    """Its tokens."""
    return prefix.to_bytes(8, "little")


class TierBench:
    """`pages` in the pool, `slots` in the tier."""

    def __init__(
        self,
        pages: int,
        slots: int,
        schedule: str,
        recorder: Recorder | None = None,
        ready: Callable[[SimDevice], None] = lambda _: None,
    ) -> None:
        """`ready` is called before anything is launched."""
        recorder = NullRecorder() if recorder is None else recorder
        self.device = SimDevice(recorder, schedule=schedule)
        self.compute, self.transfer = self.device.stream("compute"), self.device.stream("transfer")
        ready(self.device)
        self.pool = PagePool(recorder, pages, SIZE)
        layout = KvLayout(pages, layers=1, page_size=SIZE, kv_heads=1, head_dim=1, dtype=torch.float32)
        self.arena = Arena(recorder, self.device, layout)
        self.tier = HostTier(self.device, self.arena, slots, self.compute, self.transfer, SECRET)
        self.cached: dict[int, int] = {}
        """Page by prefix, oldest first."""
        self.wrong: list[str] = []
        self.read = 0
        self.arena.clear_all(self.compute)

    def pattern(self, prefix: int) -> torch.Tensor:
        """The bytes that its page must have."""
        generator = torch.Generator().manual_seed(prefix)
        size = (self.arena.layout.page_bytes,)
        return torch.randint(0, 256, size, dtype=torch.uint8, generator=generator)

    def write(self, prefix: int) -> bool:
        """A request computes the prefix's page, and it is cached; False when there is no room."""
        (page,) = granted = self.grant(1) or [0]
        if not page:
            return False
        (life,) = self.pool.lives(granted)
        expected = self.pattern(prefix)

        def forward(memory: torch.Tensor) -> None:
            memory[page] = expected

        access = Compute("prefill", 0, writes=[Extent(page, life, 0, SIZE)])
        self.device.launch(self.compute, forward, self.arena.bytes, access=access)
        self.cache(prefix, page)
        return True

    def grant(self, count: int) -> list[int]:
        """Pages held by `request:1`; evicts, reclaims, and at last lets compute wait, as the engine does."""
        missing = count - self.pool.available() - self.pool.counts().retired
        if missing > 0:
            self.evict(missing)
        if self.pool.available() < count:
            self.pool.reclaim(self.device.query)
        if self.pool.available() < count:
            self.pool.reclaim(self._order)
        return self.pool.alloc(count, Holder("request", 1)) if self.pool.available() >= count else []

    def _order(self, fence: Fence) -> bool:
        self.device.wait(self.compute, fence)
        return True

    def cache(self, prefix: int, page: int) -> None:
        """The request gives the page to the cache."""
        self.pool.hold([page], Holder("prefix", prefix), "read")
        self.pool.drop([page], Holder("request", 1), "write")
        self.cached[prefix] = page

    def evict(self, count: int) -> list[int]:
        """The oldest cached prefixes go, through the tier; in the order in which they went."""
        going = list(self.cached)[:count]
        pages = [self.cached.pop(prefix) for prefix in going]
        fence = self.tier.spill(
            [digest(prefix) for prefix in going],
            [block(prefix) for prefix in going],
            pages,
            self.pool.lives(pages),
        )
        for prefix, page in zip(going, pages, strict=True):
            self.pool.drop([page], Holder("prefix", prefix), "read", fence=fence)
        return going

    def find(self, prefixes: list[int]) -> list[int]:
        """The slots of the longest front of them."""
        return self.tier.find([digest(each) for each in prefixes], [block(each) for each in prefixes])

    def load(self, prefixes: list[int], slots: list[int], *, clear: bool) -> bool:
        """Bring them back, into pages that may be cleared before; False when there is no room."""
        pages = self.grant(len(slots))
        if not pages:
            self.tier.unpin(slots)
            return False
        lives = self.pool.lives(pages)
        if clear:
            self.arena.clear_pages(clear_pages, pages, lives, self.compute)
        self.tier.load(slots, pages, lives)
        for prefix, page in zip(prefixes, pages, strict=True):
            self.judge(prefix, page)
            self.cache(prefix, page)
        return True

    def judge(self, prefix: int, page: int) -> None:
        """Compute reads the page, and notes it when it has not the prefix's bytes."""
        expected = self.pattern(prefix)

        def forward(memory: torch.Tensor) -> None:
            self.read += 1
            if not torch.equal(expected, memory[page]):
                self.wrong.append(f"page {page} has not the bytes of prefix {prefix}")

        reads = [Extent(page, self.pool.lives([page])[0], 0, SIZE)]
        access = Compute("decode", 0, reads=reads)
        self.device.launch(self.compute, forward, self.arena.bytes, access=access)

    def check(self) -> None:
        """Nothing contradicts itself, and no kernel has read other bytes."""
        self.pool.check()
        self.tier.check()
        assert [] == self.wrong
