"""What a decoder of the Llama family is made of: sizes, position embedding, special ids.

One frozen record, whatever file it was read from (`config_hf`, `config_gguf`, or `TINY_RANDOM`). What the
decoder cannot compute is refused by the reader of that file, so that a `ModelConfig` can always be run.
"""

from dataclasses import dataclass
from typing import Literal

Architecture = Literal["llama", "qwen2", "qwen3"]
DtypeName = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotary position embedding: base frequencies `theta^(-2i/d)`, then one way to stretch them.

    linear: divided by `factor` (kaiokendev, 2023). llama3: low frequencies divided by `factor`, high ones
    kept, between them a blend (Llama 3.1). yarn: the same idea over rotations, with the result scaled by
    `attention` (Peng et al., 2023). divisors: one divisor a frequency, as GGUF files store them.
    """

    theta: float = 10000.0
    kind: Literal["none", "linear", "llama3", "yarn", "divisors"] = "none"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position: int = 8192
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    attention: float = 1.0
    """Factor on cosine and sine."""
    divisors: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes in features, heads, tokens. Qwen2 has `qkv_bias`, Qwen3 `qk_norm`, Llama neither."""

    architecture: Architecture
    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    max_position: int
    rope: Rope
    eps: float
    """Of every RMS norm."""
    tied: bool
    """The output projection is the token embedding."""
    qkv_bias: bool
    qk_norm: bool
    bos_id: int | None
    eos_ids: tuple[int, ...]
    """Any of them ends a sequence."""
    dtype: DtypeName
    """What the weights were stored in, or rounded from."""

    def kv_bytes_per_token(self, itemsize: int) -> int:
        """Bytes of keys and values of one token over all layers, for elements of `itemsize` bytes."""
        return self.layers * 2 * self.kv_heads * self.head_dim * itemsize


TINY_RANDOM = ModelConfig(
    architecture="llama",
    layers=2,
    hidden=64,
    ffn=128,
    heads=4,
    kv_heads=2,
    head_dim=16,
    vocab=260,
    max_position=262_144,
    rope=Rope(),
    eps=1e-5,
    tied=False,
    qkv_bias=False,
    qk_norm=False,
    bos_id=256,
    eos_ids=(257, 259),
    dtype="float32",
)
"""`tiny-random`: every mechanism of the real ones, no file. Ids 0-255 are bytes, 256-259 special tokens."""
