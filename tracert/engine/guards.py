"""What guarded forwards saw of the rows that they followed, brought to the host with the step's results.

There are two sets of device memory, as of results: a step may be launched before the one before it was waited
for. Says what was seen and what the host meant; what follows from that is `commit`'s.
"""

from typing import NamedTuple

import torch
from tracert_kernels.guard import (
    BAD_INDEX,
    BAD_PAGE,
    FIRST,
    NOTES,
    WALKED,
    FirstValue,
    first_value,
)

from tracert.device.device import Device, Launch, Memory
from tracert.engine.batch import Prepared
from tracert.memory.block_table import RowHandle
from tracert.record.recorder import Recorder

ENTRIES_MAX = 64
"""Of the entries of a row that are not what was meant, so many are told."""


class Seen(NamedTuple):
    """What a forward saw of a row, beside what the host had it name."""

    walked: int
    entries: tuple[tuple[int, int], ...]
    """(index, page) of entries that are not what was meant, or name no page."""
    bad: tuple[int, int] | None
    """The first entry that names no page; then the row was left out."""
    first: FirstValue | None
    """Where a value was first not finite."""


class Guarded(NamedTuple):
    """A guarded forward on its way: where it writes, and the pages that its rows were meant to name."""

    memory: Memory
    meant: dict[RowHandle, list[int]]


class Guards:
    """The memory of guarded forwards over a block table of `rows` rows of `width` entries."""

    def __init__(self, recorder: Recorder, device: Device, rows: int, width: int, page_size: int) -> None:
        self._recorder = recorder
        self._device = device
        self._rows = rows
        self._width = width
        self._page_size = page_size
        nbytes = rows * (NOTES * 8 + width * 4)
        self._sets = tuple(device.allocate(nbytes).view(torch.uint8, (nbytes,)) for _ in range(2))

    def begin(self, prepared: Prepared, step: int) -> Guarded:
        """What the forward of `step` is given to write to; what its rows are meant to name is kept."""
        meant = {part.row: list(part.request.pages) for part in prepared.slices if part.length}
        return Guarded(self._sets[step % 2], meant)

    def argument(self, guarded: Guarded) -> tuple[Memory, Memory]:
        """The memory as the kernel `forward` takes it: entries seen, and notes."""
        notes = self._rows * NOTES * 8
        return (
            guarded.memory.view(torch.int32, (self._rows, self._width), notes),
            guarded.memory.view(torch.int64, (self._rows, NOTES)),
        )

    def look(self, guarded: Guarded, launch: Launch) -> dict[RowHandle, Seen]:
        """What `launch` saw of each of its rows, which is recorded. Synchronise first."""
        raw = self._device.read(guarded.memory)
        size = self._rows * NOTES * 8
        notes = raw[:size].view(torch.int64).view(self._rows, NOTES).tolist()
        entries = raw[size:].view(torch.int32).view(self._rows, self._width)
        found: dict[RowHandle, Seen] = {}
        for handle, meant in guarded.meant.items():
            row, generation = handle
            seen = found[handle] = _seen(notes[row], entries[row], meant)
            bad = {} if seen.bad is None else {"page": seen.bad[1], "position": seen.bad[0] * self._page_size}
            self._recorder.guard(launch.id, row, generation, seen.walked, seen.entries[:ENTRIES_MAX], **bad)
        return found


def _seen(notes: list[int], row: torch.Tensor, meant: list[int]) -> Seen:
    walked, index = notes[WALKED], notes[BAD_INDEX]
    entries = row[:walked].tolist()
    others: list[tuple[int, int]] = []
    if entries != meant[:walked] or index >= 0:
        others = [
            (at, page)
            for at, page in enumerate(entries)
            if at >= len(meant) or page != meant[at] or at == index
        ]
        others += [(at, -1) for at in range(len(entries), walked)]
    bad = (index, notes[BAD_PAGE]) if index >= 0 else None
    return Seen(walked, tuple(others), bad, first_value(notes[FIRST]))
