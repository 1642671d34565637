import pytest
import torch
from tracert_kernels import twins


def arena() -> torch.Tensor:
    """Six pages of 32 bytes, no two bytes of a column alike."""
    return torch.randint(0, 256, (6, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_copied_pages_are_alike_and_the_rest_stays(dtype: torch.dtype) -> None:
    """Targets take the bytes of their sources; one source may have two targets."""
    pages = arena()
    expected = pages.clone()
    expected[4], expected[0], expected[2] = pages[1], pages[5], pages[1]
    twins.copy_pages(pages, torch.tensor([1, 5, 1], dtype=dtype), torch.tensor([4, 0, 2], dtype=dtype))
    assert torch.equal(expected, pages)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_cleared_pages_are_zero_and_the_rest_stays(dtype: torch.dtype) -> None:
    """Every byte of the named pages is 0."""
    pages = arena()
    expected = pages.clone()
    expected[[5, 1]] = 0
    twins.clear_pages(pages, torch.tensor([5, 1], dtype=dtype))
    assert torch.equal(expected, pages)


def test_no_pages_is_nothing_to_do() -> None:
    """Empty lists change nothing."""
    pages, none = arena(), torch.empty(0, dtype=torch.int32)
    twins.copy_pages(pages, none, none)
    twins.clear_pages(pages, none)
    assert torch.equal(arena(), pages)


@pytest.mark.parametrize("page", [-1, 6])
def test_a_wrong_page_raises_before_anything_is_written(page: int) -> None:
    """Neither a wrong source nor a wrong target lets the good pairs through."""
    pages, good, wrong = arena(), torch.tensor([1, 2]), torch.tensor([3, page])
    with pytest.raises(IndexError, match=f"page {page} is out of range 0..6"):
        twins.copy_pages(pages, good, wrong)
    with pytest.raises(IndexError, match=f"page {page} is out of range 0..6"):
        twins.copy_pages(pages, wrong, good)
    with pytest.raises(IndexError, match=f"page {page} is out of range 0..6"):
        twins.clear_pages(pages, wrong)
    assert torch.equal(arena(), pages)
