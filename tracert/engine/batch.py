"""Turns the slices of a step into what a forward reads: tensors by value, and the rows it uses.

Knows the layout of a batch, nothing of policy.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from tracert.engine.scheduler import Slice
from tracert.models.batch import Batch
from tracert.record.access import RowUse


class Prepared(NamedTuple):
    """A step, ready to launch: `sampling` are the requests whose next token is drawn, in logits order."""

    batch: Batch
    slices: Sequence[Slice]
    uses: list[RowUse]
    sampling: list[Slice]
    phase: str


def prepare(slices: Sequence[Slice], page_size: int) -> Prepared:
    """The batch of a step: its slices one behind the other; logits for the last token where one is drawn."""
    tokens: list[int] = []
    position: list[int] = []
    token_row: list[int] = []
    query_start = [0]
    logits_index: list[int] = []
    uses: list[RowUse] = []
    for request, length in slices:
        start, end = request.computed, request.computed + length
        row = request.row
        assert row is not None
        tokens += request.tokens[start:end]
        position += range(start, end)
        token_row += [row.row] * length
        query_start.append(len(tokens))
        if end == len(request.tokens):
            logits_index.append(len(tokens) - 1)
        uses.append(RowUse(row.row, row.generation, start, end, -(-end // page_size)))
    batch = Batch(
        tokens=torch.tensor(tokens),
        position=torch.tensor(position, dtype=torch.int32),
        token_row=torch.tensor(token_row, dtype=torch.int32),
        rows=torch.tensor([use.row for use in uses], dtype=torch.int32),
        query_start=torch.tensor(query_start, dtype=torch.int32),
        context=torch.tensor([use.end for use in uses], dtype=torch.int32),
        logits_index=torch.tensor(logits_index),
    )
    return Prepared(batch, slices, uses, [part for part in slices if part.samples], _phase(slices))


def _phase(slices: Sequence[Slice]) -> str:
    phases = {part.phase for part in slices}
    return phases.pop() if len(phases) == 1 else "mixed"
