import pytest
import torch
from tracert_kernels import twins
from tracert_kernels.kv_types import KV_TYPES

from tests.kernels.paged import Paged, Shape, paged


def case(dtype: torch.dtype = torch.float32) -> Paged:
    """An arena in which nothing is zero."""
    return paged([(40, 1), (16, 1)], Shape(dtype=dtype), garbage=7.0)


@pytest.mark.parametrize("ids", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("dtype", KV_TYPES.values(), ids=KV_TYPES.keys())
def test_the_last_positions_are_zero_in_every_layer(dtype: torch.dtype, ids: torch.dtype) -> None:
    """From the position on, keys and values, codes and scales; what lies before it stays."""
    arena = case(dtype).arena
    expected = arena.clone()
    expected.view(torch.uint8)[4, :, :, 5:] = 0
    expected.view(torch.uint8)[2] = 0
    twins.clear_positions(arena, torch.tensor([4, 2, 1], dtype=ids), torch.tensor([5, 0, 16], dtype=ids))
    assert torch.equal(expected.view(torch.uint8), arena.view(torch.uint8))


@pytest.mark.parametrize(
    ("page", "first", "match"),
    [
        (-1, 0, "page -1 is out of range 0..8"),
        (8, 0, "page 8 is out of range 0..8"),
        (3, -1, "position -1 is out of range 0..17"),
        (3, 17, "position 17 is out of range 0..17"),
    ],
)
def test_out_of_range_raises_before_anything_is_written(page: int, first: int, match: str) -> None:
    """Not even the good entries before the wrong one are cleared."""
    arena = case().arena
    kept = arena.clone()
    with pytest.raises(IndexError, match=match):
        twins.clear_positions(arena, torch.tensor([1, page]), torch.tensor([0, first]))
    assert torch.equal(kept, arena)


def test_nothing_to_clear() -> None:
    """Empty lists change nothing."""
    arena = case().arena
    kept = arena.clone()
    twins.clear_positions(arena, torch.empty(0, dtype=torch.int32), torch.empty(0, dtype=torch.int32))
    assert torch.equal(kept, arena)
