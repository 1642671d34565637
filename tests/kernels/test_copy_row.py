import pytest
import torch
from tracert_kernels import twins


def table() -> torch.Tensor:
    """Four rows of six entries, counted through."""
    return torch.arange(24, dtype=torch.int32).view(4, 6)


def test_entries_are_published_from_the_start_of_staging() -> None:
    """staging[0..count] goes to entries first..first + count of the row, and the rest stays."""
    device, staging = table(), torch.tensor([90, 91, 92, 93], dtype=torch.int32)
    expected = table()
    expected[2] = torch.tensor([12, 13, 90, 91, 92, 17])
    twins.copy_row(device, 2, 2, staging, 3)
    assert torch.equal(expected, device)


def test_staging_is_read_when_the_copy_runs() -> None:
    """What the buffer holds at execution is what is published."""
    device, staging = table(), torch.tensor([90, 91], dtype=torch.int32)
    staging[1] = 77
    twins.copy_row(device, 0, 0, staging, 2)
    expected = torch.tensor([90, 77, 2], dtype=torch.int32)
    assert torch.equal(expected, device[0, :3])


@pytest.mark.parametrize(
    ("row", "first", "count"),
    [(-1, 0, 1), (4, 0, 1), (0, -1, 1), (0, 5, 2), (0, 0, 5), (0, 0, -1)],
    ids=["row -1", "row 4", "entry -1", "past the row", "past staging", "a negative count"],
)
def test_out_of_range_raises_and_writes_nothing(row: int, first: int, count: int) -> None:
    """Neither rows, entries nor staging wrap or are cut short."""
    device = table()
    with pytest.raises(IndexError, match=f"of row {row}"):
        twins.copy_row(device, row, first, torch.zeros(4, dtype=torch.int32), count)
    assert torch.equal(table(), device)
