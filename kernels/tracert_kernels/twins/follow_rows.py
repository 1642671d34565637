"""Follows the rows of a guarded forward: the one look at the block table that all its layers go by."""

from math import isfinite

import torch

from tracert_kernels.guard import BAD_INDEX, BAD_PAGE, BEHIND, FIRST, NOTHING, WALKED, Guard, Stage
from tracert_kernels.twins.bounds import require_within


def follow_rows(
    guard: Guard, table: torch.Tensor, rows: torch.Tensor, context: torch.Tensor, page_size: int, pages: int
) -> None:
    """Copy the first ceil(context / page_size) entries of each row to `guard.seen`, and begin its notes.

    `table` int32 [rows, width]; `rows`, `context` int32 [B]. An entry is bad when it is none of pages
    1..pages - 1, for page 0 is nobody's, and one behind the end of the row is bad as well. No row is
    refused: who goes by `seen` leaves those out of which a note says that an entry is bad. IndexError for a
    row out of range.
    """
    height, width = table.shape
    require_within("row", rows, height)
    for row, length in zip(rows.tolist(), context.tolist(), strict=True):
        walked = -(-length // page_size)
        entries = table[row, :walked]
        guard.seen[row, : len(entries)] = entries
        bad = ((entries < 1) | (entries >= pages)).nonzero()
        notes = guard.notes[row]
        notes[WALKED], notes[BAD_INDEX], notes[BAD_PAGE], notes[FIRST] = walked, -1, 0, NOTHING
        if len(bad):
            notes[BAD_INDEX], notes[BAD_PAGE] = bad[0, 0], entries[bad[0, 0]]
        elif walked > width:
            notes[BAD_INDEX], notes[BAD_PAGE] = width, BEHIND


def left_out(guard: Guard, rows: torch.Tensor) -> torch.Tensor:
    """bool, as `rows`: does an entry of the row that was followed name no page?"""
    return guard.notes[:, BAD_INDEX].index_select(0, rows.flatten().long()).view(rows.shape) >= 0


def all_finite(numbers: torch.Tensor) -> bool:
    """False also where their sum overflows: it is one pass, and who is told so looks closer."""
    return isfinite(float(numbers.sum(dtype=torch.float32)))


def note_first(
    guard: Guard, stage: Stage, numbers: torch.Tensor, token_row: torch.Tensor, position: torch.Tensor
) -> None:
    """Of `numbers` [N, ...], one tensor a token, note what is first of each row that is not finite."""
    (wrong,) = (~numbers.isfinite().flatten(1).all(1)).nonzero(as_tuple=True)
    found = (guard.order(stage) << 32) + position[wrong].long()
    guard.notes[:, FIRST].scatter_reduce_(0, token_row[wrong].long(), found, "amin")
