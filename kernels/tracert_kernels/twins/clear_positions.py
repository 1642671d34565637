"""Sets the last positions of pages to zero, in all layers."""

import torch

from tracert_kernels.twins.bounds import require_within


def clear_positions(cache: torch.Tensor, pages: torch.Tensor, first: torch.Tensor) -> None:
    """Keys and values of positions `first[i]` onwards of page `pages[i]` become bytes of 0, scales included.

    `cache` [pages, layers, 2, P, Hkv, W] of any KV type; `pages`, `first` int32 or int64 [N], the first from
    0 (the whole page) to P (nothing). IndexError, with nothing written, for a page or position out of range.
    """
    require_within("page", pages, cache.shape[0])
    require_within("position", first, cache.shape[3] + 1)
    for page, position in zip(pages.tolist(), first.tolist(), strict=True):
        cache[page, :, :, position:].zero_()
