"""Reads the block table once for all layers of a forward. Knows nothing of keys, values or layers."""

import sys
from collections.abc import Sequence

import torch

from tracert_kernels.guard import Guard
from tracert_kernels.plan import Batch, Plan, Span
from tracert_kernels.scratch import Scratch
from tracert_kernels.twins.bounds import require_within
from tracert_kernels.twins.follow_rows import left_out

# Measured on 2 cores: padded pages that cost as much as one more batch, which reads its shared pages again;
# shared pages that repay a product of their own; tokens whose keys, widened, still fit the caches.
_PADDING_PAGES_MAX = 40
_SHARED_PAGES_MIN = 8
_BATCH_TOKENS_MAX = 5120


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
    guard: Guard | None = None,
) -> Plan:
    """The slots and pages that `table` names now, for `store_kv` and `paged_attention` of every layer.

    `table` int32 [rows, width]; `rows`, `context` int32 [B]; `query_start` int32 [B + 1]; `token_row`,
    `position` int32 [T]. `scratch` is kept between forwards by callers that want no allocation in a step.
    Follows exactly ceil(context / page_size) entries of each row, and one entry a token. IndexError for a
    row or position out of range and for a negative page id; ids too high the kernels refuse. With `guard`,
    whose `seen` is then the table, sequences with a bad entry are in no plan.
    """
    height, width = table.shape
    token_row, position = token_row.long(), position.long()
    require_within("row", rows, height)
    require_within("row", token_row, height)
    require_within("position", position, width * page_size)
    stored = None
    if guard is not None:
        gone = left_out(guard, token_row)
        if gone.any():
            stored = (~gone).nonzero().flatten()
            token_row, position = token_row[stored], position[stored]
    entry = torch.div(position, page_size, rounding_mode="floor")
    slot_page = table[token_row, entry].long()

    starts = query_start.tolist()
    entries = table.index_select(0, rows).long()
    bad = left_out(guard, rows).tolist() if guard else [False] * len(rows)
    every: list[Span] = []
    others: list[tuple[int, int]] = []
    for b, length in enumerate(context.tolist()):
        if bad[b]:
            others.append((starts[b], starts[b + 1]))
            continue
        count, queries = -(-length // page_size), starts[b + 1] - starts[b]
        if not 0 <= queries <= length or count > width:
            raise IndexError(f"{queries} queries, context {length}: a row of the table holds {width} pages")
        every.append(Span(starts[b], starts[b + 1], length, entries[b, :count]))
    page_max = -1
    if every:
        page_max = require_within("page", torch.cat([span.pages for span in every]), sys.maxsize)
    groups = _grouped([span for span in every if span.end - span.first == 1], page_size)
    spans = [span for span in every if span.end - span.first > 1]
    return Plan(
        slot_page=slot_page,
        slot_offset=position - entry * page_size,
        slot_page_max=require_within("page", slot_page, sys.maxsize),
        batches=tuple(_batch(members, page_size) for members in groups if len(members) > 1),
        spans=(*spans, *(members[0] for members in groups if len(members) == 1)),
        page_max=page_max,
        scratch=scratch or Scratch(),
        stored=stored,
        left_out=tuple(others),
    )


def _shared(spans: Sequence[Span]) -> int:
    """How many pages all spans begin with, leaving each at least one of its own; 0 where it doesn't pay."""
    if len(spans) < 2:
        return 0
    count = min(len(span.pages) for span in spans) - 1
    alike = torch.stack([span.pages[:count] for span in spans]) == spans[0].pages[:count]
    count = int(alike.all(dim=0).long().cumprod(0).sum())
    return count if count >= _SHARED_PAGES_MIN else 0


def _grouped(spans: Sequence[Span], page_size: int) -> list[list[Span]]:
    """Sequences to attend to together: those with a common prefix, else those of like length."""
    by_prefix: dict[int, list[Span]] = {}
    for span in spans:
        by_prefix.setdefault(int(span.pages[0]), []).append(span)
    alone: list[Span] = []
    pools = [(alone, 0)]
    for members in by_prefix.values():
        shared = _shared(members)
        if shared:
            pools.append((members, shared))
        else:
            alone += members
    groups: list[list[Span]] = []
    for pool, shared in pools:
        group: list[Span] = []
        padding = 0
        for span in sorted(pool, key=lambda span: len(span.pages), reverse=True):
            missing = len(group[0].pages) - len(span.pages) if group else 0
            tokens = (len(group) + 1) * (len(span.pages) + missing - shared) * page_size
            full = len(group) > 1 and tokens > _BATCH_TOKENS_MAX
            if full or padding + missing > _PADDING_PAGES_MAX + shared:
                groups.append(group)
                group, padding, missing = [], 0, 0
            group.append(span)
            padding += missing
        if group:
            groups.append(group)
    return groups


def _batch(spans: Sequence[Span], page_size: int) -> Batch:
    """The spans, longest first, as one batch."""
    shared = _shared(spans)
    own = torch.empty(len(spans), len(spans[0].pages) - shared, dtype=torch.int64)
    for row, span in zip(own, spans, strict=True):
        count = len(span.pages) - shared
        row[:count] = span.pages[shared:]
        row[count:] = span.pages[shared]
    return Batch(
        tokens=torch.tensor([span.first for span in spans]),
        shared=spans[0].pages[:shared],
        own=own,
        lengths=torch.tensor([span.context for span in spans]) - shared * page_size,
        page_size=page_size,
    )
