"""Paged memory to test kernels on, and what attention must give, worked out without pages."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from tracert_kernels.twins.stored import narrow, widened

LAYERS = 3
LAYER = 1
FLOATS = (torch.float32, torch.bfloat16, torch.float16)
"""What queries and answers may be; pages may be narrower."""


class Shape(NamedTuple):
    """The sizes of a case: pages of `page_size` tokens, `groups` query heads a KV head."""

    page_size: int = 16
    kv_heads: int = 2
    groups: int = 3
    dim: int = 32
    dtype: torch.dtype = torch.float32

    @property
    def numbers(self) -> torch.dtype:
        """In what what pages hold is worked with: their own type, fp32 for 8 bits."""
        return self.dtype if self.dtype in FLOATS else torch.float32


@dataclass(frozen=True)
class Paged:
    """Sequences scattered over the pages of an arena of several layers, and their kernel arguments."""

    shape: Shape
    arena: torch.Tensor
    table: torch.Tensor
    rows: torch.Tensor
    query_start: torch.Tensor
    context: torch.Tensor
    token_row: torch.Tensor
    position: torch.Tensor
    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    queries: torch.Tensor

    @property
    def cache(self) -> torch.Tensor:
        """The view of one layer: its page stride is that of the arena."""
        return self.arena[:, LAYER]

    def held(self, b: int) -> list[int]:
        """The pages of sequence b."""
        count = -(-int(self.context[b]) // self.shape.page_size)
        return [int(page) for page in self.table[self.rows[b], :count]]

    def expected(self) -> torch.Tensor:
        """Attention in float64, one query and head at a time; [T, Hq, D]."""
        result = torch.zeros(self.queries.shape, dtype=torch.float64)
        for b in range(len(self.rows)):
            first, end = int(self.query_start[b]), int(self.query_start[b + 1])
            for token in range(first, end):
                visible = int(self.context[b]) - (end - 1 - token)
                for head in range(self.queries.shape[1]):
                    key = self.keys[b][:visible, head // self.shape.groups].double()
                    value = self.values[b][:visible, head // self.shape.groups].double()
                    weights = torch.softmax(key @ self.queries[token, head].double() * self.scale, dim=0)
                    result[token, head] = weights @ value
        return result

    @property
    def scale(self) -> float:
        """Of the scores: not 1 / sqrt(D), so that a kernel which ignores it fails."""
        return 0.7 * float(self.shape.dim**-0.5)


def paged(
    sequences: list[tuple[int, int]],
    shape: Shape,
    *,
    seed: int = 0,
    width: int | None = None,
    query_dtype: torch.dtype | None = None,
    garbage: float = float("nan"),
    prefix: int = 0,
) -> Paged:
    """`sequences` of (context, queries) on shuffled rows and pages; all that is no token is `garbage`, stored
    as a key would be: NaN is a NaN scale in int8.

    The first `prefix` pages of every sequence are the same. Page ids start at 1; unused table entries are out
    of range, so that following one cannot go unseen.
    """
    generator = torch.Generator().manual_seed(seed)
    counts = [-(-context // shape.page_size) for context, _ in sequences]
    pages = 1 + sum(counts) + 3
    width = max([*counts, 1]) + 2 if width is None else width
    nothing = narrow(torch.full((shape.dim,), garbage), shape.dtype)
    arena = nothing.expand(pages, LAYERS, 2, shape.page_size, shape.kv_heads, -1).contiguous()
    table = torch.full((len(sequences) + 2, width), 2**31 - 1, dtype=torch.int32)
    free = (1 + torch.randperm(pages - 1, generator=generator)).tolist()
    rows = torch.randperm(len(sequences) + 2, generator=generator)[: len(sequences)].int()
    keys: list[torch.Tensor] = []
    values: list[torch.Tensor] = []
    token_row: list[int] = []
    position: list[int] = []
    starts = [0]
    for row, (context, queries), count in zip(rows.tolist(), sequences, counts, strict=True):
        stored = narrow(torch.randn(2, context, shape.kv_heads, shape.dim, generator=generator), shape.dtype)
        numbers = widened(stored, shape.dim, shape.numbers)
        keys.append(numbers[0])
        values.append(numbers[1])
        for index in range(count):
            part = slice(index * shape.page_size, min(context, (index + 1) * shape.page_size))
            if index < prefix and len(keys) > 1:
                table[row, index] = table[rows[0], index]
                keys[-1][part], values[-1][part] = keys[0][part], values[0][part]
                continue
            page = free.pop()
            table[row, index] = page
            filled = part.stop - part.start
            arena[page, LAYER, :, :filled] = stored[:, part]
        starts.append(starts[-1] + queries)
        token_row += [row] * queries
        position += range(context - queries, context)
    heads = shape.kv_heads * shape.groups
    return Paged(
        shape=shape,
        arena=arena,
        table=table,
        rows=rows,
        query_start=torch.tensor(starts, dtype=torch.int32),
        context=torch.tensor([context for context, _ in sequences], dtype=torch.int32),
        token_row=torch.tensor(token_row, dtype=torch.int32),
        position=torch.tensor(position, dtype=torch.int32),
        keys=keys,
        values=values,
        queries=torch.randn(starts[-1], heads, shape.dim, generator=generator).to(
            query_dtype or shape.numbers
        ),
    )
