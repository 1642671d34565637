"""Sets whole pages of the arena to zero."""

import torch

from tracert_kernels.twins.bounds import require_within


def clear_pages(cache_bytes: torch.Tensor, pages: torch.Tensor) -> None:
    """Every byte of the pages becomes 0.

    `cache_bytes` uint8 [pages, page_bytes]; `pages` int32 or int64 [N]. IndexError, with nothing written,
    for a page out of range.
    """
    require_within("page", pages, cache_bytes.shape[0])
    cache_bytes.index_fill_(0, pages.long(), 0)
