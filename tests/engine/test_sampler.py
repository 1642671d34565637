"""Tokens are drawn as asked, from finite distributions only."""

from collections import Counter

import pytest
import torch

from tracert.engine.sampler import TOP_LOGPROBS_MAX, Draw, sample

LOGITS = torch.tensor([0.0, 2.0, 1.0, -1.0, 0.5])


def _sample(logits: torch.Tensor, *draws: Draw) -> tuple[list[int], list[bool]]:
    count = len(draws)
    token = torch.zeros(count, dtype=torch.int64)
    finite = torch.zeros(count, dtype=torch.bool)
    top = torch.zeros(count, TOP_LOGPROBS_MAX)
    sample(logits, draws, token, finite, torch.zeros(count), top.long(), top)
    return token.tolist(), finite.tolist()


def _draw(position: int = 0, **given) -> Draw:
    settings = {
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "seed": 3,
        "position": position,
        "logprobs": False,
    }
    return Draw(**{**settings, **given})


def test_temperature_zero_is_greedy():
    """The most likely token, whatever the seed."""
    assert [1] == _sample(LOGITS[None], _draw(temperature=0.0))[0]


def test_frequencies_follow_the_distribution():
    """Over many positions the draws are distributed as softmax(logits / temperature)."""
    draws = 20_000
    rows = LOGITS.expand(draws, -1)
    tokens, _ = _sample(rows, *(_draw(position, temperature=0.7) for position in range(draws)))
    expected = (LOGITS / 0.7).softmax(0)
    for token, count in Counter(tokens).items():
        assert float(expected[token]) == pytest.approx(count / draws, abs=0.015)


@pytest.mark.parametrize(
    ("given", "kept"), [({"top_k": 2}, {1, 2}), ({"top_p": 0.5}, {1}), ({"top_p": 0.8}, {1, 2, 4})]
)
def test_top_k_and_top_p_cut_the_tail(given, kept):
    """All kept tokens turn up, and no other; top-p keeps the token that reaches p."""
    rows = LOGITS.expand(2_000, -1)
    tokens, _ = _sample(rows, *(_draw(position, **given) for position in range(2_000)))
    assert kept == set(tokens)


@pytest.mark.parametrize("given", [{"temperature": 1e-40}, {"temperature": 1e-320}, {"top_p": 1e-50}])
def test_the_least_values_draw_the_most_likely_token(given):
    """Values so small that float32 has no number for what they lead to: nothing else is left to draw."""
    tokens, _ = _sample(LOGITS.expand(100, -1), *(_draw(position, **given) for position in range(100)))
    assert {1} == set(tokens)


def test_a_distribution_that_is_none_is_noticed():
    """One NaN or infinity among the logits of a row, and only that row is marked."""
    rows = torch.stack([LOGITS, LOGITS, LOGITS])
    rows[1, 3] = torch.nan
    rows[2, 0] = torch.inf
    assert [True, False, False] == _sample(rows, _draw(), _draw(), _draw())[1]
