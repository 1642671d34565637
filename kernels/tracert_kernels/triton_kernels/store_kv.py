# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Writes the keys and values of new tokens to their slots in the pages; one program a token."""

import torch
import triton
import triton.language as tl

from tracert_kernels.guard import Guard
from tracert_kernels.plan import Plan
from tracert_kernels.triton_kernels.follow_rows import left_out, note_first


@triton.jit
def _saturated(numbers, dtype: tl.constexpr):
    """Numbers of another type; in fp8 what is too large becomes the largest, and NaN stays."""
    if dtype == tl.float8e4nv:
        numbers = numbers.to(tl.float32)
        numbers = tl.where(numbers > 448.0, 448.0, numbers)
        numbers = tl.where(numbers < -448.0, -448.0, numbers)
    return numbers.to(dtype)


@triton.jit
def _store_scaled(
    numbers, codes, scales, HEADS, DIM: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """Heads of DIM numbers as DIM codes and, behind them, the float32 to multiply those with."""
    row = tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    within = (row < HEADS)[:, None] & (column < DIM)[None, :]
    vector = tl.load(numbers + row[:, None] * DIM + column[None, :], mask=within, other=0.0).to(tl.float32)
    scale = tl.div_rn(tl.max(tl.abs(vector), 1), tl.full([ROWS], 127.0, tl.float32))
    # The maximum passes over NaN.
    scale = tl.where(tl.sum((vector != vector).to(tl.int32), 1) > 0, float("nan"), scale)
    finite = (scale > 0) & (scale < float("inf"))
    divisor = tl.where(finite, scale, 1.0)[:, None] + tl.zeros([ROWS, COLUMNS], tl.float32)
    code = tl.floor(tl.div_rn(tl.where(finite[:, None], vector, 0.0), divisor) + 0.5)
    code = tl.minimum(tl.maximum(code, -127.0), 127.0)
    tl.store(codes + row[:, None] * (DIM + 4) + column[None, :], code.to(tl.int8), mask=within)
    tl.store(scales + (row * (DIM + 4) + DIM) // 4, scale, mask=row < HEADS)


@triton.jit
def _all_finite(numbers, within):
    """Are those of a block that are `within` finite?"""
    wrong = within & ~(tl.abs(numbers.to(tl.float32)) < float("inf"))
    return tl.max(wrong.to(tl.int32)) == 0


@triton.jit(do_not_specialize=["order"])
def store_kv_kernel(
    key,
    value,
    cache,
    scales,
    table,
    token_row,
    position,
    key_stride,
    value_stride,
    page_stride,
    row_stride,
    notes,
    order,
    PAGE_SIZE: tl.constexpr,
    HEADS: tl.constexpr,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    SCALED: tl.constexpr,
    GUARDED: tl.constexpr,
):
    """Store the HEADS * DIM numbers of a token's key and of its value.

    ROWS and COLUMNS are the powers of two that they fit. `scales` is the cache as float32 where SCALED.
    `notes` and `order` are the guard's where GUARDED.
    """
    token = tl.program_id(0).to(tl.int64)
    row = tl.load(token_row + token).to(tl.int64)
    slot = tl.load(position + token)
    if GUARDED:  # noqa: SIM102
        if left_out(notes, row):
            return
    page = tl.load(table + row * row_stride + slot // PAGE_SIZE).to(tl.int64)
    key += token * key_stride
    value += token * value_stride
    lane = tl.arange(0, ROWS * COLUMNS)
    within = lane < HEADS * DIM
    if SCALED:
        place = page * page_stride + (slot % PAGE_SIZE) * HEADS * (DIM + 4)
        _store_scaled(key, cache + place, scales + place // 4, HEADS, DIM, ROWS, COLUMNS)
        place += PAGE_SIZE * HEADS * (DIM + 4)
        _store_scaled(value, cache + place, scales + place // 4, HEADS, DIM, ROWS, COLUMNS)
    else:
        target = cache + page * page_stride + (slot % PAGE_SIZE) * HEADS * DIM
        of_key = _saturated(tl.load(key + lane, mask=within), cache.dtype.element_ty)
        tl.store(target + lane, of_key, mask=within)
        of_value = _saturated(tl.load(value + lane, mask=within), cache.dtype.element_ty)
        tl.store(target + PAGE_SIZE * HEADS * DIM + lane, of_value, mask=within)
    if GUARDED:
        numbers = tl.load(key + lane, mask=within, other=0.0)
        more = tl.load(value + lane, mask=within, other=0.0)
        finite = _all_finite(numbers, within) & _all_finite(more, within)
        # A number can be too large for what it is stored as; 8 bits have no infinity.
        if cache.dtype.element_ty.primitive_bitwidth > 8:
            finite &= _all_finite(numbers.to(cache.dtype.element_ty), within)
            finite &= _all_finite(more.to(cache.dtype.element_ty), within)
        if not finite:
            note_first(notes, row, order, slot)


def store_kv(
    key: torch.Tensor,
    value: torch.Tensor,
    cache: torch.Tensor,
    table: torch.Tensor,
    token_row: torch.Tensor,
    position: torch.Tensor,
    *,
    plan: Plan | None = None,
    guard: Guard | None = None,
) -> None:
    """As `twins.store_kv`, unchecked. The heads of a token must be contiguous, and a page of a layer."""
    tokens, kv_heads, dim = key.shape
    if tokens == 0:
        return
    scaled = cache.dtype == torch.int8
    store_kv_kernel[(tokens,)](
        key,
        value,
        cache,
        cache.view(torch.float32) if scaled else cache,
        table,
        token_row,
        position,
        key.stride(0),
        value.stride(0),
        cache.stride(0),
        table.stride(0),
        guard.notes if guard else table,
        guard.order("keys") if guard else 0,
        PAGE_SIZE=cache.shape[2],
        HEADS=kv_heads,
        DIM=dim,
        ROWS=triton.next_power_of_2(kv_heads),
        COLUMNS=triton.next_power_of_2(dim),
        SCALED=scaled,
        GUARDED=guard is not None,
        enable_fp_fusion=True,
    )
