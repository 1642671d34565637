"""Models to test with: tiny ones that transformers makes, and SmolLM2 where it can be had."""

import os
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest
import torch

from tracert.models.errors import FetchError
from tracert.models.fetch import ModelSource, resolve

SIZES = {
    "vocab_size": 97,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 128,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": None,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 1000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 32,
}

TINY: dict[str, tuple[str, dict[str, object]]] = {
    "llama": ("llama", {}),
    "llama-tied": ("llama", {"tie_word_embeddings": True}),
    "llama-without-groups": ("llama", {"num_key_value_heads": 6}),
    "llama-one-key-head": ("llama", {"num_key_value_heads": 1, "head_dim": 16}),
    "llama-linear": (
        "llama",
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}},
    ),
    "llama-llama3": ("llama", {"rope_parameters": LLAMA3}),
    "qwen2": ("qwen2", {}),
    "qwen2-tied-yarn": ("qwen2", {"tie_word_embeddings": True, "rope_parameters": YARN}),
    "qwen3": ("qwen3", {"head_dim": 16}),
    "qwen3-tied": ("qwen3", {"head_dim": 8, "tie_word_embeddings": True, "rms_norm_eps": 1e-5}),
}
"""Name to transformers' model type and what differs from `SIZES`."""


def make_tiny(name: str, directory: Path, max_shard_size: str = "1GB", **sizes: object) -> Any:
    """Save a model of `TINY` with seeded weights to `directory`, and return transformers' own."""
    # Dear to import: by the process that tries this, and no other that collects it.
    import transformers

    kind, changes = TINY[name]
    config = transformers.AutoConfig.for_model(kind, **{**SIZES, **changes, **sizes})
    torch.manual_seed(11)
    automatic: Any = transformers.AutoModelForCausalLM
    model = automatic.from_config(config, dtype=torch.float32).eval()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            # Biases begin as 0 and norms as 1, with which nobody would notice their absence.
            if parameter.ndim == 1:
                parameter.normal_(1.0 if "norm" in parameter_name else 0.0, 0.3)
    model.save_pretrained(directory, max_shard_size=max_shard_size)
    return model


@pytest.fixture(scope="session")
def smollm2() -> ModelSource:
    """SmolLM2; the test is skipped where it is neither cached nor can be fetched."""
    try:
        return resolve("smollm2")
    except FetchError as error:
        pytest.skip(str(error))
