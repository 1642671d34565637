"""What `--record` costs on SmolLM2: recorder CPU time a step, and tokens a second with and without.

The calls that an engine makes to its recorder are kept and played back to a ring alone: their CPU time
over the CPU time of the steps is the cost. Tokens a second are compared in interleaved pairs, because
the machine drifts by more than what is measured.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.bench.serving import open_engine, prompts, submit
from tracert.engine.step import Engine
from tracert.models.decoder import Decoder
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.layout import Geometry
from tracert.record.recorder import NullRecorder
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

LANES = (1, 8)
PROMPT, STEPS, PAIRS, PLAYS = 128, 24, 16, 40


class Listener:
    """A recorder that keeps what it is told."""

    enabled = True
    events = lost = 0

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., int]:
        def keep(*args: Any, **kwargs: Any) -> int:
            self.calls.append((name, args, kwargs))
            return 0

        return keep


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return percentages."""
    model = load_model(resolve("smollm2"), "bf16")
    figures = {f"{lanes} lanes": _measure(model, lanes) for lanes in LANES}
    table = Table("what `--record` costs, SmolLM2 bf16", *figures)
    for name in next(iter(figures.values())):
        table.add_row(name, *(str(figure[name]) for figure in figures.values()))
    console.print(table)
    return figures


def _measure(model: Decoder, lanes: int) -> dict[str, Any]:
    listener = Listener()
    engine = open_engine(listener, model)
    submit(engine, prompts(lanes, PROMPT, seed=0), 2 * STEPS)
    engine.step()
    listener.calls.clear()
    step_ns = _steps(engine, time.process_time_ns) / STEPS
    calls = [(name, args, kwargs) for name, args, kwargs in listener.calls]
    with tempfile.TemporaryDirectory() as folder:
        ring = _ring(Path(folder) / "play.ring")
        record_ns = _play(RingRecorder(ring), calls) / STEPS
        ring.close()
        low, mean, high = _pairs(model, lanes, Path(folder))
    return {
        "events a step": round(len(calls) / STEPS, 1),
        "recorder CPU a step, us": round(record_ns / 1e3, 1),
        "step CPU, ms": round(step_ns / 1e6, 1),
        "recorder / step, %": round(100 * record_ns / step_ns, 3),
        "tokens/s lost, %: 95 % interval": f"{low:+.2f} .. {high:+.2f}",
        "tokens/s lost, %: mean of pairs": round(mean, 2),
    }


def _ring(path: Path) -> Ring:
    return Ring.create(path, Geometry(slots=2**20, pages=1024, rows=16, row_width=512))


def _steps(engine: Engine, clock: Callable[[], int]) -> int:
    start = clock()
    for _ in range(STEPS):
        engine.step()
    return clock() - start


def _play(recorder: RingRecorder, calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> float:
    """Thread CPU time of the calls, the median of many plays; looking the methods up is left out."""
    bound = [(getattr(recorder, name), args, kwargs) for name, args, kwargs in calls]
    costs = []
    for _ in range(PLAYS):
        start = time.thread_time_ns()
        for method, args, kwargs in bound:
            method(*args, **kwargs)
        costs.append(time.thread_time_ns() - start)
    return statistics.median(costs)


def _pairs(model: Decoder, lanes: int, folder: Path) -> tuple[float, float, float]:
    """Percent of tokens a second that recording takes: a 95 % interval around the mean over pairs."""
    ring = _ring(folder / "pairs.ring")
    on, off = open_engine(RingRecorder(ring), model), open_engine(NullRecorder(), model)
    losses = []
    for pair in range(PAIRS + 1):
        times = {}
        # The order alternates, so that a drift within a pair cancels over pairs.
        for engine in (on, off) if pair % 2 else (off, on):
            submit(engine, prompts(lanes, PROMPT, seed=pair), STEPS + 1)
            engine.step()
            times[engine] = _steps(engine, time.perf_counter_ns)
            assert not engine.busy
        if pair:
            losses.append(100 * (1 - times[off] / times[on]))
    ring.close()
    mean = statistics.mean(losses)
    half = 2.13 * statistics.stdev(losses) / len(losses) ** 0.5  # Student's t, 15 degrees of freedom
    return mean - half, mean, mean + half
