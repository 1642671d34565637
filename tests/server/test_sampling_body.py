"""How many tokens a request may have: what it asks for, what is left, and whose limit it is."""

import pytest

from tracert.server.errors import ApiError
from tracert.server.sampling_body import fit
from tracert.server.service import Context


def test_what_fits_is_given() -> None:
    """What was asked for; else the default, as far as there is room."""
    context = Context(100, 100)
    assert [70, 16, 30] == [
        fit(30, 70, context, 16, "p"),
        fit(30, None, context, 16, "p"),
        fit(70, None, context, 99, "p"),
    ]


@pytest.mark.parametrize(("tokens", "asked"), [(100, None), (90, 11)])
def test_the_pool_s_limit_is_not_called_the_model_s(tokens: int, asked: int | None) -> None:
    """An operator can give the pool more pages; the model's context is what it is."""
    with pytest.raises(ApiError) as pool:
        fit(tokens, asked, Context(100, 8192), 16, "prompt")
    with pytest.raises(ApiError) as model:
        fit(tokens, asked, Context(100, 100), 16, "prompt")
    assert (
        "the 100 tokens that all KV pages of this server hold (the model's context is 8192"
        in pool.value.message
    )
    assert "--kv-pages" in pool.value.message
    assert "this model's context of 100 tokens" in model.value.message
    assert "context_length_exceeded" == model.value.code
