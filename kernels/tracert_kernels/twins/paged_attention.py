"""Causal attention of new tokens over the pages of their sequences, fp32 softmax.

Of the pages that it walks it touches what its cover says; pages that no walked entry names are not touched.
"""

import torch

from tracert_kernels.guard import Guard
from tracert_kernels.kv_types import Covers
from tracert_kernels.plan import Plan
from tracert_kernels.twins.bounds import require_pages
from tracert_kernels.twins.decode import decode
from tracert_kernels.twins.follow_rows import all_finite, note_first
from tracert_kernels.twins.plan import plan as make_plan
from tracert_kernels.twins.prefill import prefill
from tracert_kernels.twins.whole_pages import attend_whole


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
    """Queries `query_start[b]..query_start[b + 1]` are the last positions of the `context[b]` tokens of b.

    `out`, `query` [T, Hq, D], of one float type; `cache` [pages, 2, P, Hkv, W] of a KV type, any page
    stride, Hq a multiple of Hkv; `table` int32 [rows, width]; `rows`, `context` int32 [B]; `query_start`
    int32 [B + 1]. Follows exactly ceil(context / P) entries of each row. `plan` is the forward's: then the
    table is not read again. `covers` is explained in `kv_types`. With `guard`, nothing is loaded for
    sequences with a bad entry, whose answers are 0, and the first answer is noted that is not finite.
    IndexError, with nothing written, for anything else out of range.
    """
    if plan is None:
        none = table.new_empty(0)
        plan = make_plan(table, rows, query_start, context, none, none, cache.shape[2], guard=guard)
    require_pages(plan.page_max, cache.shape[0])
    for number, batch in enumerate(plan.batches):
        plan.scratch.frame(number)
        decode(out, query, cache, batch, scale, plan.scratch, covers)
    for number, span in enumerate(plan.spans, start=len(plan.batches)):
        plan.scratch.frame(number)
        attend = attend_whole if covers == "page" and span.end - span.first == 1 else prefill
        attend(out, query, cache, span, scale, plan.scratch)
    for first, end in plan.left_out:
        out[first:end] = 0.0
    if guard is not None and not all_finite(out):
        count = query_start.diff()
        position = torch.arange(len(query)) + (context - query_start[1:]).repeat_interleave(count)
        note_first(guard, "attention", out, rows.repeat_interleave(count), position)
