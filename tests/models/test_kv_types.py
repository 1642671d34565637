import math

import pytest
from tracert_kernels.kv_names import KvType

from tests.models.perplexity import TEXT, divergence, logits_over_pages, perplexity
from tests.some import a_few
from tracert.models.fetch import ModelSource
from tracert.models.load import load_model, load_tokenizer

# The most that the perplexity may change, as a part of it, and the nats a token: some three times what was
# measured.
BOUNDS: dict[KvType, tuple[float, float]] = {
    "fp16": (1e-4, 2e-6),
    "bf16": (2e-3, 1e-4),
    "int8": (5e-3, 2e-3),
    "fp8": (1.5e-2, 2e-2),
}


@pytest.mark.weights
@pytest.mark.parametrize("count", a_few(1, [96, 600]))
def test_how_much_a_type_costs_smollm2(smollm2: ModelSource, count: int) -> None:
    """The narrower the numbers, the further the distributions; int8 with its scales is better than fp8."""
    decoder = load_model(smollm2, "fp32")
    tokens = load_tokenizer(smollm2).encode(TEXT)
    assert 600 <= len(tokens) <= 800
    tokens = tokens[:count]
    exact = logits_over_pages(decoder, tokens, "fp32")
    reference = perplexity(exact, tokens)
    assert 20 < reference < 50
    divergences: dict[KvType, float] = {}
    for kv_type, (change, nats) in BOUNDS.items():
        logits = logits_over_pages(decoder, tokens, kv_type)
        divergences[kv_type] = divergence(exact, logits)
        # The mean over fewer tokens scatters more.
        assert abs(perplexity(logits, tokens) / reference - 1) < change * math.sqrt(600 / count), kv_type
        assert divergences[kv_type] < nats, kv_type
    assert ["fp16", "bf16", "int8", "fp8"] == sorted(divergences, key=divergences.__getitem__)
