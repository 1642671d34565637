"""What the layers of one forward share: the block table as it was when the forward executed.

A plan is made inside the launch, never before it: it is a copy of table entries, so one made on the host's
side of the launch would hide every race on the table. It lasts for one forward and knows nothing of layers.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from tracert_kernels.kv_types import Covers
from tracert_kernels.scratch import Scratch


class Span(NamedTuple):
    """One sequence: queries `first..end` are the last positions of `context` tokens on `pages` (int64)."""

    first: int
    end: int
    context: int
    pages: torch.Tensor


class Batch:
    """Sequences with one query each that are attended to together.

    `tokens` int64 [B]: their queries. `shared` int64 [S]: full pages that all of them begin with. `own` int64
    [B, N]: the pages after those, at least one each, short ones padded with their first. `lengths` int64 [B]:
    the tokens on `own`. `dead` bool [B, N * page_size]: the positions of `own` that hold none.
    """

    def __init__(
        self,
        tokens: torch.Tensor,
        shared: torch.Tensor,
        own: torch.Tensor,
        lengths: torch.Tensor,
        page_size: int,
    ) -> None:
        self.tokens = tokens
        self.shared = shared
        self.own = own
        self.dead = torch.arange(own.shape[1] * page_size) >= lengths[:, None]
        self.full = not bool(self.dead.any())
        self._page_size = page_size
        self._rows: tuple[tuple[int, int, int, Covers], torch.Tensor, torch.Tensor] | None = None

    def value_rows(
        self, page_rows: int, kv_heads: int, groups: int, covers: Covers
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the values on `own` lie, and where each bag of them starts.

        A layer is seen as rows of head_dim numbers, `page_rows` from page to page, keys first. There is one
        bag of N * page_size rows for each of [kv_heads, B, groups]. Dead positions, which are to be weighted
        0, name their own row where pages are covered whole, else a live row of their sequence. All layers
        have one geometry, so the answer is kept.
        """
        key = (page_rows, kv_heads, groups, covers)
        if self._rows is None or self._rows[0] != key:
            batch, width = self.dead.shape
            position = torch.arange(self._page_size, 2 * self._page_size) * kv_heads
            rows = (self.own[:, :, None] * page_rows + position).view(batch, width)
            if covers == "valid":
                rows = torch.where(self.dead, rows[:, :1], rows)
            by_head = rows + torch.arange(kv_heads)[:, None, None]
            bags = kv_heads * batch * groups
            every = by_head[:, :, None].expand(kv_heads, batch, groups, width).reshape(-1)
            self._rows = (key, every, torch.arange(0, bags * width, width))
        return self._rows[1], self._rows[2]


@dataclass(frozen=True, slots=True)
class Plan:
    """Slots to write and pages to read, as the block table named them.

    `slot_page`, `slot_offset`: int64 [T], where each token's key and value go; `slot_page_max` the highest
    (-1 of none). `batches` are sequences with one query each, to be attended to together, `spans` the others,
    one by one; `page_max` is the highest page among both. No id is negative; whether the highest exists is
    for each kernel to check, who knows the pages.
    """

    slot_page: torch.Tensor
    slot_offset: torch.Tensor
    slot_page_max: int
    batches: tuple[Batch, ...]
    spans: tuple[Span, ...]
    page_max: int
    scratch: Scratch = field(repr=False, compare=False)
    stored: torch.Tensor | None = None
    """int64 [N], of a guarded forward that leaves sequences out: the tokens that have a slot; None: all."""
    left_out: tuple[tuple[int, int], ...] = ()
    """The queries of those sequences, first and end."""
