"""Speed of the engine on SmolLM2 in bf16, beside transformers' `generate` in the same run.

Same prompts, greedy, end of sequence ignored; rounds of the two alternate, because the machine drifts.
"""

import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from tracert_kernels.dispatch import for_device

from tests.models.reference import reference_smollm2
from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.step import Engine
from tracert.messages.messages import Generate, Sampling
from tracert.models.decoder import Decoder
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.recorder import NullRecorder, Recorder

ROUNDS = 3
WORKLOADS = {"1 x (128 in, 128 out)": (1, 128, 128), "8 x (512 in, 64 out)": (8, 512, 64)}


def open_engine(recorder: Recorder, model: Decoder, **config: Any) -> Engine:
    """An engine as `tracert serve` assembles it by default, prefix cache off so that rounds are equal."""
    settings = {"kv_pages": 1024, "prefix_cache": "none", **config}
    device = SimDevice(recorder)
    return Engine(recorder, EngineConfig(**settings), device, model, for_device("cpu"), "smollm2")


def prompts(count: int, length: int, seed: int) -> list[list[int]]:
    """Random token ids, none of them special."""
    draw = random.Random(seed)
    return [draw.choices(range(1000, 40_000), k=length) for _ in range(count)]


def submit(engine: Engine, tokens: Sequence[Sequence[int]], answer: int) -> None:
    """Queue greedy requests."""
    sampling = Sampling(max_tokens=answer, temperature=0.0, ignore_eos=True)
    for index, prompt in enumerate(tokens):
        engine.add(Generate(id=str(index), tokens=list(prompt), sampling=sampling))


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return output tokens a second and the ratio of the medians."""
    model = load_model(resolve("smollm2"), "bf16")
    engine = open_engine(NullRecorder(), model)
    rival = _transformers()
    figures: dict[str, Any] = {}
    for name, (count, length, answer) in WORKLOADS.items():
        speeds: dict[str, list[float]] = {"tracert": [], "transformers generate": []}
        for seed in range(ROUNDS + 1):
            batch = prompts(count, length, seed)
            ours = _timed(_serve, engine, batch, answer)
            theirs = _timed(rival, batch, answer)
            if seed:  # the first round warms up
                speeds["tracert"].append(count * answer / ours)
                speeds["transformers generate"].append(count * answer / theirs)
        figures[name] = {who: round(statistics.median(values), 1) for who, values in speeds.items()}
        figures[name]["ratio"] = round(figures[name]["tracert"] / figures[name]["transformers generate"], 2)
    table = Table("output tokens a second", *WORKLOADS, title="SmolLM2-135M, bf16, median of rounds")
    for who in ("tracert", "transformers generate", "ratio"):
        table.add_row(who, *(str(figures[name][who]) for name in WORKLOADS))
    console.print(table)
    return figures


def _serve(engine: Engine, batch: Sequence[Sequence[int]], answer: int) -> None:
    submit(engine, batch, answer)
    while engine.busy:
        engine.step()


def _timed(work: Callable[..., None], *args: Any) -> float:
    start = time.perf_counter()
    work(*args)
    return time.perf_counter() - start


def _transformers() -> Callable[[Sequence[Sequence[int]], int], None]:
    """transformers' own model with the same weights, in bf16."""
    model = reference_smollm2(resolve("smollm2")).to(torch.bfloat16)

    def generate(batch: Sequence[Sequence[int]], answer: int) -> None:
        tokens = torch.tensor(batch)
        with torch.inference_mode():
            model.generate(
                tokens,
                attention_mask=torch.ones_like(tokens),
                max_new_tokens=answer,
                min_new_tokens=answer,
                do_sample=False,
            )

    return generate
