"""What a guarded forward writes down of the rows that it follows: what they named, and four notes each.

The memory is the caller's, one set a forward in flight. Nothing is cleared between forwards: a forward fills
in all that it is asked about later, for the rows of its batch.
"""

from typing import Final, Literal, NamedTuple

import torch

WALKED, BAD_INDEX, BAD_PAGE, FIRST = range(4)
"""The notes of a row: entries followed; the first of them that is none of pages 1..pages - 1 (-1: all are)
and what it names; where a value was first not finite (NOTHING: nowhere)."""
NOTES: Final = 4
NOTHING: Final = 2**63 - 1
BEHIND: Final = -1
"""What an entry behind the end of the row counts as naming."""

Stage = Literal["keys", "attention"]
"""In which values of a layer it was: the keys and values of new tokens as they are stored, or what attention
gave for them."""


class Guard(NamedTuple):
    """`seen` int32 [rows, width], as the block table; `notes` int64 [rows, 4]; the `layer` computed."""

    seen: torch.Tensor
    notes: torch.Tensor
    layer: int = 0

    def order(self, stage: Stage) -> int:
        """When, within a forward, such values are computed: a layer stores its keys before it attends."""
        return 2 * self.layer + (stage == "attention")


class FirstValue(NamedTuple):
    """The first value of a sequence that was not finite: computed first, and of those the foremost."""

    layer: int
    stage: Stage
    position: int


def first_value(note: int) -> FirstValue | None:
    """The note FIRST of a row in words."""
    if note == NOTHING:
        return None
    order, position = note >> 32, note & 0xFFFFFFFF
    return FirstValue(order // 2, "attention" if order % 2 else "keys", position)
