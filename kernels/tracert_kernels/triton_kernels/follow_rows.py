# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Follows the rows of a guarded forward; one program a row."""

import torch
import triton
import triton.language as tl

from tracert_kernels.guard import Guard

_BLOCK = 1024


@triton.jit
def follow_rows_kernel(
    seen,
    notes,
    table,
    rows,
    context,
    row_stride,
    seen_stride,
    width,
    pages,
    PAGE_SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Copy the entries of the row at program_id(0) that are followed, and write its notes."""
    row = tl.load(rows + tl.program_id(0)).to(tl.int64)
    walked = tl.cdiv(tl.load(context + tl.program_id(0)), PAGE_SIZE)
    entries = table + row * row_stride
    first = walked
    named = walked * 0
    for start in range(0, walked, BLOCK):
        index = start + tl.arange(0, BLOCK)
        there = (index < walked) & (index < width)
        page = tl.load(entries + index, mask=there, other=-1)
        tl.store(seen + row * seen_stride + index, page, mask=there)
        bad = (index < walked) & ((page < 1) | (page >= pages))
        here = tl.min(tl.where(bad, index, walked))
        # What the program has read it must not read again: it may be overwritten meanwhile.
        what = tl.max(tl.where(index == here, page, -2147483648))
        named = tl.where(here < first, what, named)
        first = tl.minimum(first, here)
    place = notes + row * 4
    tl.store(place, walked.to(tl.int64))
    tl.store(place + 1, tl.where(first < walked, first, -1).to(tl.int64))
    tl.store(place + 2, tl.where(first < walked, named, 0).to(tl.int64))
    tl.store(place + 3, tl.full([], 9223372036854775807, tl.int64))


@triton.jit
def note_first(notes, row, order, position):
    """A value at `position` of `row` was not finite: keep what is first of the row."""
    found = ((tl.zeros([], tl.int64) + order) << 32) + position
    tl.atomic_min(notes + row * 4 + 3, found)


@triton.jit
def left_out(notes, row):
    """Does an entry of the row that was followed name no page?"""
    return tl.load(notes + row * 4 + 1) >= 0


def follow_rows(
    guard: Guard, table: torch.Tensor, rows: torch.Tensor, context: torch.Tensor, page_size: int, pages: int
) -> None:
    """As `twins.follow_rows`; a row out of range is not noticed."""
    if len(rows):
        follow_rows_kernel[(len(rows),)](
            guard.seen,
            guard.notes,
            table,
            rows,
            context,
            table.stride(0),
            guard.seen.stride(0),
            table.shape[1],
            pages,
            PAGE_SIZE=page_size,
            BLOCK=min(_BLOCK, triton.next_power_of_2(table.shape[1])),
            enable_fp_fusion=True,
        )
