"""Copies whole pages within the arena."""

import torch

from tracert_kernels.twins.bounds import require_within


def copy_pages(cache_bytes: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> None:
    """Page `target[i]` becomes a copy of page `source[i]`.

    `cache_bytes` uint8 [pages, page_bytes]; `source`, `target` int32 or int64 [N]. Targets must be distinct,
    and no target may be a source: the copies have no order. IndexError, with nothing written, for a page
    out of range.
    """
    require_within("page", source, cache_bytes.shape[0])
    require_within("page", target, cache_bytes.shape[0])
    cache_bytes.index_copy_(0, target.long(), cache_bytes.index_select(0, source.long()))
