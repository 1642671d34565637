"""Causal attention of new tokens over the pages of their sequences, fp32 softmax.

Covers valid positions only ("inert"): whatever lies in the dead tail of a page, NaN included, has no
influence on the result, and pages that no walked entry names are not touched.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from tracert_kernels.plan import Plan
from tracert_kernels.twins.bounds import require_pages
from tracert_kernels.twins.plan import plan as make_plan


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
) -> None:
    """Queries `query_start[b]..query_start[b + 1]` are the last positions of the `context[b]` tokens of b.

    `out`, `query` [T, Hq, D], of the cache's dtype or fp32; `cache` [pages, 2, P, Hkv, D], any page stride,
    Hq a multiple of Hkv; `table` int32 [rows, width]; `rows`, `context` int32 [B]; `query_start` int32
    [B + 1]. Follows exactly ceil(context / P) entries of each row. `plan` is the forward's: then the table
    is not read again. IndexError, with nothing written, for anything out of range.
    """
    if plan is None:
        none = table.new_empty(0)
        plan = make_plan(table, rows, query_start, context, none, none, cache.shape[2])
    require_pages(plan.page_max, cache.shape[0])
    kv_heads, dim = cache.shape[3:]
    groups = query.shape[1] // kv_heads
    for span in plan.spans:
        count = span.end - span.first
        if count == 0:
            continue
        gathered = cache.index_select(0, plan.pages[span.page_first : span.page_end])
        # Slicing to the context leaves the dead tail out: masking it would let 0 x NaN through.
        key, value = (
            gathered[:, side].reshape(-1, kv_heads, dim)[: span.context].to(query.dtype).transpose(0, 1)
            for side in (0, 1)
        )
        # [Hkv, groups * count, D]: the heads of a group share keys, so they are queries of one head.
        grouped = query[span.first : span.end].reshape(count, kv_heads, groups, dim).permute(1, 2, 0, 3)
        mask = None
        if count > 1:
            last = torch.arange(span.context - count, span.context)
            mask = (torch.arange(span.context) <= last[:, None]).repeat(groups, 1)
        result = scaled_dot_product_attention(
            grouped.reshape(1, kv_heads, groups * count, dim), key[None], value[None], mask, scale=scale
        )
        out[span.first : span.end] = (
            result.view(kv_heads, groups, count, dim).permute(2, 0, 1, 3).reshape(count, -1, dim)
        )
