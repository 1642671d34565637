"""Frequencies and rotation against transformers' own."""

import pytest
import torch

from tests.models.conftest import LLAMA3, YARN
from tracert.models.config import Rope
from tracert.models.rope import Rotation, inverse_frequencies

LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}


@pytest.mark.parametrize(
    ("parameters", "rope"),
    [
        (LINEAR, Rope(10000.0, "linear", 4.0)),
        (LLAMA3, Rope(500.0, "llama3", 8.0, original_max_position=32)),
        ({**LLAMA3, "rope_theta": 500000.0, "original_max_position_embeddings": 8192},
         Rope(500000.0, "llama3", 8.0, original_max_position=8192)),
        (YARN, Rope(1000.0, "yarn", 4.0, original_max_position=32)),
        ({**YARN, "rope_theta": 1e6, "factor": 2.5, "beta_fast": 16.0, "beta_slow": 2.0},
         Rope(1e6, "yarn", 2.5, original_max_position=32, beta_fast=16.0, beta_slow=2.0)),
    ],
)  # fmt: skip
def test_frequencies(parameters: dict[str, object], rope: Rope) -> None:
    """Every way to stretch the frequencies gives the ones that transformers computes."""
    import transformers
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = transformers.LlamaConfig(
        hidden_size=128, num_attention_heads=2, max_position_embeddings=128, rope_parameters=dict(parameters)
    )
    expected, _ = ROPE_INIT_FUNCTIONS[str(parameters["rope_type"])](config, "cpu")
    torch.testing.assert_close(expected, inverse_frequencies(rope, 64), rtol=1e-6, atol=0)


def test_llama3_leaves_high_and_divides_low_frequencies() -> None:
    """The fastest pair is unchanged, the slowest is divided by the whole factor."""
    rope = Rope(500.0, "llama3", 8.0, original_max_position=32)
    plain, stretched = inverse_frequencies(Rope(500.0), 64), inverse_frequencies(rope, 64)
    assert plain[0] == stretched[0]
    assert plain[-1] / 8 == stretched[-1]


def test_divisors() -> None:
    """Divisors, as GGUF files keep them, divide pair by pair."""
    rope = Rope(100.0, "divisors", divisors=(1.0, 2.0, 8.0))
    assert torch.equal(
        inverse_frequencies(Rope(100.0), 6) / torch.tensor([1.0, 2.0, 8.0]), inverse_frequencies(rope, 6)
    )


def test_rotation_turns_pairs() -> None:
    """Feature i and feature i + half turn as a point in the plane, by position times frequency."""
    frequencies = torch.tensor([1.0, 0.25])
    position = torch.tensor([0, 3, 200_000], dtype=torch.int32)
    x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    turn = torch.polar(torch.ones(3, 2).double(), (position[:, None] * frequencies).double())
    turned = torch.complex(x[..., :2], x[..., 2:]) * turn[:, None]
    expected = torch.cat((turned.real, turned.imag), -1)
    found = torch.empty_like(x)
    assert found is Rotation(frequencies, 1.0, position, torch.float64)(x, found)
    torch.testing.assert_close(expected, found, rtol=0, atol=1e-5)


def test_attention_factor_scales() -> None:
    """Yarn's factor on cosine and sine scales what was turned."""
    frequencies, position = torch.tensor([1.0, 0.5]), torch.arange(4)
    x = torch.randn(4, 1, 4, generator=torch.Generator().manual_seed(2))
    plain, one_and_a_half = (
        Rotation(frequencies, factor, position, torch.float32)(x, torch.empty_like(x))
        for factor in (1.0, 1.5)
    )
    torch.testing.assert_close(plain * 1.5, one_and_a_half)
