"""Makes GGUF files with the package that defines them, from models and vocabularies made here."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
import tokenizers
import torch

from tracert.models.weights_gguf import gguf_name

Store = Callable[[gguf.GGUFWriter, str, npt.NDArray[np.float32]], None]


def as_float32(writer: gguf.GGUFWriter, name: str, values: npt.NDArray[np.float32]) -> None:
    """Store a tensor as it is."""
    writer.add_tensor(name, values)


def as_blocks(kind: gguf.GGMLQuantizationType) -> Store:
    """Store matrices in blocks of this kind and vectors as they are."""

    def store(writer: gguf.GGUFWriter, name: str, values: npt.NDArray[np.float32]) -> None:
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)

    return store


def permute(values: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of a query or key matrix in llama.cpp's order: the two halves of a head interleaved."""
    rows = []
    dim = len(values) // heads
    for head in range(heads):
        for pair in range(dim // 2):
            rows += [values[head * dim + pair], values[head * dim + dim // 2 + pair]]
    return torch.stack(rows)


def write_gguf(
    path: Path,
    model: Any,
    *,
    store: Store = as_float32,
    metadata: Mapping[str, Any] | None = None,
    without: str = "",
    tokenizer: tokenizers.Tokenizer | None = None,
) -> Path:
    """The GGUF file of a transformers Llama, with changes.

    `metadata` is added to the model's (None takes a key away), the tensor `without` is left out.
    """
    config = model.config
    fields: dict[str, Any] = {
        "llama.block_count": config.num_hidden_layers,
        "llama.context_length": config.max_position_embeddings,
        "llama.embedding_length": config.hidden_size,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "llama.rope.dimension_count": config.hidden_size // config.num_attention_heads,
        "llama.rope.freq_base": float(config.rope_parameters["rope_theta"]),
        "tokenizer.ggml.bos_token_id": config.bos_token_id,
        "tokenizer.ggml.eos_token_id": config.eos_token_id,
        **(_vocabulary(tokenizer) if tokenizer else {}),
        **(metadata or {}),
    }
    writer = gguf.GGUFWriter(path, fields.pop("general.architecture", "llama"))
    for name, value in fields.items():
        _add(writer, name, value)
    for name, tensor in model.state_dict().items():
        if config.tie_word_embeddings and name == "lm_head.weight":
            continue
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}.get(
            name.split(".")[-2]
        )
        values = permute(tensor, heads) if heads else tensor
        if gguf_name(name) != without:
            store(writer, gguf_name(name), values.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _vocabulary(tokenizer: tokenizers.Tokenizer) -> dict[str, Any]:
    size = tokenizer.get_vocab_size()
    special = tokenizer.get_added_tokens_decoder()
    import json

    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": [tokenizer.id_to_token(id_) for id_ in range(size)],
        "tokenizer.ggml.token_type": [3 if id_ in special else 1 for id_ in range(size)],
        "tokenizer.ggml.merges": [" ".join(merge) for merge in merges],
    }


def _add(writer: gguf.GGUFWriter, name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool):
        writer.add_bool(name, value)
    elif isinstance(value, str):
        writer.add_string(name, value)
    elif isinstance(value, float):
        writer.add_float32(name, value)
    elif isinstance(value, int):
        writer.add_uint32(name, value)
    else:
        writer.add_array(name, value)
