"""Attention of one query a sequence, many sequences at once. Knows nothing of the table.

What is expensive here is memory, not arithmetic: keys are gathered once for a group of heads, in fp32 and
by head, so that one batched product gives fp32 scores; values are not gathered at all, a weighted sum of
rows (`embedding_bag`) reads them where they lie; pages that all sequences begin with are read once.
"""

import torch

from tracert_kernels.kv_types import Covers
from tracert_kernels.plan import Batch
from tracert_kernels.scratch import Scratch
from tracert_kernels.twins.stored import widen


def decode(
    out: torch.Tensor,
    query: torch.Tensor,
    cache: torch.Tensor,
    batch: Batch,
    scale: float,
    scratch: Scratch,
    covers: Covers,
) -> None:
    """Write the answers of the batch's tokens to `out` [T, Hq, D]; shapes as in `paged_attention`.

    The pages of the batch must exist.
    """
    heads, dim = query.shape[1:]
    kv_heads = cache.shape[3]
    groups, count = heads // kv_heads, len(batch.tokens)
    width, prefix = batch.dead.shape[1], len(batch.shared) * cache.shape[2]
    # Heads first everywhere: the queries of all sequences on one KV head meet its shared keys in one product.
    queries = query.index_select(0, batch.tokens).view(count, kv_heads, groups, dim).transpose(0, 1).float()
    queries = (queries * scale).reshape(kv_heads * count, groups, dim)
    keys = _by_head("keys", cache[:, 0], batch.own, dim, scratch).view(kv_heads * count, width, dim)
    scores = torch.bmm(queries, keys.transpose(1, 2)).view(kv_heads, count, groups, width)
    if not batch.full:
        # Filled, not added to: a dead key may be NaN.
        scores.masked_fill_(batch.dead[:, None], float("-inf"))
    merged = (kv_heads, count * groups, -1)
    if prefix:
        keys = _by_head("shared", cache[:, 0], batch.shared[None], dim, scratch)[:, 0]
        wider = scratch.take("scores", (kv_heads, count, groups, prefix + width), torch.float32)
        torch.bmm(queries.view(merged), keys.transpose(1, 2), out=wider.view(merged)[..., :prefix])
        wider[..., prefix:] = scores
        scores = wider
    weights = scores.softmax(dim=3)
    result = _weighted_values(weights[..., prefix:], cache, batch, scratch, query, covers)
    if prefix:
        values = _by_head("shared", cache[:, 1], batch.shared[None], dim, scratch)[:, 0]
        common = torch.bmm(weights.view(merged)[..., :prefix], values)
        result = common.view(kv_heads, count, groups, dim) + result
    answers = result.transpose(0, 1).reshape(count, heads, dim)
    out.index_copy_(0, batch.tokens, answers.to(out.dtype))


def _by_head(name: str, side: torch.Tensor, pages: torch.Tensor, dim: int, scratch: Scratch) -> torch.Tensor:
    """[Hkv, B, N * P, D] in fp32 of `side` [pages, P, Hkv, W] for `pages` [B, N]."""
    batch, count = pages.shape
    _, page_size, kv_heads, width = side.shape
    stored = scratch.take("gathered", (batch * count, page_size, kv_heads, width), side.dtype)
    torch.index_select(side, 0, pages.reshape(-1), out=stored)
    wide = scratch.take(name, (kv_heads, batch, count * page_size, dim), torch.float32)
    return widen(stored.view(batch, count * page_size, kv_heads, width).permute(2, 0, 1, 3), wide)


def _weighted_values(
    weights: torch.Tensor,
    cache: torch.Tensor,
    batch: Batch,
    scratch: Scratch,
    query: torch.Tensor,
    covers: Covers,
) -> torch.Tensor:
    """The sums [Hkv, B, G, D] of the values on the batch's own pages, weighted [Hkv, B, G, N * P]."""
    pages, _, page_size, kv_heads, _ = cache.shape
    _, count, groups, width = weights.shape
    dim, dtype = query.shape[2], query.dtype
    if dtype == cache.dtype and cache[0].is_contiguous() and cache.stride(0) % dim == 0:
        page_rows = cache.stride(0) // dim
        rows, bags = batch.value_rows(page_rows, kv_heads, groups, covers)
        # The layer as rows of D numbers. It spans other layers' too, which no index names.
        layer = cache.as_strided(((pages - 1) * page_rows + 2 * page_size * kv_heads, dim), (dim, 1))
        flat = weights.to(dtype).reshape(-1)
        summed = torch.embedding_bag(layer, rows, bags, mode=0, per_sample_weights=flat)[0]
        return summed.view(kv_heads, count, groups, dim)
    values = _by_head("values", cache[:, 1], batch.own, dim, scratch)
    if covers == "valid" and not batch.full:
        values.masked_fill_(batch.dead[:, :, None], 0.0)
    return (weights.reshape(-1, groups, width) @ values.view(-1, width, dim)).view(
        kv_heads, count, groups, dim
    )
