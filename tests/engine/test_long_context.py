"""A turn of seed 2's shape: 114,281 tokens kept, not a multiple of the page, 531 new ones, and a side lane.

Attention over so many keys is what a CPU is slow at, and what the engine is not about: positions of the
kept front attend to nothing, those behind it to all before them. That is a model, too, and the plain engine
has the same, so that answers can be compared.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from tracert_analysis.load import open_dump
from tracert_kernels.dispatch import for_device

from tests.engine.conftest import greedy
from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.step import Engine
from tracert.messages.messages import Failed
from tracert.models.config import TINY_RANDOM
from tracert.models.decoder import Decoder
from tracert.models.weights import assemble
from tracert.models.weights_random import RandomReader
from tracert.record.dump import write_dump
from tracert.record.layout import CURSOR, Geometry
from tracert.record.recorder import NullRecorder, Recorder
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

KEPT, PROMPT, PAGE, COUNT = 114_281, 114_812, 64, 6
CHUNK = KEPT // 13
"""Of prefill: a chunk ends where the kept front does, whoever computes it."""
PAGES = 2200
TOKENS = [(7919 * at + at // 13) % 256 for at in range(PROMPT)]
SIDE = [5, 4, 3, 2, 1]
CONFIG: dict[str, Any] = {
    "kv_pages": PAGES,
    "page_size": PAGE,
    "max_model_len": 262_144,
    "max_num_seqs": 2,
    "max_num_batched_tokens": 2 * CHUNK,
    "max_prefill_tokens": CHUNK,
}


class LateAttention:
    """The kernels of the CPU; queries of a forward that ends in the kept front get zeros."""

    def __getattr__(self, name: str) -> Any:
        return getattr(for_device("cpu"), name)

    def paged_attention(
        self, out: torch.Tensor, query: torch.Tensor, cache: torch.Tensor, *rest: Any, **options: Any
    ) -> None:
        context = rest[3]
        if int(context.max()) <= KEPT:
            out.zero_()
        else:
            for_device("cpu").paged_attention(out, query, cache, *rest, **options)


class Run(NamedTuple):
    """Of the second turn: the answer, tokens spared, steps, events and slots of the ring."""

    answer: list[int]
    cached: int
    steps: int
    events: int
    slots: int


def _engine(recorder: Recorder, schedule: str = "eager", **config: Any) -> Engine:
    shape = replace(TINY_RANDOM, layers=1)
    weights = assemble(shape, RandomReader(), torch.float32, torch.device("cpu"))
    model = Decoder(shape, weights, LateAttention())
    device = SimDevice(recorder, schedule=schedule)
    return Engine(recorder, EngineConfig(**{**CONFIG, **config}), device, model, for_device("cpu"), "tiny")


def _answer(engine: Engine, name: str, tokens: list[int], count: int) -> tuple[list[int], int, int]:
    """The answer, the tokens spared, and the steps it took."""
    engine.add(greedy(name, tokens, count))
    answer, cached, steps = [], 0, 0
    while name in engine._requests:
        steps += 1
        for told in engine.step():
            assert not isinstance(told, Failed)
            if told.id == name:
                answer += told.tokens
                cached = told.cached_tokens
    return answer, cached, steps


def _second_turn(ring: Ring, **config: Any) -> Run:
    recorder = RingRecorder(ring)
    engine = _engine(recorder, **config)
    ring.describe({"config": {"page_size": PAGE, "kv_pages": PAGES}})
    for stream in engine.device.streams():
        ring.name_stream(stream.id, stream.name, blocking=stream.blocking)
    _answer(engine, "first", TOKENS[:KEPT], 1)
    engine.add(greedy("side", SIDE, 200))
    engine.step()
    events, slots = recorder.events, ring.counters[CURSOR]
    answer, cached, steps = _answer(engine, "second", TOKENS, COUNT)
    engine.check()
    return Run(answer, cached, steps, recorder.events - events, ring.counters[CURSOR] - slots)


@pytest.fixture(scope="module")
def expected() -> list[int]:
    """What the engine answers that keeps nothing, alone."""
    answer, cached, _ = _answer(_engine(NullRecorder(), prefix_cache="none"), "alone", TOKENS, COUNT)
    assert 0 == cached
    return answer


@pytest.mark.parametrize(
    "config",
    [
        {"prefix_cache": "radix"},
        {"prefix_cache": "hash", "retain": 1, "overlap": True, "schedule": "random:1"},
    ],
    ids=["copied tail", "retained turn"],
)
def test_a_long_turn_computes_only_what_is_new(tmp_path: Path, expected: list[int], config: Any) -> None:
    """All kept tokens are spared, the tail's 41 as well, without a record a page, and no rule is broken."""
    geometry = Geometry(slots=2**16, pages=PAGES, page_size=PAGE, rows=2, row_width=PAGES)
    ring = Ring.create(tmp_path / "a.ring", geometry)
    run = _second_turn(ring, **config)
    assert (expected, KEPT) == (run.answer, run.cached)
    assert KEPT % PAGE == 41
    # 1,795 pages: found, held, mapped, published and let go, all of them in one record each time.
    assert run.events < 40 * run.steps
    assert run.slots < 4000
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    found = open_dump(str(tmp_path / "dump.jsonl"), macros=False).connection.execute(
        "SELECT code, sentence FROM finding"
    )
    assert [] == found.fetchall()
    ring.close()
