"""Snapshots: what is known after a prompt, kept so that the same prompt need not be computed again.

    save(...) -> id         after the launch that computed a prompt: its pages, and a copy of its logits
    find(tokens, identity)  the snapshot of just this prompt
    pin(id) / unpin(id)     it stays, whatever pages are short of
    restore(id, ...)        its logits are where `sample` reads them, so that no forward is needed
    evict(count)            least recently used first, for want of pages

A snapshot holds, as `snapshot:<n>`, every full page of the prompt for reading, and a page of its own with a
copy of the page that the prompt fills in part: the whole page, what lies past the prompt's end included.

Its float32 state row **borrows the bytes of KV pages**. Slot s has fixed bytes (`row_spans`), which may meet
a neighbour's in a page; it can be used while each page of them is free or has only rows. The first snapshot
on a page takes it out of the free queue and holds it for writing, later ones for reading: rows of two never
share a byte. With the last one the page goes back to the queue *as it is*: who must not see a row's bytes in
a page has to clear them (`stale_pages`). With `dedicated`, rows lie on pages that nobody else ever gets.

Rows and tails are written and read on the one stream that computes. A released snapshot's pages are guarded
by the fence behind its last launch.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import torch

from tracert.device.device import Device, Fence, Launch, Memory, Stream
from tracert.memory.arena import Arena
from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity
from tracert.memory.prefix_digest import token_bytes
from tracert.memory.row_spans import RowSpan, row_spans
from tracert.memory.tail_copies import TailCopies
from tracert.record.access import ByteRange, Compute, Extent, Holder
from tracert.record.recorder import Recorder

DEDICATED = Holder("snapshot", 0)
"""Who holds the pages of dedicated rows, from the start on; snapshots are numbered from 1."""


class SnapshotId(NamedTuple):
    """Names one snapshot: its slot is used again, in a later generation."""

    slot: int
    generation: int


class Snapshot(NamedTuple):
    """The pages of a prompt of `positions` tokens; `tail` is the copy of the one filled in part."""

    number: int
    identity: Identity
    tokens: bytes
    """As int32."""
    positions: int
    pages: list[int]
    tail: int | None

    @property
    def holder(self) -> Holder:
        """The word for this snapshot in the history."""
        return Holder("snapshot", self.number)

    @property
    def held(self) -> list[int]:
        """Its KV pages, the tail's copy last."""
        return self.pages if self.tail is None else [*self.pages, self.tail]


