"""The persistent device table: one row a sequence slot, whose entries name the pages of its request.

    acquire(request) -> handle          the row's generation grows; the device row keeps what was there
    activate(handle, pages, ...)        the host maps the whole row, and publishes it
    extend(handle, pages, ...)          the host maps more entries, and publishes those
    release(handle, stream)             the host unmaps; the device row is poisoned if so built

*Mapping* is what the host means; *publishing* is the copy launch that makes the device see it. The
copy reads pinned staging when it executes, so every publish has a staging buffer of its own until a
fence behind it has passed: the engine calls `fenced(fence)` once a step. Publishes are ordered with
each other, and with what walks the row, by their stream or by fences, which is the caller's business:
the stream has no default. Entries past what was published keep what an earlier tenant left (0 at
first, after `clear`). A poisoned entry is POISON, no page of any pool; readers of the history take
any id past the pool as no page.

A publish goes through `publish`, and does not ask whether its handle is the row's present
generation. `check()` compares mapped and published. Knows nothing of page ownership.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import torch

from tracert.device.device import Device, Fence, Kernel, Launch, Stream
from tracert.memory.errors import InvariantError, LayoutError, NoRoom, RowError
from tracert.memory.staging import StagingBuffer, StagingRing
from tracert.record.access import Compute, Publish
from tracert.record.recorder import Keyframe, Recorder

POISON = 0x7FFFFFFF
"""What a poisoned entry holds: the largest int32, out of range of every pool."""


class RowHandle(NamedTuple):
    """One tenancy of a row."""

    row: int
    generation: int


class RowView(NamedTuple):
    """The host's side of a row: `request` 0 when the row is free; `epoch` counts its publishes."""

    generation: int
    request: int
    epoch: int
    pages: list[int]
    lives: list[int]


def clear_table(table: torch.Tensor) -> None:
    """Set every entry to 0, the reserved page."""
    table.zero_()


