"""What a forward keeps while it runs, all layers in the same bytes. Knows sizes, not what is computed.

Here stands what torch lets the caller place. What it allocates by itself: the results of norms, of products
with weights that oneDNN has packed, and of attention over one sequence; heads whose halves are swapped, to
rotate them; angles; the batch; logits.
"""

from math import prod
from typing import NamedTuple

import torch
from tracert_kernels.scratch import Scratch, aligned

from tracert.models.config import ModelConfig
from tracert.models.weights import LayerWeights

Shapes = dict[str, tuple[int, ...]]


class Activations(NamedTuple):
    """Tensors of the model's dtype for T tokens."""

    residual: torch.Tensor
    """[T, hidden]"""
    rotated: torch.Tensor
    """[T, heads + kv_heads, head_dim]: queries and keys"""
    query: torch.Tensor
    """[T, heads, head_dim]"""
    attended: torch.Tensor
    """[T, heads, head_dim]"""
    gated: torch.Tensor
    """[T, ffn]"""
    normed_heads: torch.Tensor | None
    """[T, heads + kv_heads, head_dim], where queries and keys are normed"""
    projected: torch.Tensor | None
    """[T, (heads + 2 kv_heads) head_dim], where the product can be placed; so the others"""
    mixed: torch.Tensor | None
    """[T, hidden]: what attention and feed forward add"""
    gate_up: torch.Tensor | None
    """[T, 2 ffn]"""


def shapes(config: ModelConfig, layer: LayerWeights, tokens: int) -> Shapes:
    """What there is for so many tokens, `layer` being any of the layers."""
    dim, turned = config.head_dim, config.heads + config.kv_heads
    found: Shapes = {
        "residual": (tokens, config.hidden),
        "rotated": (tokens, turned, dim),
        "query": (tokens, config.heads, dim),
        "attended": (tokens, config.heads, dim),
        "gated": (tokens, config.ffn),
    }
    if config.qk_norm:
        found["normed_heads"] = (tokens, turned, dim)
    if layer.qkv.writes(tokens):
        found["projected"] = (tokens, layer.qkv.out_features)
    if layer.output.writes(tokens) and layer.down.writes(tokens):
        found["mixed"] = (tokens, config.hidden)
    if layer.gate_up.writes(tokens):
        found["gate_up"] = (tokens, layer.gate_up.out_features)
    return found


def planned(found: Shapes, dtype: torch.dtype) -> int:
    """Bytes that they take."""
    return sum(aligned(prod(shape) * dtype.itemsize) for shape in found.values())


def take(found: Shapes, dtype: torch.dtype, scratch: Scratch) -> Activations:
    """The tensors, on `scratch`."""
    taken: dict[str, torch.Tensor | None] = dict.fromkeys(Activations._fields)
    taken.update((name, scratch.take(name, shape, dtype)) for name, shape in found.items())
    return Activations(**taken)  # type: ignore[arg-type]
