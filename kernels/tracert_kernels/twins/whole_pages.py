"""Attention of one query over all positions of the pages it walks: cover `page`. Knows no table."""

import torch

from tracert_kernels.plan import Span
from tracert_kernels.scratch import Scratch
from tracert_kernels.twins.prefill import gather
from tracert_kernels.twins.stored import widened


def attend_whole(
    out: torch.Tensor, query: torch.Tensor, cache: torch.Tensor, span: Span, scale: float, scratch: Scratch
) -> None:
    """Write the answer of the span's one query to `out` [T, Hq, D]; shapes as in `paged_attention`.

    The pages of the span must exist.
    """
    heads, dim = query.shape[1:]
    kv_heads = cache.shape[3]
    key, value = (widened(side, dim, torch.float32).transpose(0, 1) for side in gather(cache, span, scratch))
    scores = query[span.first].view(kv_heads, heads // kv_heads, dim).float() * scale @ key.transpose(1, 2)
    # Filled, not added to: a dead key may be NaN, and it is dead values alone that this cover lets through.
    scores[:, :, span.context :] = float("-inf")
    out[span.first] = (scores.softmax(2) @ value).view(heads, dim)
