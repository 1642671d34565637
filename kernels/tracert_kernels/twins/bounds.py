"""The range check that torch's own indexing lacks: it wraps negative ids."""

import torch


def require_pages(highest: int, pages: int) -> None:
    """IndexError unless the highest page id of a plan exists."""
    if highest >= pages:
        raise IndexError(f"page {highest} is out of range 0..{pages}")


def require_within(name: str, ids: torch.Tensor, limit: int) -> int:
    """The highest id (-1 of none); IndexError unless every id is in 0..limit."""
    if ids.numel() == 0:
        return -1
    low, high = (int(bound) for bound in torch.aminmax(ids))
    if low < 0 or high >= limit:
        raise IndexError(f"{name} {low if low < 0 else high} is out of range 0..{limit}")
    return high
