"""Reads the block table once for all layers of a forward. Knows nothing of keys, values or layers."""

import sys

import torch

from tracert_kernels.plan import Plan, Scratch, Span
from tracert_kernels.twins.bounds import require_within


def plan(
    table: torch.Tensor,
    rows: torch.Tensor,
    query_start: torch.Tensor,
    context: torch.Tensor,
    token_row: torch.Tensor,
    position: torch.Tensor,
    page_size: int,
    *,
    scratch: Scratch | None = None,
) -> Plan:
    """The slots and pages that `table` names now, for `store_kv` and `paged_attention` of every layer.

    `table` int32 [rows, width]; `rows`, `context` int32 [B]; `query_start` int32 [B + 1]; `token_row`,
    `position` int32 [T]. `scratch` is kept between forwards by callers that want no allocation in a step.
    Follows exactly ceil(context / page_size) entries of each row, and one entry a token. IndexError for a
    row or position out of range and for a negative page id; ids too high the kernels refuse.
    """
    height, width = table.shape
    token_row, position = token_row.long(), position.long()
    require_within("row", rows, height)
    require_within("row", token_row, height)
    require_within("position", position, width * page_size)
    entry = torch.div(position, page_size, rounding_mode="floor")
    slot_page = table[token_row, entry].long()

    starts, contexts = query_start.tolist(), context.tolist()
    spans: list[Span] = []
    walked: list[torch.Tensor] = []
    total = 0
    for b, (row, length) in enumerate(zip(rows.tolist(), contexts, strict=True)):
        count = -(-length // page_size)
        if not 0 <= starts[b + 1] - starts[b] <= length or count > width:
            raise IndexError(
                f"{starts[b + 1] - starts[b]} queries, context {length}: row {row} holds {width} pages"
            )
        spans.append(Span(starts[b], starts[b + 1], length, total, total + count))
        walked.append(table[row, :count])
        total += count
    pages = torch.cat(walked).long() if walked else torch.empty(0, dtype=torch.int64)
    return Plan(
        slot_page=slot_page,
        slot_offset=position - entry * page_size,
        slot_page_max=require_within("page", slot_page, sys.maxsize),
        pages=pages,
        page_max=require_within("page", pages, sys.maxsize),
        spans=tuple(spans),
        scratch=scratch or Scratch(),
    )