class BlockTable:
    """`rows` rows of `width` int32 entries on the device, and the host's view of them.

    `copy_row(table, row, first, staging, count)` copies the front of a staging buffer to a row.
    LayoutError when rows or width are less than 1; MemoryError of the device when there is no room.
    """

    def __init__(
        self,
        recorder: Recorder,
        device: Device,
        rows: int,
        width: int,
        copy_row: Kernel,
        poison: bool = False,
    ) -> None:
        if rows < 1 or width < 1:
            raise LayoutError(f"a block table of {rows} rows of {width} entries has no entry; give both >= 1")
        self.rows = rows
        self.width = width
        self.memory = device.allocate(4 * rows * width).view(torch.int32, (rows, width))
        self.staging = StagingRing(recorder, device, width, first_id=2)
        self._recorder = recorder
        self._device = device
        self._copy_row = copy_row
        self._poison = self._poison_buffer() if poison else None
        self._free = deque(range(rows))
        self._generation = [0] * rows
        self._request = [0] * rows
        self._epoch = [0] * rows
        self._pages: list[list[int]] = [[] for _ in range(rows)]
        self._lives: list[list[int]] = [[] for _ in range(rows)]
        self._published_pages: list[list[int]] = [[] for _ in range(rows)]
        self._published_lives: list[list[int]] = [[] for _ in range(rows)]

    def _poison_buffer(self) -> StagingBuffer:
        """The one buffer that every poisoning reads: written once, so never in a race. Its id is 1."""
        tensor = self._device.pinned((self.width,), torch.int32)
        tensor.fill_(POISON)
        self._recorder.stage(1, 4 * self.width)
        return StagingBuffer(1, tensor, tensor.numpy())

    def clear(self, stream: Stream) -> Launch:
        """Zero the whole table, once, before its first use."""
        access = Compute(phase="start", step=0, resources=("write:block_table",))
        return self._device.launch(stream, clear_table, self.memory, access=access)

    def acquire(self, request: int) -> RowHandle:
        """Grant the row that has been free longest, in a new generation; NoRoom when there is none."""
        if not self._free:
            raise NoRoom(f"no room for a row: all {self.rows} are taken; release one first")
        row = self._free.popleft()
        self._generation[row] += 1
        self._request[row] = request
        self._recorder.row_acquire(row, self._generation[row], request)
        return RowHandle(row, self._generation[row])

    def activate(
        self, handle: RowHandle, pages: Sequence[int], lives: Sequence[int], stream: Stream
    ) -> Launch:
        """Map and publish the whole row, in place of what it mapped; RowError when it does not fit."""
        self._require_fit(handle.row, 0, len(pages))
        self._unmap(handle)
        self._map(handle, pages, lives)
        return self.publish(handle, 0, pages, lives, stream)

    def extend(self, handle: RowHandle, pages: Sequence[int], lives: Sequence[int], stream: Stream) -> Launch:
        """Map and publish entries behind those mapped; earlier publishes need not have executed."""
        first = len(self._pages[handle.row])
        self._require_fit(handle.row, first, len(pages))
        self._map(handle, pages, lives)
        return self.publish(handle, first, pages, lives, stream)

    def publish(
        self, handle: RowHandle, first: int, pages: Sequence[int], lives: Sequence[int], stream: Stream
    ) -> Launch:
        """Copy entries `first, first + 1, ...` to the device row through a staging buffer."""
        buffer = self.staging.take()
        self.staging.write(buffer, pages)
        launch = self._copy(handle, first, list(pages), list(lives), buffer, stream)
        self.staging.launched(buffer, launch)
        return launch

    def release(self, handle: RowHandle, stream: Stream) -> None:
        """Unmap the row and give it back; if so built, overwrite its former extent with POISON."""
        extent = len(self._pages[handle.row])
        self._unmap(handle)
        self._request[handle.row], request = 0, self._request[handle.row]
        self._free.append(handle.row)
        self._recorder.row_release(handle.row, handle.generation, request)
        if self._poison is not None and extent:
            self._copy(handle, 0, [POISON] * extent, [0] * extent, self._poison, stream)

    def fenced(self, fence: Fence) -> None:
        """`fence` is behind the publishes so far on its stream: once it passes, their staging is free."""
        self.staging.fenced(fence)

    def row(self, row: int) -> RowView:
        """A copy of the host's side of a row."""
        return RowView(
            self._generation[row],
            self._request[row],
            self._epoch[row],
            list(self._pages[row]),
            list(self._lives[row]),
        )

    def mapped(self, row: int) -> int:
        """How many entries the row maps."""
        return len(self._pages[row])

    def published(self, row: int) -> list[tuple[int, int]]:
        """(page, life) of each entry of the device row, once all publishes launched have executed."""
        return list(zip(self._published_pages[row], self._published_lives[row], strict=True))

    def keyframe(self, frame: Keyframe) -> None:
        """Add every row that ever had a tenant, with what its device row holds, to the frame."""
        for row, generation in enumerate(self._generation):
            if generation:
                entry = (row, generation, self._request[row], self._epoch[row], self.published(row))
                frame.rows.append(entry)

    def check(self) -> None:
        """InvariantError when a row is free and taken at once, or mapped otherwise than published."""
        wrong: list[str] = []
        free = list(self._free)
        for row in range(self.rows):
            pages, extent = self._pages[row], len(self._pages[row])
            if free.count(row) != (self._request[row] == 0):
                wrong.append(f"row {row} is free {free.count(row)} times and held by {self._request[row]}")
            if not self._request[row] and pages:
                wrong.append(f"row {row} is free and maps pages {pages}")
            if len(set(pages)) != extent:
                wrong.append(f"row {row} maps a page twice: {pages}")
            shown = self._published_pages[row][:extent], self._published_lives[row][:extent]
            if shown != (pages, self._lives[row]):
                wrong.append(f"row {row} maps {pages} and published {shown[0]}")
        if wrong:
            raise InvariantError("the block table contradicts itself: " + "; ".join(wrong))

    def _require_fit(self, row: int, first: int, count: int) -> None:
        if not count:
            raise RowError(f"no pages to map to row {row}: a publish needs at least one")
        if first + count > self.width:
            raise RowError(
                f"row {row} has {self.width} entries, {first} of them mapped: {count} more do not fit"
            )

    def _map(self, handle: RowHandle, pages: Sequence[int], lives: Sequence[int]) -> None:
        first = len(self._pages[handle.row])
        self._pages[handle.row].extend(pages)
        self._lives[handle.row].extend(lives)
        self._recorder.map(handle.row, handle.generation, first, pages, lives)

    def _unmap(self, handle: RowHandle) -> None:
        pages, lives = self._pages[handle.row], self._lives[handle.row]
        if not pages:
            return
        self._pages[handle.row], self._lives[handle.row] = [], []
        self._recorder.unmap(handle.row, handle.generation, 0, pages, lives)

    def _copy(
        self,
        handle: RowHandle,
        first: int,
        pages: list[int],
        lives: list[int],
        buffer: StagingBuffer,
        stream: Stream,
    ) -> Launch:
        row = handle.row
        access = Publish(row, handle.generation, self._epoch[row] + 1, first, pages, lives, buffer.id)
        launch = self._device.launch(
            stream, self._copy_row, self.memory, row, first, buffer.tensor, len(pages), access=access
        )
        self._epoch[row] += 1
        self._note(self._published_pages[row], first, pages)
        self._note(self._published_lives[row], first, lives)
        return launch

    @staticmethod
    def _note(entries: list[int], first: int, values: list[int]) -> None:
        """Overwrite entries from `first` on; a gap below it holds what `clear` left."""
        entries.extend([0] * (first - len(entries)))
        entries[first : first + len(values)] = values
