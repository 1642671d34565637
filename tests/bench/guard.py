"""What `--guard` costs on SmolLM2: CPU time of the same prefills and decode steps with and without it.

Rounds of the two alternate, and the ratio is of the least times: what else runs on the machine only adds.
"""

import time
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench.serving import open_engine, prompts, submit
from tracert.engine.step import Engine
from tracert.models.decoder import Decoder
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.recorder import NullRecorder

LANES = (1, 8)
PROMPT, STEPS, ROUNDS = 256, 12, 5


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return milliseconds and ratios."""
    model = load_model(resolve("smollm2"), "bf16")
    figures = {f"{lanes} lanes": _measure(model, lanes) for lanes in LANES}
    table = Table("what `--guard` costs, SmolLM2 bf16", *figures)
    for name in next(iter(figures.values())):
        table.add_row(name, *(str(figure[name]) for figure in figures.values()))
    console.print(table)
    return figures


def _measure(model: Decoder, lanes: int) -> dict[str, float]:
    engines = {guard: open_engine(NullRecorder(), model, guard=guard) for guard in (False, True)}
    least: dict[tuple[str, bool], float] = {}
    for number in range(ROUNDS + 1):
        for guard in (False, True) if number % 2 else (True, False):
            for what, milliseconds in _round(engines[guard], lanes, number).items():
                if number:  # the first round warms up
                    least[what, guard] = min(milliseconds, least.get((what, guard), milliseconds))
    figures: dict[str, float] = {}
    for what in ("prefill", "decode step"):
        for guard in (False, True):
            figures[f"{what}{', guarded' if guard else ''}, ms"] = round(least[what, guard], 2)
        figures[f"{what}, ratio"] = round(least[what, True] / least[what, False], 3)
    return figures


def _round(engine: Engine, lanes: int, seed: int) -> dict[str, float]:
    """CPU milliseconds of one prefill of all lanes, and of one of the decode steps behind it."""
    submit(engine, prompts(lanes, PROMPT, seed), STEPS + 1)
    start = time.process_time()
    engine.step()
    middle = time.process_time()
    for _ in range(STEPS):
        engine.step()
    end = time.process_time()
    assert not engine.busy
    return {"prefill": 1e3 * (middle - start), "decode step": 1e3 * (end - middle) / STEPS}
