# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Writes the keys and values of new tokens to their slots in the pages; one program a token."""

import torch
import triton
import triton.language as tl

from tracert_kernels.plan import Plan


@triton.jit
def store_kv_kernel(
    key,
    value,
    cache,
    table,
    token_row,
    position,
    key_stride,
    value_stride,
    page_stride,
    row_stride,
    PAGE_SIZE: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Copy the WIDTH = Hkv * D numbers of a token's key and of its value."""
    token = tl.program_id(0).to(tl.int64)
    row = tl.load(token_row + token).to(tl.int64)
    slot = tl.load(position + token)
    page = tl.load(table + row * row_stride + slot // PAGE_SIZE).to(tl.int64)
    target = cache + page * page_stride + (slot % PAGE_SIZE) * WIDTH
    lane = tl.arange(0, BLOCK)
    within = lane < WIDTH
    key_numbers = tl.load(key + token * key_stride + lane, mask=within)
    tl.store(target + lane, key_numbers.to(cache.dtype.element_ty), mask=within)
    value_numbers = tl.load(value + token * value_stride + lane, mask=within)
    tl.store(target + PAGE_SIZE * WIDTH + lane, value_numbers.to(cache.dtype.element_ty), mask=within)


def store_kv(
    key: torch.Tensor,
    value: torch.Tensor,
    cache: torch.Tensor,
    table: torch.Tensor,
    token_row: torch.Tensor,
    position: torch.Tensor,
    *,
    plan: Plan | None = None,
) -> None:
    """As `twins.store_kv`, unchecked. The heads of a token must be contiguous, and a page of a layer."""
    tokens, kv_heads, dim = key.shape
    if tokens == 0:
        return
    width = kv_heads * dim
    store_kv_kernel[(tokens,)](
        key,
        value,
        cache,
        table,
        token_row,
        position,
        key.stride(0),
        value.stride(0),
        cache.stride(0),
        table.stride(0),
        PAGE_SIZE=cache.shape[2],
        WIDTH=width,
        BLOCK=triton.next_power_of_2(width),
        enable_fp_fusion=True,
    )
