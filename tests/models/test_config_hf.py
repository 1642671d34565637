"""Configurations of Hugging Face directories, as transformers 4 and 5 write them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tracert.models.config import ModelConfig, Rope
from tracert.models.config_hf import read_hf_config
from tracert.models.errors import ConfigError

OLD_LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "factor": 32.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
    "tie_word_embeddings": True,
    "attention_bias": False,
    "hidden_act": "silu",
    "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009],
    "torch_dtype": "bfloat16",
}


def write(directory: Path, config: dict[str, Any], generation: dict[str, Any] | None = None) -> Path:
    """A model directory with these files."""
    (directory / "config.json").write_text(json.dumps(config))
    if generation is not None:
        (directory / "generation_config.json").write_text(json.dumps(generation))
    return directory


def test_transformers_4(tmp_path: Path) -> None:
    """Every field of an older configuration arrives, `rope_scaling` and `torch_dtype` included."""
    expected = ModelConfig(
        architecture="llama",
        layers=16,
        hidden=2048,
        ffn=8192,
        heads=32,
        kv_heads=8,
        head_dim=64,
        vocab=128256,
        max_position=131072,
        rope=Rope(500000.0, "llama3", 32.0, 1.0, 4.0, 8192),
        eps=1e-5,
        tied=True,
        qkv_bias=False,
        qk_norm=False,
        bos_id=128000,
        eos_ids=(128001, 128008, 128009),
        dtype="bfloat16",
    )
    assert expected == read_hf_config(write(tmp_path, OLD_LLAMA))


def test_transformers_5(tmp_path: Path) -> None:
    """`rope_parameters` and `dtype` mean the same as what they replace."""
    new = {
        name: value
        for name, value in OLD_LLAMA.items()
        if name not in ("rope_scaling", "rope_theta", "torch_dtype")
    }
    new["rope_parameters"] = {**OLD_LLAMA["rope_scaling"], "rope_theta": 500000.0}  # type: ignore[dict-item]
    new["dtype"] = "bfloat16"
    (tmp_path / "new").mkdir()
    assert read_hf_config(write(tmp_path, OLD_LLAMA)) == read_hf_config(write(tmp_path / "new", new))


def test_ends_of_generation_come_first(tmp_path: Path) -> None:
    """generation_config.json may name more ends than config.json; each is kept once."""
    config = {**OLD_LLAMA, "eos_token_id": 5}
    assert read_hf_config(write(tmp_path, config, {"eos_token_id": [7, 5]})).eos_ids == (7, 5)
    assert read_hf_config(write(tmp_path, config, {"eos_token_id": None})).eos_ids == (5,)


def test_families(tmp_path: Path) -> None:
    """Qwen2 has biases on queries, keys and values, Qwen3 norms and heads of 128 unless it says otherwise."""
    without = {name: value for name, value in OLD_LLAMA.items() if name != "head_dim"}
    qwen2 = read_hf_config(write(tmp_path, {**without, "model_type": "qwen2"}))
    assert (qwen2.qkv_bias, qwen2.qk_norm, qwen2.head_dim) == (True, False, 64)
    qwen3 = read_hf_config(write(tmp_path, {**without, "model_type": "qwen3"}))
    assert (qwen3.qkv_bias, qwen3.qk_norm, qwen3.head_dim) == (False, True, 128)


def test_unused_window_is_no_window(tmp_path: Path) -> None:
    """Qwen2 configurations name a window that no layer uses; that is full attention."""
    config = {**OLD_LLAMA, "model_type": "qwen2", "sliding_window": 4096, "max_window_layers": 16}
    assert read_hf_config(write(tmp_path, {**config, "use_sliding_window": False})).layers == 16
    assert read_hf_config(write(tmp_path, {**config, "use_sliding_window": True})).layers == 16


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model_type": "mamba"}, "model_type 'mamba' is not supported"),
        ({"model_type": None}, "model_type None is not supported"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding-window attention"),
        ({"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 3}, "sliding-window"),
        ({"use_sliding_window": True, "sliding_window": 64}, "sliding-window attention"),
        ({"attention_bias": True}, "attention biases"),
        ({"mlp_bias": True}, "biases in the feed-forward layers"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantization_config"),
        ({"partial_rotary_factor": 0.5}, "a part of the head"),
        ({"hidden_act": "gelu"}, "the activation 'gelu'"),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "rope type 'dynamic'"),
        ({"rope_scaling": {"type": "linear"}}, "factor is missing"),
        ({"rope_scaling": {"full_attention": {"rope_theta": 1.0}}}, "differ from layer to layer"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "mscale": 1.0}}, "yarn with mscale"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"vocab_size": "many"}, "vocab_size is 'many'"),
        ({"num_key_value_heads": 5}, "32 attention heads cannot share 5"),
        ({"head_dim": 63}, "head_dim is 63"),
        ({"rms_norm_eps": -1}, "rms_norm_eps is -1"),
        ({"torch_dtype": "float8_e4m3fn"}, "dtype 'float8_e4m3fn'"),
        ({"eos_token_id": "end"}, "a token id must be a whole number"),
    ],
)  # fmt: skip
def test_refuses(change: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    """What the decoder cannot compute, or makes no sense, is refused in one line that names the file."""
    with pytest.raises(ConfigError) as raised:
        read_hf_config(write(tmp_path, {**OLD_LLAMA, **change}))
    assert complaint in str(raised.value)
    assert str(tmp_path / "config.json") in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '"llama"'])
def test_damaged_file(text: str, tmp_path: Path) -> None:
    """A file that is no JSON object is refused in one line."""
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ConfigError, match=r"config\.json: (not JSON|a JSON object is needed)"):
        read_hf_config(tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    """So is one that is not there."""
    with pytest.raises(ConfigError, match="No such file"):
        read_hf_config(tmp_path)
