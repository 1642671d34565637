"""Reads a `ModelConfig` from a Hugging Face directory: `config.json`, and `generation_config.json` if there.

Understands what transformers 4 and 5 write (`rope_scaling` and `rope_parameters`, `torch_dtype` and `dtype`).
"""

import json
import math
from pathlib import Path
from typing import Any

from tracert.models.config import Architecture, DtypeName, ModelConfig, Rope
from tracert.models.errors import ConfigError

ARCHITECTURES: dict[str, Architecture] = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
DTYPES: dict[str, DtypeName] = {"float32": "float32", "bfloat16": "bfloat16", "float16": "float16"}


def read_hf_config(directory: Path) -> ModelConfig:
    """The configuration of the model in `directory`. ConfigError for anything missing or unsupported."""
    path = directory / "config.json"
    raw = read_json_object(path)
    fields = _Fields(path, raw)
    architecture = ARCHITECTURES.get(str(raw.get("model_type")))
    if architecture is None:
        raise ConfigError(
            f"{path}: model_type {raw.get('model_type')!r} is not supported (llama, qwen2, qwen3 are)"
        )
    _refuse_unsupported(path, raw, fields, architecture)
    heads, hidden = fields.size("num_attention_heads"), fields.size("hidden_size")
    kv_heads = fields.size("num_key_value_heads", heads)
    if heads % kv_heads:
        raise ConfigError(f"{path}: {heads} attention heads cannot share {kv_heads} key-value heads")
    head_dim = fields.size("head_dim", 128 if architecture == "qwen3" else hidden // heads)
    if head_dim % 2:
        raise ConfigError(f"{path}: head_dim is {head_dim}; rotary embeddings need an even number")
    max_position = fields.size("max_position_embeddings")
    vocab = fields.size("vocab_size")
    generation = directory / "generation_config.json"
    generating = read_json_object(generation) if generation.is_file() else {}
    eos_ids = dict.fromkeys(
        [*_ids(path, generating.get("eos_token_id")), *_ids(path, raw.get("eos_token_id"))]
    )
    bos_ids = _ids(path, raw.get("bos_token_id"))
    return ModelConfig(
        architecture=architecture,
        layers=fields.size("num_hidden_layers"),
        hidden=hidden,
        ffn=fields.size("intermediate_size"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=vocab,
        max_position=max_position,
        rope=_rope(path, raw, max_position),
        eps=fields.number("rms_norm_eps", 1e-6),
        tied=bool(raw.get("tie_word_embeddings", False)),
        qkv_bias=architecture == "qwen2",
        qk_norm=architecture == "qwen3",
        bos_id=bos_ids[0] if bos_ids else None,
        eos_ids=tuple(dict.fromkeys(eos_ids)),
        dtype=_dtype(path, raw),
    )


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file. ConfigError when it is missing, no JSON, or no object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON ({error}); the file is damaged, fetch it again") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: a JSON object is needed, this is a {type(value).__name__}")
    return value


class _Fields:
    """Checked access to the fields of one JSON object."""

    def __init__(self, path: Path, raw: dict[str, Any]) -> None:
        self._path = path
        self._raw = raw

    def size(self, name: str, default: int | None = None) -> int:
        value = self._raw.get(name)
        value = default if value is None else value
        if value is None:
            raise ConfigError(f"{self._path}: {name} is missing")
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError(f"{self._path}: {name} is {value!r}; it must be a whole number above 0")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = self._raw.get(name)
        value = default if value is None else value
        if value is None:
            raise ConfigError(f"{self._path}: {name} is missing")
        if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
            raise ConfigError(f"{self._path}: {name} is {value!r}; it must be a number above 0")
        return float(value)


def _refuse_unsupported(
    path: Path, raw: dict[str, Any], fields: "_Fields", architecture: Architecture
) -> None:
    windowed = any(kind != "full_attention" for kind in raw.get("layer_types") or ())
    if "layer_types" not in raw and raw.get("use_sliding_window") and raw.get("sliding_window"):
        # The layers from max_window_layers on slide; 0 or nothing: all of them.
        full = fields.size("max_window_layers", 1) if raw.get("max_window_layers") else 0
        windowed = full < fields.size("num_hidden_layers")
    unsupported = {
        "sliding-window attention": windowed,
        "attention biases": bool(raw.get("attention_bias")) and architecture != "qwen2",
        "biases in the feed-forward layers": bool(raw.get("mlp_bias")),
        "quantization_config": bool(raw.get("quantization_config")),
        "rotary embeddings over a part of the head": fields.number("partial_rotary_factor", 1.0) != 1.0,
        f"the activation {raw.get('hidden_act')!r}": raw.get("hidden_act", "silu") not in ("silu", "swish"),
    }
    for feature, present in unsupported.items():
        if present:
            raise ConfigError(f"{path}: the model uses {feature}, which tracert does not support")


def _rope(path: Path, raw: dict[str, Any], max_position: int) -> Rope:
    parameters = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
    if not isinstance(parameters, dict) or any(isinstance(value, dict) for value in parameters.values()):
        raise ConfigError(f"{path}: rotary embeddings that differ from layer to layer are not supported")
    fields = _Fields(path, {"rope_theta": raw.get("rope_theta"), **parameters})
    theta = fields.number("rope_theta", 10000.0)
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    if fields.number("partial_rotary_factor", 1.0) != 1.0:
        raise ConfigError(f"{path}: rotary embeddings over a part of the head are not supported")
    if kind in ("default", None):
        return Rope(theta)
    factor = fields.number("factor")
    original = fields.size("original_max_position_embeddings", max_position)
    if kind == "linear":
        return Rope(theta, "linear", factor)
    if kind == "llama3":
        return Rope(
            theta,
            "llama3",
            factor,
            low_freq_factor=fields.number("low_freq_factor"),
            high_freq_factor=fields.number("high_freq_factor"),
            original_max_position=original,
        )
    if kind == "yarn":
        if (
            any(name in parameters for name in ("mscale", "mscale_all_dim"))
            or parameters.get("truncate") is False
        ):
            raise ConfigError(f"{path}: yarn with mscale or without truncation is not supported")
        return Rope(
            theta,
            "yarn",
            factor,
            original_max_position=original,
            beta_fast=fields.number("beta_fast", 32.0),
            beta_slow=fields.number("beta_slow", 1.0),
            attention=fields.number("attention_factor", 0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0),
        )
    raise ConfigError(f"{path}: rope type {kind!r} is not supported (default, linear, llama3 and yarn are)")


def _dtype(path: Path, raw: dict[str, Any]) -> DtypeName:
    name = str(raw.get("dtype") or raw.get("torch_dtype") or "float32")
    if name not in DTYPES:
        raise ConfigError(f"{path}: dtype {name!r} is not supported (float32, bfloat16 and float16 are)")
    return DTYPES[name]


def _ids(path: Path, value: Any) -> list[int]:
    ids = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(id_, int) and id_ >= 0 for id_ in ids):
        raise ConfigError(f"{path}: a token id must be a whole number, this is {value!r}")
    return ids
