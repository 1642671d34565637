"""Reads a `ModelConfig` from the metadata of a GGUF file of the llama architecture."""

import struct
from typing import Any

from tracert.models.config import DtypeName, ModelConfig, Rope
from tracert.models.errors import ConfigError, WeightsError
from tracert.models.gguf_file import GgufFile

_F32, _F16, _BF16 = 0, 1, 30
_ROPE_DIVISORS = "rope_freqs.weight"


def read_gguf_config(file: GgufFile) -> ModelConfig:
    """The configuration of the model in the file. ConfigError for anything missing or unsupported."""
    try:
        return _read(file)
    except WeightsError as error:
        raise ConfigError(str(error)) from error


def _read(file: GgufFile) -> ModelConfig:
    architecture = file.metadata.get("general.architecture")
    if architecture != "llama":
        raise ConfigError(
            f"{file.path}: the GGUF architecture {architecture!r} is not supported (llama is); "
            "give the model as a Hugging Face directory"
        )
    if file.metadata.get("llama.expert_count"):
        raise ConfigError(f"{file.path}: the model is a mixture of experts, which tracert does not support")
    heads, hidden = _size(file, "attention.head_count"), _size(file, "embedding_length")
    kv_heads = _size(file, "attention.head_count_kv", heads)
    if heads % kv_heads:
        raise ConfigError(f"{file.path}: {heads} attention heads cannot share {kv_heads} key-value heads")
    head_dim = _size(file, "attention.key_length", hidden // heads)
    if _size(file, "rope.dimension_count", head_dim) != head_dim or head_dim % 2:
        raise ConfigError(f"{file.path}: rotary embeddings over a part of the head are not supported")
    embedding = file.tensors.get("token_embd.weight")
    if embedding is None:
        raise ConfigError(f"{file.path}: the tensor token_embd.weight is missing; this is no whole model")
    metadata = file.metadata
    eos = [metadata.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot")]
    return ModelConfig(
        architecture="llama",
        layers=_size(file, "block_count"),
        hidden=hidden,
        ffn=_size(file, "feed_forward_length"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=embedding.shape[0],
        max_position=_size(file, "context_length"),
        rope=_rope(file, head_dim),
        eps=file.field("llama.attention.layer_norm_rms_epsilon", float),
        tied="output.weight" not in file.tensors,
        qkv_bias=False,
        qk_norm=False,
        bos_id=metadata.get("tokenizer.ggml.bos_token_id"),
        eos_ids=tuple(dict.fromkeys(id_ for id_ in eos if id_ is not None)),
        dtype=_dtype(file),
    )


def _size(file: GgufFile, name: str, default: Any = None) -> int:
    value: int = file.field(f"llama.{name}", int, default)
    if value < 1:
        raise ConfigError(f"{file.path}: the metadata's llama.{name} is {value}; it must be above 0")
    return value


def _rope(file: GgufFile, head_dim: int) -> Rope:
    theta: float = file.field("llama.rope.freq_base", float, 10000.0)
    kind = file.metadata.get("llama.rope.scaling.type", "none")
    divisors = file.tensors.get(_ROPE_DIVISORS)
    if divisors is not None:
        if divisors.type != _F32 or divisors.shape != (head_dim // 2,):
            raise ConfigError(f"{file.path}: {_ROPE_DIVISORS} must hold {head_dim // 2} float32 values")
        try:
            values = struct.unpack_from(f"<{head_dim // 2}f", file.data, divisors.offset)
        except struct.error as error:
            raise ConfigError(f"{file.path}: truncated in {_ROPE_DIVISORS}; fetch the file again") from error
        return Rope(theta, "divisors", divisors=values)
    if kind == "none":
        return Rope(theta)
    if kind == "linear":
        return Rope(theta, "linear", file.field("llama.rope.scaling.factor", float))
    raise ConfigError(f"{file.path}: rope scaling {kind!r} is not supported in GGUF (none and linear are)")


def _dtype(file: GgufFile) -> DtypeName:
    """float16 where a matrix is stored so; quantised weights need more mantissa than bfloat16 has."""
    info = file.tensors.get("blk.0.attn_q.weight")
    kinds: dict[int, DtypeName] = {_F16: "float16", _BF16: "bfloat16"}
    return kinds.get(info.type, "float32") if info else "float32"
