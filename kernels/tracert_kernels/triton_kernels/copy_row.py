# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Publishes entries of a staging buffer to a row of the block table."""

import torch
import triton
import triton.language as tl

_BLOCK = 1024


@triton.jit(do_not_specialize=["count"], do_not_specialize_on_alignment=["target"])
def copy_row_kernel(target, staging, count, BLOCK: tl.constexpr):
    """Copy entries BLOCK * program_id(0) onwards; staging is read when this executes."""
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    within = lane < count
    tl.store(target + lane, tl.load(staging + lane, mask=within), mask=within)


def copy_row(table: torch.Tensor, row: int, first: int, staging: torch.Tensor, count: int) -> None:
    """As `twins.copy_row`, unchecked. `staging` is device memory or pinned, which a kernel can read too."""
    if count:
        copy_row_kernel[(triton.cdiv(count, _BLOCK),)](
            table[row, first:], staging, count, BLOCK=_BLOCK, enable_fp_fusion=True
        )
