"""The execution workspace: one piece of device memory for what launches need while they run.

A ring with live blocks. Blocks are placed one behind the other, a block never wraps around the end, and
live ones are passed over; an empty ring begins at 0 again. Before a launch its bytes are planned, then
taken in one piece, which may be given back in several blocks:

    plan(launch, stream, nbytes) -> take(launch, stream, sizes) -> the launch -> give_back(block), each

Bytes may be given back when the host has learnt that the launch ended, or as soon as it was launched
where only later launches of the same stream get them. Contents mean nothing outside of the launch.

The mutators never assert: a block that is not given back stays live, as it would in production. Knows
nothing of what the bytes are for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from tracert.device.device import Device, Memory, Stream
from tracert.memory.errors import InvariantError, LayoutError, WorkspaceFull
from tracert.record.recorder import Recorder

ALIGNMENT = 64
"""Blocks start at multiples of this, and so do the tensors in them."""
LARGEST = 2**32 - 1
"""Records have 32 bits for a size."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """`nbytes` at `offset`, for a launch on a stream; `memory` is uint8 [nbytes]."""

    launch: int
    stream: int
    offset: int
    nbytes: int
    memory: Memory

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.nbytes


class Workspace:
    """`capacity` bytes of device memory. LayoutError for a size that cannot be; MemoryError of the device."""

    def __init__(self, recorder: Recorder, device: Device, nbytes: int) -> None:
        if not ALIGNMENT <= nbytes <= LARGEST:
            raise LayoutError(f"a workspace of {nbytes} bytes cannot be: give it {ALIGNMENT} to {LARGEST}")
        self.capacity = nbytes // ALIGNMENT * ALIGNMENT
        self.peak = 0
        """The most bytes that were live at once."""
        self._recorder = recorder
        self._memory = device.allocate(self.capacity)
        self._live: list[Block] = []
        self._cursor = 0

    @property
    def live_bytes(self) -> int:
        """Bytes of the blocks that were not given back."""
        return sum(block.nbytes for block in self._live)

    @property
    def largest_room(self) -> int:
        """The longest piece that is free."""
        return max((end - start for start, end in self._gaps()), default=0)

    def live(self) -> list[Block]:
        """The blocks that were not given back, the oldest launch first."""
        return sorted(self._live, key=lambda block: (block.launch, block.offset))

    def plan(self, launch: int, stream: Stream, nbytes: int) -> None:
        """The next launch of `stream`, number `launch`, is going to take `nbytes`."""
        self._recorder.workspace_plan(launch, stream.id, nbytes, self.capacity, self.largest_room)

    def take(self, launch: int, stream: Stream, sizes: Sequence[int]) -> list[Block]:
        """Blocks of `sizes` (multiples of ALIGNMENT), one behind the other in one piece.

        WorkspaceFull, and none, when no piece of the sum of the sizes is free.
        """
        offset = self._place(sum(sizes))
        if offset is None:
            raise self.full(launch, sum(sizes))
        blocks = []
        for size in sizes:
            block = Block(launch, stream.id, offset, size, self._memory.view(torch.uint8, (size,), offset))
            blocks.append(block)
            self._live.append(block)
            offset += size
            self._recorder.workspace_alloc(
                launch, stream.id, block.offset, size, self.capacity, self.largest_room
            )
        self._cursor = offset
        self.peak = max(self.peak, self.live_bytes)
        return blocks

    def give_back(self, block: Block) -> None:
        """The launch needs the block no more; one that is given back already is passed over."""
        if block not in self._live:
            return
        self._live.remove(block)
        if not self._live:
            self._cursor = 0
        self._recorder.workspace_free(
            block.launch, block.stream, block.offset, block.nbytes, self.capacity, self.largest_room
        )

    def full(self, launch: int, nbytes: int) -> WorkspaceFull:
        """Why a launch that needs `nbytes` cannot be: one line."""
        message = (
            f"launch {launch} needs {nbytes} bytes of workspace in one piece, and the largest room is "
            f"{self.largest_room} of {self.capacity}"
        )
        live = self.live()
        if live:
            oldest = live[0]
            message += (
                f": launch {oldest.launch}, {launch - oldest.launch} launches ago, has not given "
                f"{oldest.nbytes} bytes at {oldest.offset} back"
            )
        if nbytes <= self.capacity - self.live_bytes:
            advice = "get the history by POST /debug/dump, and start the engine again"
        else:
            advice = f"give --workspace {nbytes + self.live_bytes} or more, or lower --max-prefill-tokens"
        return WorkspaceFull(f"{message}; {advice}")

    def check(self) -> None:
        """InvariantError when blocks overlap, leave the workspace, or the cursor does."""
        wrong = []
        end = 0
        for block in sorted(self._live, key=lambda block: block.offset):
            if block.offset < end or block.end > self.capacity or block.nbytes <= 0:
                wrong.append(f"bytes {block.offset} to {block.end} of launch {block.launch}")
            end = block.end
        if not 0 <= self._cursor <= self.capacity or (not self._live and self._cursor):
            wrong.append(f"the cursor at {self._cursor}")
        if wrong:
            raise InvariantError(f"the workspace contradicts itself: {'; '.join(wrong)}")

    def _gaps(self) -> Iterator[tuple[int, int]]:
        """Free pieces (start, end) by offset."""
        start = 0
        for block in sorted(self._live, key=lambda block: block.offset):
            if block.offset > start:
                yield start, block.offset
            start = max(start, block.end)
        if start < self.capacity:
            yield start, self.capacity

    def _place(self, nbytes: int) -> int | None:
        """Where `nbytes` go: from the cursor on, then from the start; None when they fit nowhere."""
        gaps = list(self._gaps())
        for start, end in gaps:
            at = max(start, self._cursor)
            if at + nbytes <= end:
                return at
        for start, end in gaps:
            if start + nbytes <= end:
                return start
        return None
