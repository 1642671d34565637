"""Publishes entries of a staging buffer to a row of the block table."""

import torch


def copy_row(table: torch.Tensor, row: int, first: int, staging: torch.Tensor, count: int) -> None:
    """Entries `first..first + count` of `row` become `staging[0..count]`, as staging is when this executes.

    `table` int32 [rows, width]; `staging` int32, one-dimensional, at least `count` long. IndexError, with
    nothing written, when the row or an entry is out of range or staging is too short.
    """
    height, width = table.shape
    if not 0 <= row < height or first < 0 or count < 0 or first + count > width or count > staging.numel():
        raise IndexError(
            f"entries {first}..{first + count} of row {row} from {staging.numel()} staged: "
            f"the table is {height} x {width}"
        )
    table[row, first : first + count] = staging[:count]
