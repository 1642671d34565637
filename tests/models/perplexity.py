"""How well a model knows a text when its keys and values go through pages of a type."""

import math
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy, kl_div
from tracert_kernels.kv_names import KvType
from tracert_kernels.kv_types import KV_TYPES, stored_width

from tracert.models.batch import Batch
from tracert.models.decoder import Decoder

TEXT = (Path(__file__).parent / "text.txt").read_text()
"""Written for this test, so that no model has learnt it."""

PAGE_SIZE = 16
CHUNK = 64


def perplexity(logits: torch.Tensor, tokens: list[int]) -> float:
    """exp of the mean loss a token, the first apart, which nothing foretells."""
    return math.exp(float(cross_entropy(logits[:-1], torch.tensor(tokens[1:]))))


def divergence(of: torch.Tensor, logits: torch.Tensor) -> float:
    """The mean Kullback-Leibler divergence from the distributions `of` another run, in nats a token."""
    return float(kl_div(logits.log_softmax(1), of.log_softmax(1), log_target=True, reduction="batchmean"))


@torch.inference_mode()
def logits_over_pages(decoder: Decoder, tokens: list[int], kv_type: KvType) -> torch.Tensor:
    """float32 [T, vocab] of a text, computed in chunks that see keys and values as they are stored."""
    config, dtype = decoder.config, KV_TYPES[kv_type]
    pages = -(-len(tokens) // PAGE_SIZE)
    width = stored_width(config.head_dim, dtype)
    cache = torch.zeros(1 + pages, config.layers, 2, PAGE_SIZE, config.kv_heads, width, dtype=dtype)
    table = torch.arange(1, pages + 1, dtype=torch.int32)[None]
    chunks = []
    for start in range(0, len(tokens), CHUNK):
        chunk = torch.tensor(tokens[start : start + CHUNK])
        end = start + len(chunk)
        batch = Batch(
            tokens=chunk,
            position=torch.arange(start, end, dtype=torch.int32),
            token_row=torch.zeros(len(chunk), dtype=torch.int32),
            rows=torch.zeros(1, dtype=torch.int32),
            query_start=torch.tensor([0, len(chunk)], dtype=torch.int32),
            context=torch.tensor([end], dtype=torch.int32),
            logits_index=torch.arange(len(chunk)),
        )
        chunks.append(decoder.forward(batch, cache, table))
    return torch.cat(chunks)
