"""The host tier: pages that the prefix cache evicts go on in pinned host memory, and come back on a hit.

    spill(digests, blocks, pages, lives)    an eviction: the pages' bytes are copied to slots
    find_behind(tokens, identity, pages)    the hit goes on: those slots are pinned from now on,
    load(slots, pages, lives)               until they are copied into pages granted for them,
    unpin(slots)                            or are not wanted after all

A slot has the bytes of one full page, and is found by the digest of the page's whole prefix; the page's own
tokens are compared as well, so that a collision is a miss. Least recently used slots are taken first, pinned
ones never; a page that finds none is forgotten, as it would be without a tier. A slot outlives its loads: a
page that is evicted again while its slot is there costs no copy.

**Order.** Both copies are launched on one stream, so a slot is read and rewritten in the order of the calls.

    compute: writes of the page -> fence -> offload -> fence -> the page may be granted again
    compute: clear of the page  -> fence -> load    -> fence -> compute reads the page

The tier makes all of these fences, and returns the one behind an offload. Pages and holders are the caller's.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from tracert_kernels.host_pages import load_pages, offload_pages

from tracert.device.device import Device, Fence, Launch, Stream
from tracert.memory.arena import Arena
from tracert.memory.errors import InvariantError
from tracert.memory.prefix import Identity
from tracert.memory.prefix_digest import chained, page_digests, root_digest, token_bytes
from tracert.record.access import Load, Offload


class HostStats(NamedTuple):
    """Slots, now; pages copied, and pages that found no slot or lost it, since the start."""

    free: int
    used: int
    offloaded: int
    loaded: int
    forgotten: int


class _Kept(NamedTuple):
    slot: int
    block: bytes


class HostTier:
    """`slots` slots of one page each. MemoryError when the host has no room for them."""

    def __init__(
        self, device: Device, arena: Arena, slots: int, compute: Stream, transfer: Stream, secret: bytes
    ) -> None:
        """`compute` is the stream that writes pages; copies run on `transfer`. `secret` is the cache's."""
        self.slots = slots
        self._device = device
        self._arena = arena
        self._compute = compute
        self._transfer = transfer
        self._secret = secret
        self._host = _pinned(device, slots, arena.layout.page_bytes)
        self._free = list(range(slots - 1, -1, -1))
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        """By digest, least recently used first."""
        self._name: list[bytes | None] = [None] * slots
        self._pins = [0] * slots
        self._offloaded = self._loaded = self._forgotten = 0

    def spill(
        self,
        digests: Sequence[bytes],
        blocks: Sequence[bytes],
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> Fence | None:
        """Keep full pages, the last ones first when there are too few slots.

        The fence is behind the copies: the pages must not be granted before it has passed. None when nothing
        is copied.
        """
        moved: list[tuple[int, int, int]] = []
        used: list[int] = []
        for digest, block, page, life in list(zip(digests, blocks, pages, lives, strict=True))[::-1]:
            if digest not in self._kept:
                slot = self._take()
                if slot is None:
                    break
                self._keep(slot, digest, block)
                moved.append((slot, page, life))
            # No page of this call makes room for another one of it: a slot is written once a launch.
            used.append(self._kept[digest].slot)
            self._pins[used[-1]] += 1
        self.unpin(used)
        for digest in digests:
            if digest in self._kept:
                self._kept.move_to_end(digest)
            else:
                self._forgotten += 1
        if not moved:
            return None
        slots, sources, of_lives = (list(part) for part in zip(*moved, strict=True))
        self._after_compute()
        self._device.launch(
            self._transfer,
            offload_pages,
            self._arena.bytes,
            self._host,
            sources,
            slots,
            access=Offload(sources, of_lives, slots),
        )
        self._offloaded += len(slots)
        return self._device.record(self._transfer)

    def find_behind(self, tokens: Sequence[int], identity: Identity, pages: int) -> list[int]:
        """As `find`, for the full pages of a prompt behind its first `pages`, short of its last token."""
        if not self._kept:
            return []
        size = self._arena.layout.page_size
        first, end = pages * size, max(len(tokens) - 1, 0) // size * size
        blocks = [token_bytes(tokens[at : at + size]) for at in range(first, end, size)]
        return self.find(self._names(tokens[:first], identity, blocks), blocks)

    def find(self, digests: Iterable[bytes], blocks: Iterable[bytes]) -> list[int]:
        """The slots of the longest front of these pages, pinned; `blocks` are the tokens of each page."""
        found: list[tuple[bytes, int]] = []
        for digest, block in zip(digests, blocks, strict=False):
            kept = self._kept.get(digest)
            if kept is None or kept.block != block:
                break
            found.append((digest, kept.slot))
        for digest, slot in reversed(found):
            self._pins[slot] += 1
            self._kept.move_to_end(digest)
        return [slot for _, slot in found]

    def load(self, slots: Sequence[int], pages: Sequence[int], lives: Sequence[int]) -> Launch:
        """Copy pinned slots to pages; the pins go, for what rewrites the slots is launched behind this."""
        self._after_compute()
        launch = self._device.launch(
            self._transfer,
            load_pages,
            self._arena.bytes,
            self._host,
            list(pages),
            list(slots),
            access=Load(list(pages), list(lives), list(slots)),
        )
        self._device.wait(self._compute, self._device.record(self._transfer))
        self._loaded += len(slots)
        self.unpin(slots)
        return launch

    def unpin(self, slots: Sequence[int]) -> None:
        """Slots that `find` gave are not wanted any more."""
        for slot in slots:
            self._pins[slot] -= 1

    def reset(self) -> None:
        """Forget every page that is not pinned."""
        for digest, (slot, _) in list(self._kept.items()):
            if not self._pins[slot]:
                del self._kept[digest]
                self._name[slot] = None
                self._free.append(slot)

    @property
    def stats(self) -> HostStats:
        """Gauges and counters."""
        return HostStats(len(self._free), len(self._kept), self._offloaded, self._loaded, self._forgotten)

    def check(self) -> None:
        """InvariantError when a slot is not either free or kept under the one digest that finds it."""
        wrong: list[str] = []
        free = set(self._free)
        if len(free) != len(self._free):
            wrong.append("a slot is free more than once")
        for slot, name in enumerate(self._name):
            kept = None if name is None else self._kept.get(name)
            if (slot in free) != (name is None):
                wrong.append(f"slot {slot} is free and named at once, or neither")
            if name is not None and (kept is None or kept.slot != slot):
                wrong.append(f"slot {slot} is not found by its name")
            if self._pins[slot] < 0 or (self._pins[slot] and name is None):
                wrong.append(f"slot {slot} is pinned {self._pins[slot]} times, and holds nothing to pin")
        if len(self._kept) + len(self._free) != self.slots:
            wrong.append(f"{len(self._kept)} kept and {len(self._free)} free slots are not {self.slots}")
        if wrong:
            raise InvariantError("the host tier contradicts itself: " + "; ".join(wrong))

    def _keep(self, slot: int, digest: bytes, block: bytes) -> None:
        self._kept[digest] = _Kept(slot, block)
        self._name[slot] = digest

    def _take(self) -> int | None:
        """A slot to write: a free one, or the least recently used that is not pinned."""
        if self._free:
            return self._free.pop()
        for digest, (slot, _) in self._kept.items():
            if not self._pins[slot]:
                del self._kept[digest]
                self._forgotten += 1
                return slot
        return None

    def _names(self, front: Sequence[int], identity: Identity, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The digests of the pages behind a front, made as they are asked for."""
        names = page_digests(self._secret, identity, front, self._arena.layout.page_size)
        name = names[-1] if names else root_digest(self._secret, identity)
        for block in blocks:
            name = chained(self._secret, name, block)
            yield name

    def _after_compute(self) -> None:
        self._device.wait(self._transfer, self._device.record(self._compute))


def _pinned(device: Device, slots: int, page_bytes: int) -> torch.Tensor:
    try:
        return device.pinned((slots, page_bytes), torch.uint8)
    except RuntimeError as error:
        if "memory" not in str(error):
            raise
        raise MemoryError(f"host memory: no room for {slots} slots of {page_bytes} bytes") from None
