"""Causal attention of new tokens over the pages of their sequences, fp32 softmax.

Covers valid positions only ("inert"): whatever lies in the dead tail of a page, NaN included, has no
influence on the result, and pages that no walked entry names are not touched.
"""

import torch

from tracert_kernels.plan import Plan
from tracert_kernels.twins.bounds import require_pages
from tracert_kernels.twins.decode import decode
from tracert_kernels.twins.plan import plan as make_plan
from tracert_kernels.twins.prefill import prefill


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
    for batch in plan.batches:
        decode(out, query, cache, batch, scale, plan.scratch)
    for span in plan.spans:
        prefill(out, query, cache, span, scale)
