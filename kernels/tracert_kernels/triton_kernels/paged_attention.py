# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# ruff: noqa: N803
"""Causal attention of new tokens over the pages of their sequences, with an online softmax in fp32.

With cover `valid`, positions at or past the context are never loaded, so whatever a dead tail holds has no
influence; with `page`, a sequence with one query loads its pages whole. Prefill and decode are one kernel
with blocks of different height.
"""

import torch
import triton
import triton.language as tl

from tracert_kernels.guard import Guard
from tracert_kernels.kv_types import Covers
from tracert_kernels.plan import Plan
from tracert_kernels.triton_kernels.follow_rows import left_out, note_first


@triton.jit(do_not_specialize=["sequences", "order"])
def paged_attention_kernel(
    out,
    query,
    cache,
    scales,
    table,
    rows,
    query_start,
    context,
    scale,
    sequences,
    out_token,
    out_head,
    query_token,
    query_head,
    page_stride,
    row_stride,
    notes,
    order,
    PAGE_SIZE: tl.constexpr,
    KV_HEADS: tl.constexpr,
    GROUPS: tl.constexpr,
    GROUPS_PADDED: tl.constexpr,
    DIM: tl.constexpr,
    DIM_PADDED: tl.constexpr,
    WIDTH: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    WHOLE_PAGES: tl.constexpr,
    GUARDED: tl.constexpr,
):
    """One program: QUERIES tokens of one sequence with the GROUPS heads that share one KV head.

    A head's vector is WIDTH elements: where that is more than DIM, the DIM are codes, and `scales` is the
    cache as float32, four elements each. A scale is multiplied in where it is one number a position: with
    the scores for keys, with the weights for values, where a NaN makes NaN of a weight of 0.

    The grid is wide enough for any split of the tokens: sequence b's blocks begin at
    query_start[b] // QUERIES + b, so each program finds its sequence by bisection; some have nothing to do.
    """
    block = tl.program_id(0)
    kv_head = tl.program_id(1)
    low = 0
    high = sequences
    while high - low > 1:
        middle = (low + high) // 2
        if tl.load(query_start + middle) // QUERIES + middle <= block:
            low = middle
        else:
            high = middle
    begin = tl.load(query_start + low)
    count = tl.load(query_start + low + 1) - begin
    first = (block - begin // QUERIES - low) * QUERIES
    if first < count:
        length = tl.load(context + low)
        row = tl.load(rows + low).to(tl.int64)
        entries = table + row * row_stride

        lane = tl.arange(0, QUERIES * GROUPS_PADDED)
        token = first + lane // GROUPS_PADDED
        group = lane % GROUPS_PADDED
        live = (token < count) & (group < GROUPS)
        place = length - count + token
        column = tl.arange(0, DIM_PADDED)
        inside = column < DIM
        head = kv_head * GROUPS + group
        start = (begin + token).to(tl.int64)
        queries = tl.load(
            query + start[:, None] * query_token + head[:, None] * query_head + column[None, :],
            mask=live[:, None] & inside[None, :],
            other=0.0,
        )

        # exp2 is what the hardware has.
        factor = scale * 1.4426950408889634
        highest = tl.full([QUERIES * GROUPS_PADDED], float("-inf"), tl.float32)
        total = tl.zeros([QUERIES * GROUPS_PADDED], tl.float32)
        summed = tl.zeros([QUERIES * GROUPS_PADDED, DIM_PADDED], tl.float32)
        seen = tl.minimum(length, length - count + first + QUERIES)
        loaded = seen
        if WHOLE_PAGES and count == 1:
            loaded = tl.cdiv(length, PAGE_SIZE) * PAGE_SIZE
        skipped = False
        if GUARDED:
            skipped = left_out(notes, row)
            loaded = tl.where(skipped, 0, loaded)
        for key_first in range(0, loaded, KEYS):
            slot = key_first + tl.arange(0, KEYS)
            valid = slot < seen
            within = slot < loaded
            page = tl.load(entries + slot // PAGE_SIZE, mask=within, other=0).to(tl.int64)
            place_of = page * page_stride + ((slot % PAGE_SIZE) * KV_HEADS + kv_head) * WIDTH
            pointer = cache + place_of[:, None] + column[None, :]
            keep = within[:, None] & inside[None, :]
            keys = tl.load(pointer, mask=keep, other=0.0)
            if WIDTH > DIM:
                keys = keys.to(tl.float32)
            keys = keys.to(queries.dtype)
            scores = tl.dot(queries, tl.trans(keys), input_precision="ieee") * factor
            if WIDTH > DIM:
                of_keys = tl.load(scales + (place_of + DIM) // 4, mask=within, other=0.0)
                scores *= of_keys[None, :]
            scores = tl.where(slot[None, :] <= place[:, None], scores, float("-inf"))
            scores = tl.where(valid[None, :], scores, float("-inf"))
            # Position 0 is in the first tile and no query is blind to it: `highest` is finite from then on.
            raised = tl.maximum(highest, tl.max(scores, 1))
            weights = tl.exp2(scores - raised[:, None])
            kept = tl.exp2(highest - raised)
            total = total * kept + tl.sum(weights, 1)
            to_value = PAGE_SIZE * KV_HEADS * WIDTH
            if WIDTH > DIM:
                of_values = tl.load(scales + (place_of + to_value + DIM) // 4, mask=within, other=0.0)
                weights *= of_values[None, :]
            values = tl.load(pointer + to_value, mask=keep, other=0.0)
            if WIDTH > DIM:
                values = values.to(tl.float32)
            values = values.to(queries.dtype)
            weighted = tl.dot(weights.to(queries.dtype), values, input_precision="ieee")
            summed = summed * kept[:, None] + weighted
            highest = raised
        answers = (summed / total[:, None]).to(out.dtype.element_ty)
        written = live[:, None] & inside[None, :]
        if GUARDED:
            answers = tl.where(skipped, 0.0, answers).to(out.dtype.element_ty)
            wrong = written & ~(tl.abs(answers.to(tl.float32)) < float("inf"))
            if tl.max(tl.max(wrong.to(tl.int32), 1), 0) > 0:
                at = tl.min(tl.where(tl.max(wrong.to(tl.int32), 1) > 0, place, length))
                note_first(notes, row, order, at)
        tl.store(
            out + start[:, None] * out_token + head[:, None] * out_head + column[None, :],
            answers,
            mask=written,
        )


def paged_attention(
    out: torch.Tensor,
    query: torch.Tensor,
    cache: torch.Tensor,
    table: torch.Tensor,
    rows: torch.Tensor,
    query_start: torch.Tensor,
    context: torch.Tensor,
    scale: float,
    *,
    plan: Plan | None = None,
    covers: Covers = "valid",
    guard: Guard | None = None,
) -> None:
    """As `twins.paged_attention`, unchecked. A head must be contiguous, and a page of a layer."""
    tokens, heads, dim = query.shape
    sequences = rows.shape[0]
    if tokens == 0:
        return
    kv_heads = cache.shape[3]
    groups = heads // kv_heads
    padded = triton.next_power_of_2(groups)
    # A product wants 16 rows. As many tokens as sequences is a decode step, where more would be padding, and
    # fp32 has no tensor cores to fill.
    exact = query.dtype == torch.float32
    height = 16 if exact or tokens == sequences else 64
    queries = max(1, height // padded)
    grid = (tokens // queries + sequences, kv_heads)
    paged_attention_kernel[grid](
        out,
        query,
        cache,
        cache.view(torch.float32) if cache.dtype == torch.int8 else cache,
        table,
        rows,
        query_start,
        context,
        scale,
        sequences,
        out.stride(0),
        out.stride(1),
        query.stride(0),
        query.stride(1),
        cache.stride(0),
        table.stride(0),
        guard.notes if guard else table,
        guard.order("attention") if guard else 0,
        PAGE_SIZE=cache.shape[2],
        KV_HEADS=kv_heads,
        GROUPS=groups,
        GROUPS_PADDED=padded,
        DIM=dim,
        DIM_PADDED=max(16, triton.next_power_of_2(dim)),
        WIDTH=cache.shape[4],
        QUERIES=queries,
        KEYS=32 if exact else 64,
        WHOLE_PAGES=covers == "page",
        GUARDED=guard is not None,
        enable_fp_fusion=True,
    )
