"""How much scratch attention takes at most, told by the shape of a batch alone.

What the block table names is known only when a launch runs, and the room must be there before: so this
holds for whatever prefixes the sequences turn out to share.
"""

from collections.abc import Sequence

import torch

from tracert_kernels.kv_types import stored_width
from tracert_kernels.scratch import aligned
from tracert_kernels.twins.plan import _BATCH_TOKENS_MAX, _PADDING_PAGES_MAX


def attention_room(
    queries: Sequence[int],
    contexts: Sequence[int],
    page_size: int,
    heads: int,
    kv_heads: int,
    dim: int,
    cache_dtype: torch.dtype,
) -> int:
    """Bytes of scratch for `paged_attention` of a batch: new tokens and all tokens of each sequence."""
    row, stored = kv_heads * dim, kv_heads * stored_width(dim, cache_dtype) * cache_dtype.itemsize
    lengths = [-(-context // page_size) * page_size for context in contexts]
    # One sequence by itself: its keys and values, as they are.
    room = 2 * aligned(max(lengths, default=0) * stored)
    single = sorted(
        (length for length, count in zip(lengths, queries, strict=True) if count == 1), reverse=True
    )
    if len(single) > 1:
        # Several with one query each: padded to the longest, and what they share besides.
        longest, count = single[0], len(single)
        shared = single[1] - page_size
        padded = sum(single) + _PADDING_PAGES_MAX * page_size + shared
        own = min(count * longest, max(2 * longest, _BATCH_TOKENS_MAX), padded)
        wide = [own * row, own * row, shared * row, heads * count * longest]
        gathered = aligned(max(own, shared) * stored)
        room = max(room, gathered + sum(aligned(4 * numbers) for numbers in wide))
    return room
