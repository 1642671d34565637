"""Rotary position embedding: the frequencies of each kind, and the rotation of queries and keys."""

import math

import torch

from tracert.models.config import Rope


def inverse_frequencies(rope: Rope, head_dim: int) -> torch.Tensor:
    """Radians a position for each pair of features: float32 [head_dim / 2]."""
    exponents = torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim
    base = 1.0 / rope.theta**exponents
    if rope.kind == "linear":
        return base / rope.factor
    if rope.kind == "llama3":
        return _llama3(rope, base)
    if rope.kind == "yarn":
        return _yarn(rope, base, head_dim)
    if rope.kind == "divisors":
        return base / torch.tensor(rope.divisors)
    return base


def _llama3(rope: Rope, base: torch.Tensor) -> torch.Tensor:
    """Turns over the original context decide: few, divided by the factor; many, kept; between, a blend."""
    turns = rope.original_max_position * base / (2 * math.pi)
    low, high = rope.low_freq_factor, rope.high_freq_factor
    kept = ((turns - low) / (high - low)).clamp(0.0, 1.0)
    return kept * base + (1.0 - kept) * base / rope.factor


def _yarn(rope: Rope, base: torch.Tensor, head_dim: int) -> torch.Tensor:
    """A ramp over the pairs between those that turn `beta_fast` and `beta_slow` times (YaRN, section 3.2)."""

    def pair_of(turns: float) -> float:
        span = rope.original_max_position / (turns * 2 * math.pi)
        return head_dim * math.log(span) / (2 * math.log(rope.theta))

    low = max(math.floor(pair_of(rope.beta_fast)), 0)
    high = min(math.ceil(pair_of(rope.beta_slow)), head_dim - 1)
    pairs = torch.arange(head_dim // 2, dtype=torch.float32)
    # A ramp of no width would divide by zero.
    divided = ((pairs - low) / max(high - low, 0.001)).clamp(0.0, 1.0)
    return (1.0 - divided) * base + divided * base / rope.factor


class Rotation:
    """The rotation of every token of one forward; all layers share it."""

    def __init__(
        self, frequencies: torch.Tensor, attention: float, position: torch.Tensor, dtype: torch.dtype
    ) -> None:
        """`frequencies` float32 [head_dim / 2], `position` int32 [T]; applies to features of `dtype`."""
        angles = torch.outer(position.float(), frequencies)
        cosine, sine = angles.cos() * attention, angles.sin() * attention
        self._half = frequencies.numel()
        # The sign is put into the table, so that turning a pair is: scale, swap the halves, add scaled.
        self._cosine = torch.cat((cosine, cosine), -1).to(dtype)[:, None]
        self._sine = torch.cat((-sine, sine), -1).to(dtype)[:, None]

    def __call__(self, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        """`x` [T, heads, head_dim] to `out` of that shape, feature i paired with i + head_dim / 2."""
        return torch.mul(x, self._cosine, out=out).addcmul_(x.roll(self._half, -1), self._sine)
