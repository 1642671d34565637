"""Turns the slices of a step into what a forward reads: tensors by value, and the rows it uses.

Knows the layout of a batch, nothing of policy.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from tracert.engine.request import Request
from tracert.engine.scheduler import Slice
from tracert.models.batch import Batch
from tracert.record.access import Covers, RowUse


class Prepared(NamedTuple):
    """A step, ready to launch: `sampling` are the requests whose next token is drawn, in logits order."""

    batch: Batch
    slices: Sequence[Slice]
    uses: list[RowUse]
    sampling: list[Slice]
    fed: list[tuple[int, int]]
    """Tokens that the host does not know: index in the batch, and in the drawings of the step in flight."""
    phase: str
    covers: Covers
    """How much of its pages a slice of one token loads; a longer one loads valid positions only."""


def prepare(
    slices: Sequence[Slice], page_size: int, drawing: Mapping[Request, int], covers: Covers = "valid"
) -> Prepared:
    """The batch of a step: its slices one behind the other; logits for the last token where one is drawn.

    `drawing` tells where the step in flight draws the token that a request lacks. `covers` is Prepared's.
    """
    tokens: list[int] = []
    position: list[int] = []
    token_row: list[int] = []
    query_start = [0]
    logits_index: list[int] = []
    uses: list[RowUse] = []
    fed: list[tuple[int, int]] = []
    for part in (part for part in slices if part.length):
        request, row, start, end, samples = part
        tokens += request.tokens[start:end]
        if end > len(request.tokens):
            fed.append((len(tokens), drawing[request]))
            tokens.append(0)
        position += range(start, end)
        token_row += [row.row] * part.length
        query_start.append(len(tokens))
        if samples:
            logits_index.append(len(tokens) - 1)
        covered = covers if part.length == 1 else "valid"
        uses.append(RowUse(row.row, row.generation, start, end, -(-end // page_size), covered))
    batch = Batch(
        tokens=torch.tensor(tokens),
        position=torch.tensor(position, dtype=torch.int32),
        token_row=torch.tensor(token_row, dtype=torch.int32),
        rows=torch.tensor([use.row for use in uses], dtype=torch.int32),
        query_start=torch.tensor(query_start, dtype=torch.int32),
        context=torch.tensor([use.end for use in uses], dtype=torch.int32),
        logits_index=torch.tensor(logits_index),
    )
    # What is loaded comes behind what is computed: the forward leaves its logits at the front.
    sampling = sorted((part for part in slices if part.samples), key=lambda part: part.length == 0)
    return Prepared(batch, slices, uses, sampling, fed, _phase(slices), covers)


def _phase(slices: Sequence[Slice]) -> str:
    phases = {part.phase for part in slices}
    return phases.pop() if len(phases) == 1 else "mixed"
