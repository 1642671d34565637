"""Requests, turns, aborts and pressure over all combinations of features, in random schedules.

Every answer is the plain engine's; pages, rows and stores agree after every step; the history that was
written folds to the state, and breaks no rule.
"""

import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tracert_analysis.load import open_dump
from tracert_kernels.dispatch import for_device

from tests.engine.conftest import greedy
from tests.engine.features import combinations, schedules
from tests.engine.test_history_folds import assert_folds
from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.step import Engine
from tracert.messages.messages import Failed
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.recorder import NullRecorder, Recorder
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

PAGES, ROWS, CONTEXT = 18, 3, 160
MODEL = load_model(resolve("tiny-random"), torch.float32, "cpu")


def _engine(recorder: Recorder, schedule: str, features: dict[str, Any]) -> Engine:
    device = SimDevice(recorder, schedule=schedule)
    config = EngineConfig(kv_pages=PAGES, max_model_len=CONTEXT, max_num_seqs=ROWS, **features)
    return Engine(recorder, config, device, MODEL, for_device("cpu"), "tiny-random")


class EngineMachine(RuleBasedStateMachine):
    """One engine with some features on, and a plain one that answers each request alone."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, tuple[list[int], int]] = {}
        self.answers: dict[str, list[int]] = {}
        self.ended: set[str] = set()
        self.aborted: set[str] = set()

    @initialize(features=combinations, schedule=schedules)
    def start(self, features: dict[str, Any], schedule: str) -> None:
        """An engine that records, with a pool too small for three long requests."""
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "a.ring"
        geometry = Geometry(slots=2**16, pages=PAGES, rows=ROWS, row_width=CONTEXT // 16)
        self.ring = Ring.create(path, geometry)
        self.engine = _engine(RingRecorder(self.ring), schedule, features)
        self.ring.describe({"config": {"page_size": 16, "kv_pages": PAGES}})
        for stream in self.engine.device.streams():
            self.ring.name_stream(stream.id, stream.name, blocking=stream.blocking)

    @rule(
        front=st.integers(0, 2), length=st.integers(1, 60), tail=st.integers(0, 255), count=st.integers(1, 24)
    )
    def ask(self, front: int, length: int, tail: int, count: int) -> None:
        """A request that begins as others do, and ends in a token of its own."""
        tokens = [(7 * front + 3 * at) % 256 for at in range(length)]
        self._add([*tokens, tail], count)

    @rule(pick=st.integers(0, 1000), more=st.integers(1, 20), count=st.integers(1, 16))
    def go_on(self, pick: int, more: int, count: int) -> None:
        """The next turn of a conversation that has been answered, or the same prompt again."""
        if not self.ended:
            return
        name = sorted(self.ended)[pick % len(self.ended)]
        tokens = [*self.asked[name][0], *self.answers[name]]
        if pick % 3 == 0:
            self._add(self.asked[name][0], count)
        elif len(tokens) + more + count < CONTEXT:
            self._add([*tokens, *range(more)], count)

    @rule(pick=st.integers(0, 1000))
    def abort(self, pick: int) -> None:
        """A client goes away, whatever its request is doing."""
        names = sorted(self.asked.keys() - self.ended - self.aborted)
        if names:
            name = names[pick % len(names)]
            self.engine.abort(name)
            self.aborted.add(name)

    @rule(count=st.integers(1, 12))
    def step(self, count: int) -> None:
        """Some steps."""
        for _ in range(count):
            self._step()

    @invariant()
    def nothing_contradicts_itself(self) -> None:
        """Pool, rows and stores agree, and no page is lost."""
        if hasattr(self, "engine"):
            self.engine.check()

    def teardown(self) -> None:
        """Everything comes to rest; then answers, history and rules."""
        if not hasattr(self, "engine"):
            return
        try:
            for _ in range(2000):
                if not self.engine.busy:
                    break
                self._step()
            assert not self.engine.busy, "the engine did not come to rest"
            assert self.asked.keys() == self.ended | self.aborted
            for name in sorted(self.ended):
                assert self._plainly(*self.asked[name]) == self.answers[name], name
            dump = Path(self.folder.name) / "dump.jsonl"
            write_dump(self.ring.path, dump, reason="request")
            assert_folds(dump, self.engine)
            findings = open_dump(str(dump), macros=False).connection.execute(
                "SELECT code, sentence FROM finding"
            )
            assert [] == findings.fetchall()
        finally:
            self.ring.close()
            self.folder.cleanup()

    def _add(self, tokens: list[int], count: int) -> None:
        name = f"r{len(self.asked)}"
        self.asked[name] = tokens, count
        self.answers[name] = []
        assert self.engine.add(greedy(name, tokens, count)) is None

    def _step(self) -> None:
        for told in self.engine.step():
            assert not isinstance(told, Failed)
            self.answers[told.id] += told.tokens
            if told.finish_reason is not None:
                self.ended.add(told.id)

    def _plainly(self, tokens: list[int], count: int) -> list[int]:
        plain = _engine(NullRecorder(), "eager", {"prefix_cache": "none"})
        plain.add(greedy("alone", tokens, count))
        answer: list[int] = []
        while plain.busy:
            for told in plain.step():
                assert not isinstance(told, Failed)
                answer += told.tokens
        return answer


_SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


class TestQuickly(EngineMachine.TestCase):
    """A few histories, in the fast suite."""

    settings = settings(max_examples=8, stateful_step_count=25, **_SETTINGS)


@pytest.mark.slow
@pytest.mark.timeout(1800)
class TestThoroughly(EngineMachine.TestCase):
    """Many more."""

    settings = settings(max_examples=200, stateful_step_count=40, **_SETTINGS)
