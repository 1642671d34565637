"""The weights of a decoder, fused as it uses them, put together from tensors under Hugging Face names.

Knows nothing of files: where a tensor comes from is the reader's business.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch

from tracert.models.config import ModelConfig
from tracert.models.linear import Linear


class TensorReader(Protocol):
    """Tensors by the names that transformers gives them (`model.layers.0.self_attn.q_proj.weight`)."""

    def __call__(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        """The tensor, of any floating dtype. WeightsError when it is missing, broken or of another shape."""


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer. `qkv` yields queries, keys, values; `gate_up` the gate, then what it gates."""

    input_norm: torch.Tensor
    qkv: Linear
    query_norm: torch.Tensor | None
    key_norm: torch.Tensor | None
    output: Linear
    post_norm: torch.Tensor
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, slots=True)
class Weights:
    """A whole decoder. `head` yields logits; it is the embedding where they are tied."""

    embedding: torch.Tensor
    layers: tuple[LayerWeights, ...]
    norm: torch.Tensor
    head: Linear


def assemble(config: ModelConfig, read: TensorReader, dtype: torch.dtype, device: torch.device) -> Weights:
    """The weights of `config` in `dtype` on `device`. WeightsError as `read` raises it."""

    def get(name: str, *shape: int) -> torch.Tensor:
        return read(name, shape).to(device=device, dtype=dtype)

    embedding = get("model.embed_tokens.weight", config.vocab, config.hidden)
    head = embedding if config.tied else get("lm_head.weight", config.vocab, config.hidden)
    layers = tuple(_layers(config, get))
    return Weights(embedding, layers, get("model.norm.weight", config.hidden), Linear(head))


class _Get(Protocol):
    def __call__(self, name: str, *shape: int) -> torch.Tensor: ...


def _layers(config: ModelConfig, get: _Get) -> Iterator[LayerWeights]:
    hidden, ffn, dim = config.hidden, config.ffn, config.head_dim
    queries, keys = config.heads * dim, config.kv_heads * dim
    for index in range(config.layers):
        prefix = f"model.layers.{index}"
        attention, feed = f"{prefix}.self_attn", f"{prefix}.mlp"
        projections = (("q", queries), ("k", keys), ("v", keys))
        qkv = [get(f"{attention}.{letter}_proj.weight", rows, hidden) for letter, rows in projections]
        bias = (
            torch.cat([get(f"{attention}.{letter}_proj.bias", rows) for letter, rows in projections])
            if config.qkv_bias
            else None
        )
        gate_up = [get(f"{feed}.{name}_proj.weight", ffn, hidden) for name in ("gate", "up")]
        yield LayerWeights(
            input_norm=get(f"{prefix}.input_layernorm.weight", hidden),
            qkv=Linear(torch.cat(qkv), bias),
            query_norm=get(f"{attention}.q_norm.weight", dim) if config.qk_norm else None,
            key_norm=get(f"{attention}.k_norm.weight", dim) if config.qk_norm else None,
            output=Linear(get(f"{attention}.o_proj.weight", hidden, queries)),
            post_norm=get(f"{prefix}.post_attention_layernorm.weight", hidden),
            gate_up=Linear(torch.cat(gate_up)),
            down=Linear(get(f"{feed}.down_proj.weight", hidden, ffn)),
        )
