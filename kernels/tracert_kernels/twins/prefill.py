"""Attention of one sequence, all its queries. Knows nothing of the table."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from tracert_kernels.plan import Span
from tracert_kernels.scratch import Scratch
from tracert_kernels.twins.stored import widened

# Queries attended to at once. Smaller blocks see fewer keys that they must mask, larger ones make fuller
# products; 64 measured best from 256 to 1,024 tokens.
_BLOCK = 64


def prefill(
    out: torch.Tensor, query: torch.Tensor, cache: torch.Tensor, span: Span, scale: float, scratch: Scratch
) -> None:
    """Write the answers of the span's queries to `out` [T, Hq, D]; shapes as in `paged_attention`.

    The pages of the span must exist.
    """
    heads, dim = query.shape[1:]
    kv_heads = cache.shape[3]
    groups = heads // kv_heads
    # Cut at the context: what lies in the dead tail must not be there to be masked, for 0 x NaN is NaN.
    key, value = (
        widened(side[: span.context], dim, query.dtype).transpose(0, 1)[None]
        for side in gather(cache, span, scratch)
    )
    block = min(_BLOCK, span.end - span.first)
    mask = _triangle(block, span.context, query.dtype).repeat(groups, 1) if block > 1 else None
    for first in range(span.first, span.end, block):
        # The last block is aligned with the end: it repeats some of the one before rather than need a mask
        # of its own.
        first = min(first, span.end - block)
        seen = span.context - (span.end - first - block)
        # The heads of a group share keys: they are more queries on one head.
        queries = query[first : first + block].view(block, kv_heads, groups, dim).permute(1, 2, 0, 3)
        answers = scaled_dot_product_attention(
            queries.reshape(1, kv_heads, groups * block, dim),
            key[:, :, :seen],
            value[:, :, :seen],
            None if mask is None else mask[:, span.context - seen :],
            scale=scale,
        )
        out[first : first + block] = (
            answers.view(kv_heads, groups, block, dim).permute(2, 0, 1, 3).reshape(block, heads, dim)
        )


def gather(cache: torch.Tensor, span: Span, scratch: Scratch) -> list[torch.Tensor]:
    """The keys and the values on the pages of a span as they are stored: [pages * P, Hkv, W] each."""
    shape = (len(span.pages), *cache.shape[2:])
    return [
        torch.index_select(cache[:, side], 0, span.pages, out=scratch.take(name, shape, cache.dtype)).flatten(
            0, 1
        )
        for side, name in enumerate(("keys", "values"))
    ]


def _triangle(block: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    """What to add to scores [block, width]: row i sees all but the last `block - 1 - i` keys."""
    mask = torch.zeros(block, width, dtype=dtype)
    mask[:, width - block :].masked_fill_(torch.ones(block, block, dtype=torch.bool).triu(1), float("-inf"))
    return mask
