"""What each type of KV pages costs SmolLM2 in accuracy, and saves in memory: the README's table."""

from typing import Any

from rich.console import Console
from rich.table import Table
from tracert_kernels.kv_types import KV_TYPES

from tests.models.perplexity import TEXT, divergence, logits_over_pages, perplexity
from tracert.engine.step import kv_layout
from tracert.models.fetch import resolve
from tracert.models.load import load_model, load_tokenizer


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return figures by type; weights and arithmetic are fp32 throughout."""
    source = resolve("smollm2")
    decoder, tokens = load_model(source, "fp32"), load_tokenizer(source).encode(TEXT)
    exact = logits_over_pages(decoder, tokens, "fp32")
    figures: dict[str, dict[str, Any]] = {}
    for kv_type in KV_TYPES:
        logits = logits_over_pages(decoder, tokens, kv_type)
        layout = kv_layout(decoder, 16, 2, kv_type)
        figures[kv_type] = {
            "bytes a token": layout.page_bytes // layout.page_size,
            "perplexity": round(perplexity(logits, tokens), 3),
            "change, %": round(100 * (perplexity(logits, tokens) / perplexity(exact, tokens) - 1), 3),
            "from fp32's distribution, nats a token": f"{divergence(exact, logits):.1e}",
        }
    table = Table(f"KV pages ({len(tokens)} tokens)", *figures["fp32"])
    for name, figure in figures.items():
        table.add_row(name, *(str(number) for number in figure.values()))
    console.print(table)
    return figures
