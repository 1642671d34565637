"""What the kernels of one forward share: the block table as it was when the forward executed.

A plan is made inside the launch, never before it: it is a copy of table entries, so one made on the host's
side of the launch would hide every race on the table. It lasts for one forward and knows nothing of layers.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch


class Span(NamedTuple):
    """One sequence of a forward: queries `first..end` are the last positions of `context` tokens.

    `page_first..page_end` are its walked entries among the pages of the plan.
    """

    first: int
    end: int
    context: int
    page_first: int
    page_end: int


class Scratch:
    """Room that kernels reuse from call to call; it grows and never shrinks. Its contents mean nothing."""

    def __init__(self) -> None:
        self._bytes = torch.empty(0, dtype=torch.uint8)

    def take(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """A tensor of undefined contents over the same bytes as every earlier one."""
        nbytes = dtype.itemsize
        for extent in shape:
            nbytes *= extent
        if nbytes > self._bytes.numel():
            self._bytes = torch.empty(nbytes, dtype=torch.uint8)
        return self._bytes[:nbytes].view(dtype).view(shape)


@dataclass(frozen=True, slots=True)
class Plan:
    """Slots to write and pages to read, as the block table named them.

    `slot_page`, `slot_offset`: int64 [T], where each token's key and value go; `slot_page_max` the highest
    (-1 of none). `pages`: int64, the walked entries of all sequences, one after the other; `page_max`
    likewise. No id is negative; whether the highest exists is for each kernel to check, who knows the pages.
    """

    slot_page: torch.Tensor
    slot_offset: torch.Tensor
    slot_page_max: int
    pages: torch.Tensor
    spans: tuple[Span, ...]
    page_max: int
    scratch: Scratch = field(repr=False, compare=False)