class SnapshotStore:
    """`slots` snapshots, each with a row of `numbers` float32. LayoutError when the rows do not fit."""

    def __init__(
        self,
        recorder: Recorder,
        device: Device,
        pool: PagePool,
        arena: Arena,
        copies: TailCopies,
        compute: Stream,
        slots: int,
        numbers: int,
        *,
        dedicated: bool = False,
    ) -> None:
        self.slots = slots
        self.dedicated = dedicated
        self._recorder = recorder
        self._device = device
        self._pool = pool
        self._layout = arena.layout
        self._copies = copies
        self._compute = compute
        spans = self._spans = row_spans(arena.layout, slots, 4 * numbers, dedicated=dedicated)
        self._rows = [arena.bytes.view(torch.float32, (numbers,), span.first) for span in spans]
        self._ranges = [span.ranges(arena.layout.page_bytes) for span in spans]
        self._generation = [0] * slots
        self._free = list(range(slots))
        self._kept: OrderedDict[SnapshotId, Snapshot] = OrderedDict()
        """Least recently used first."""
        self._named: dict[tuple[Identity, bytes], SnapshotId] = {}
        self._aliases: Counter[int] = Counter()
        """How many snapshots have rows on a page."""
        self._fence: dict[SnapshotId, Fence] = {}
        self._pins: Counter[SnapshotId] = Counter()
        self._numbers = 0
        if dedicated:
            pool.take(sorted({piece.page for ranges in self._ranges for piece in ranges}), DEDICATED)

    def __len__(self) -> int:
        """How many snapshots there are."""
        return len(self._kept)

    @property
    def free(self) -> int:
        """Slots without a snapshot."""
        return len(self._free)

    def row_pages(self, snapshot_id: SnapshotId) -> list[int]:
        """The pages that the row of a slot lies on."""
        return [piece.page for piece in self._ranges[snapshot_id.slot]]

    def row_span(self, snapshot_id: SnapshotId) -> RowSpan:
        """The bytes of the arena that the row of a slot has."""
        return self._spans[snapshot_id.slot]

    def aliased(self) -> list[int]:
        """Pages that have rows, and no keys and values: those of the dedicated rows apart."""
        return sorted(self._aliases)

    def find(self, tokens: Sequence[int], identity: Identity) -> SnapshotId | None:
        """The snapshot of just this prompt."""
        return self._named.get((identity, token_bytes(tokens)))

    def look(self, snapshot_id: SnapshotId) -> Snapshot | None:
        """The snapshot; None when it is gone."""
        return self._kept.get(snapshot_id)

    def pin(self, snapshot_id: SnapshotId) -> None:
        """It is not evicted until it is unpinned as often."""
        self._pins[snapshot_id] += 1

    def unpin(self, snapshot_id: SnapshotId) -> None:
        """Once less."""
        self._pins[snapshot_id] -= 1
        if self._pins[snapshot_id] <= 0:
            del self._pins[snapshot_id]

    def forget(self, snapshot_id: SnapshotId) -> None:
        """Nobody finds it from now on; it goes at once, or, when it is pinned, as others do."""
        snapshot = self._kept.get(snapshot_id)
        if snapshot is not None:
            self._named.pop((snapshot.identity, snapshot.tokens), None)
            if snapshot_id not in self._pins:
                self.release(snapshot_id)

    def claims(self) -> dict[Holder, list[int]]:
        """The pages with keys and values that each snapshot says are its."""
        return {snapshot.holder: snapshot.held for snapshot in self._kept.values()}

    def save(
        self,
        request: int,
        tokens: Sequence[int],
        pages: Sequence[int],
        identity: Identity,
        logits: Memory,
        step: int,
    ) -> SnapshotId | None:
        """Keep the state after the prompt `tokens`, whose `pages` its request holds, and its row `logits`.

        To be called behind the launch that writes them and before the next one. None when there is no room,
        though every snapshot that is not pinned was given up for it; the one there is, when there is one.
        """
        name = identity, token_bytes(tokens)
        there = self._named.get(name)
        if there is not None:
            self._kept.move_to_end(there)
            return there
        whole, part = divmod(len(tokens), self._pool.page_size)
        slot = self._find_slot(bool(part))
        if slot is None:
            return None
        self._numbers += 1
        self._generation[slot] += 1
        snapshot_id = SnapshotId(slot, self._generation[slot])
        holder = Holder("snapshot", self._numbers)
        self._free.remove(slot)
        self._borrow(slot, holder)
        self._pool.hold(pages[:whole], holder, "read")
        tail = self._pool.alloc(1, holder)[0] if part else None
        snapshot = Snapshot(self._numbers, identity, name[1], len(tokens), list(pages[:whole]), tail)
        self._kept[snapshot_id] = snapshot
        self._named[name] = snapshot_id
        if tail is not None:
            source, target = (
                Extent(page, self._pool.lives([page])[0], 0, part) for page in (pages[whole], tail)
            )
            self._copies.direct(source, target, self._compute)
        access = Compute(
            "snapshot", step, writes=self._extents(slot), resources=("read:logits",), content="rows"
        )
        launch = self._device.launch(self._compute, store_row, logits, self._rows[slot], access=access)
        self._recorder.snapshot_save(snapshot.number, request, launch.id, *self._told(snapshot_id, snapshot))
        self._fence[snapshot_id] = self._device.record(self._compute)
        return snapshot_id

    def restore(self, snapshot_id: SnapshotId, request: int, logits: Memory, step: int) -> Launch:
        """Load the row of a snapshot, which is there, into `logits`. Its pages are the caller's to hold."""
        snapshot = self._kept[snapshot_id]
        access = Compute(
            "snapshot",
            step,
            reads=self._extents(snapshot_id.slot),
            resources=("write:logits",),
            content="rows",
        )
        row = self._rows[snapshot_id.slot]
        launch = self._device.launch(self._compute, load_row, row, logits, access=access)
        self._recorder.snapshot_restore(
            snapshot.number, request, launch.id, *self._told(snapshot_id, snapshot)
        )
        self._fence[snapshot_id] = self._device.record(self._compute)
        self._kept.move_to_end(snapshot_id)
        return launch

    def release(self, snapshot_id: SnapshotId) -> None:
        """Let a snapshot go; nothing when it is gone."""
        snapshot = self._kept.pop(snapshot_id, None)
        if snapshot is None:
            return
        if self._named.get((snapshot.identity, snapshot.tokens)) == snapshot_id:
            del self._named[snapshot.identity, snapshot.tokens]
        self._free.append(snapshot_id.slot)
        fence = self._fence.pop(snapshot_id)
        self._pool.drop(snapshot.pages, snapshot.holder, "read", fence=fence)
        if snapshot.tail is not None:
            self._pool.drop([snapshot.tail], snapshot.holder, "write", fence=fence)
        self._give_back(snapshot_id.slot, snapshot.holder, fence)

    def evict(self, count: int) -> int:
        """Let snapshots go until nobody holds `count` of their pages; returns how many."""
        released = 0
        for snapshot_id in list(self._kept):
            if released >= count:
                break
            if snapshot_id in self._pins:
                continue
            snapshot = self._kept[snapshot_id]
            pages = [*snapshot.held, *([] if self.dedicated else self.row_pages(snapshot_id))]
            self.release(snapshot_id)
            released += sum(not self._pool.holders(page) for page in pages)
        return released

    def reset(self) -> None:
        """Let all go."""
        for snapshot_id in list(self._kept):
            self.release(snapshot_id)

    def check(self) -> None:
        """InvariantError when slots, rows and pages are not held as the snapshots say."""
        wrong: list[str] = []
        rows: Counter[int] = Counter()
        slots = Counter([*self._free, *(snapshot_id.slot for snapshot_id in self._kept)])
        if slots != Counter(range(self.slots)):
            wrong.append("a slot is free and taken, twice, or neither")
        for snapshot_id, snapshot in self._kept.items():
            name = f"snapshot {snapshot.number}"
            if self._generation[snapshot_id.slot] != snapshot_id.generation:
                wrong.append(f"{name} is in slot {snapshot_id.slot}, which is another's")
            held = snapshot.held if self.dedicated else [*snapshot.held, *self.row_pages(snapshot_id)]
            missing = [page for page in held if snapshot.holder not in self._pool.holders(page)]
            if missing:
                wrong.append(f"{name} does not hold pages {', '.join(map(str, missing))}")
            rows.update([] if self.dedicated else self.row_pages(snapshot_id))
        if rows != self._aliases:
            wrong.append(
                f"pages {sorted((rows - self._aliases) + (self._aliases - rows))} are counted wrongly"
            )
        mixed = [page for page in rows if self._has_more_than_rows(page)]
        if mixed:
            wrong.append(f"pages {', '.join(map(str, mixed))} have rows, and are held by others")
        lost = [kept for kept in self._named.values() if kept not in self._kept]
        if lost:
            wrong.append(f"slots {[each.slot for each in lost]} are found by a prompt without a snapshot")
        gone = [pinned for pinned in self._pins if pinned not in self._kept]
        if gone:
            wrong.append(f"slots {[pinned.slot for pinned in gone]} are pinned without a snapshot")
        if wrong:
            raise InvariantError("snapshots contradict the pool: " + "; ".join(wrong))

    def _has_more_than_rows(self, page: int) -> bool:
        with_rows = {snapshot.holder for each, snapshot in self._kept.items() if page in self.row_pages(each)}
        return bool(self._pool.holders(page).keys() - with_rows)

    def _find_slot(self, tail: bool) -> int | None:
        """A free slot whose pages can be had, with one more for a tail; snapshots give way to it."""
        while True:
            self._pool.reclaim(self._device.query)
            if self._usable(tail) is None and self._usable(tail, retired=True) is not None:
                self._pool.reclaim(self._wait)
            slot = self._usable(tail)
            if slot is not None:
                return slot
            oldest = next((each for each in self._kept if each not in self._pins), None)
            if oldest is None:
                return None
            self.release(oldest)

    def _usable(self, tail: bool, *, retired: bool = False) -> int | None:
        """The first free slot that could be had now, or once what is retired is free."""
        room = self._pool.available() + (self._pool.counts().retired if retired else 0)
        states = ("free", "retired") if retired else ("free",)
        for slot in self._free:
            fresh = self._fresh(slot)
            if room >= len(fresh) + tail and all(self._pool.state(page) in states for page in fresh):
                return slot
        return None

    def _wait(self, fence: Fence) -> bool:
        self._device.sync(fence)
        return True

    def _fresh(self, slot: int) -> list[int]:
        """The pages that the slot's row would be the first on."""
        if self.dedicated:
            return []
        return [piece.page for piece in self._ranges[slot] if not self._aliases[piece.page]]

    def _borrow(self, slot: int, holder: Holder) -> None:
        if self.dedicated:
            return
        fresh = self._fresh(slot)
        pages = [piece.page for piece in self._ranges[slot]]
        self._pool.take(fresh, holder)
        self._pool.hold([page for page in pages if page not in fresh], holder, "read")
        self._aliases.update(pages)
        self._recorder.snapshot_alias(holder.id, self._ranges[slot], pages, self._pool.lives(pages))

    def _give_back(self, slot: int, holder: Holder, fence: Fence) -> None:
        if self.dedicated:
            return
        pages = [piece.page for piece in self._ranges[slot]]
        self._aliases.subtract(pages)
        self._aliases += Counter()
        self._recorder.snapshot_release(holder.id, self._ranges[slot], pages, self._pool.lives(pages))
        self._pool.drop(pages, holder, fence=fence)

    def _extents(self, slot: int) -> list[Extent]:
        """The positions that have any byte of the slot's row."""
        return [
            Extent(piece.page, self._pool.lives([piece.page])[0], first, end)
            for piece in self._ranges[slot]
            for first, end in self._layout.positions(piece)
        ]

    def _told(
        self, snapshot_id: SnapshotId, snapshot: Snapshot
    ) -> tuple[int, list[ByteRange], list[int], list[int]]:
        pages = snapshot.held
        return snapshot.positions, self._ranges[snapshot_id.slot], pages, self._pool.lives(pages)


def store_row(source: torch.Tensor, row: torch.Tensor) -> None:
    """Kernel: float32 numbers into the bytes of pages."""
    row.copy_(source)


def load_row(row: torch.Tensor, target: torch.Tensor) -> None:
    """Kernel: float32 numbers out of the bytes of pages."""
    target.copy_(row)
