"""The workspace as an engine uses it: scratch is views of it, planned before the launch, refused in time."""

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_kernels.dispatch import for_device
from tracert_kernels.scratch import Scratch

from tests.engine.conftest import greedy, run
from tracert.device.device import DeviceError, Kernel, Launch, Memory, Stream
from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.preflight import fitting
from tracert.engine.runner import largest_step
from tracert.engine.sampler import Draw, sample_room
from tracert.engine.step import Engine
from tracert.messages.messages import Failed
from tracert.record.access import Access, Compute
from tracert.record.recorder import NullRecorder

PROMPTS = {f"r{seed}": random.Random(seed).choices(range(256), k=21 + 17 * seed) for seed in range(4)}


def poison(*pieces: torch.Tensor) -> None:
    """Every number becomes NaN, every index one that is out of range."""
    for piece in pieces:
        piece.fill_(0xFF)


class PoisoningDevice(SimDevice):
    """Poisons what is free of the workspace, in the stream's order, before each launch that has a room."""

    engine: Engine
    poisoned = 0

    def launch(self, stream: Stream, kernel: Kernel, *args: Any, access: Access) -> Launch:
        """As a simulated device; the room that the launch has taken is not free."""
        if isinstance(access, Compute) and kernel.__name__ in ("forward", "sample"):
            workspace = self.engine.workspace
            pieces = [piece(workspace, start, end) for start, end in workspace._gaps()]
            self.poisoned += len(pieces)
            super().launch(stream, poison, *pieces, access=Compute("poison", 0))
        return super().launch(stream, kernel, *args, access=access)


def piece(workspace: Any, start: int, end: int) -> Memory:
    """Bytes of the workspace."""
    memory: Memory = workspace._memory.view(torch.uint8, (end - start,), start)
    return memory


@pytest.fixture
def poisoned(model) -> Callable[..., Engine]:
    """An engine on a poisoning device."""

    def make(schedule: str, **config: Any) -> Engine:
        device = PoisoningDevice(NullRecorder(), schedule=schedule)
        settings = {"kv_pages": 64, "max_model_len": 256, "max_num_seqs": 3, **config}
        engine = Engine(
            NullRecorder(), EngineConfig(**settings), device, model, for_device("cpu"), "tiny-random"
        )
        device.engine = engine
        return engine

    return make


def views(monkeypatch: pytest.MonkeyPatch) -> list[torch.Tensor]:
    """Every tensor that is taken from some scratch from now on."""
    taken: list[torch.Tensor] = []
    take = Scratch.take

    def keep(self: Scratch, *args: Any) -> torch.Tensor:
        taken.append(take(self, *args))
        return taken[-1]

    monkeypatch.setattr(Scratch, "take", keep)
    return taken


def test_scratch_is_views_of_the_workspace(make_engine, monkeypatch):
    """Of forwards, of attention over one and over many sequences, and of drawings: nothing lies elsewhere."""
    engine = make_engine(max_num_batched_tokens=64, max_prefill_tokens=32)
    taken = views(monkeypatch)
    for number, (name, prompt) in enumerate(PROMPTS.items()):
        engine.add(
            greedy(name, prompt, 9, temperature=0.7 * (number % 2), top_p=0.8, logprobs=number % 2 or None)
        )
    run(engine)
    storage = engine.workspace._memory._tensor.untyped_storage()
    assert len(taken) > 200
    assert {storage.data_ptr()} == {view.untyped_storage().data_ptr() for view in taken}
    assert engine.workspace.live_bytes == 0
    assert 0 < engine.workspace.peak <= engine.workspace.capacity


def test_a_room_is_planned_for_what_is_taken_of_it(make_engine, monkeypatch):
    """Activations take their block to the byte; attention no more than was planned for any table."""
    engine = make_engine()
    rooms: list[tuple[Scratch, int]] = []
    begin = Scratch.__init__

    def keep(self: Scratch, room: torch.Tensor | None = None) -> None:
        begin(self, room)
        if room is not None:
            rooms.append((self, room.numel()))

    monkeypatch.setattr(Scratch, "__init__", keep)
    for name, prompt in PROMPTS.items():
        engine.add(greedy(name, prompt, 5))
    run(engine)
    used = [(max(frame.used for frame in scratch._frames.values()), planned) for scratch, planned in rooms]
    assert len(used) > 8
    activations, attention = used[::2], used[1::2]
    assert all(most == planned for most, planned in activations)
    assert all(0 < most <= planned for most, planned in attention)


@pytest.mark.parametrize(
    ("schedule", "overlap"), [*product(["eager", "fifo", "random:3", "random:4"], [False, True])]
)
def test_what_is_free_may_be_poisoned(poisoned, plain, schedule, overlap):
    """Between launches the free room means nothing: no token changes, drawn ones included."""
    engine = poisoned(schedule, overlap=overlap)
    for name, prompt in PROMPTS.items():
        engine.add(greedy(name, prompt, 7))
    answers, _ = run(engine)
    assert {name: plain(prompt, 7) for name, prompt in PROMPTS.items()} == answers
    assert engine.device.poisoned > 20


def test_what_is_live_may_not(make_engine, plain):
    """Poison in the room of a launch that runs reaches its answer: the room is really used."""
    engine = make_engine()
    attend = engine.model.kernels.paged_attention

    class Poisoning:
        def __getattr__(self, name: str) -> Any:
            return getattr(for_device("cpu"), name)

        def paged_attention(self, *args: Any, **more: Any) -> None:
            attend(*args, **more)
            room = engine.workspace.live()[0]
            room.memory._tensor[: room.nbytes // 8].fill_(0xFF)

    engine.model.kernels, kept = Poisoning(), engine.model.kernels
    try:
        engine.add(greedy("a", PROMPTS["r1"], 3))
        _, last = run(engine)
    finally:
        engine.model.kernels = kept
    assert isinstance(last["a"], Failed)
    assert last["a"].code == "invalid_distribution"


def room_for(engine: Engine, *queries: int) -> int:
    """What a first step of prompts of these lengths plans."""
    layout = engine.arena.layout
    return sum(engine.model.planned(queries, queries, layout.page_size, layout.dtype))


@pytest.mark.parametrize("overlap", [False, True])
def test_a_prompt_that_never_fits_is_refused_and_others_go_on(make_engine, plain, overlap):
    """One clear line and HTTP's 503; nothing is lost, the same engine answers the others and later ones."""
    size = room_for(make_engine(), 60)
    engine = make_engine(workspace=size, overlap=overlap)
    long = random.Random(9).choices(range(256), k=90)
    engine.add(greedy("before", PROMPTS["r0"], 6))
    engine.add(greedy("long", long, 6))
    engine.add(greedy("behind", PROMPTS["r1"], 6))
    answers, last = run(engine)
    assert {"before": plain(PROMPTS["r0"], 6), "behind": plain(PROMPTS["r1"], 6)} == answers
    refused = last["long"]
    assert isinstance(refused, Failed)
    assert (refused.status, refused.code) == (503, "workspace_exhausted")
    assert (
        f"needs {room_for(engine, 90)} bytes of workspace in one piece, and the largest room is"
        in refused.message
    )
    assert "--workspace" in refused.message
    engine.add(greedy("again", PROMPTS["r2"], 4))
    answers, _ = run(engine)
    assert {"again": plain(PROMPTS["r2"], 4)} == answers
    assert engine.workspace.live_bytes == 0


@pytest.mark.parametrize("overlap", [False, True])
def test_prompts_that_fit_only_one_by_one_wait_for_each_other(make_engine, plain, overlap):
    """With overlap the room of the step in flight is used again, in the order of the stream."""
    longest = max(map(len, PROMPTS.values()))
    engine = make_engine(workspace=room_for(make_engine(), longest), overlap=overlap)
    for name, prompt in PROMPTS.items():
        engine.add(greedy(name, prompt, 6))
    answers, _ = run(engine)
    assert {name: plain(prompt, 6) for name, prompt in PROMPTS.items()} == answers


def test_without_preflight_it_waits_on_the_device(make_engine):
    """The launch is enqueued and never gets its room: a generic code, the scheduler's sub-codes, drained."""
    engine = make_engine(workspace=room_for(make_engine(), 40), preflight=False)
    engine.add(greedy("short", PROMPTS["r0"], 2))
    run(engine)
    engine.add(greedy("long", PROMPTS["r3"], 2))
    with pytest.raises(DeviceError) as failure:
        run(engine)
    error = failure.value
    assert (error.code, error.name, error.message) == (507018, "AICPU_EXCEPTION", "aicpu exception")
    assert error.detail == {"orch_error_code": 2, "sched_error_code": 0, "runtime_status": -2}
    assert (error.stream, error.observed_at) == (engine.compute.id, "sync")
    assert engine.device.state == "drained"
    words = engine.device.progress()[engine.compute.id]
    assert words.finished + 1 == words.started < words.launched


def test_without_preflight_what_fits_runs(make_engine, plain):
    """Nothing else changes, with a step in flight or without."""
    for overlap in (False, True):
        engine = make_engine(workspace=room_for(make_engine(), *map(len, PROMPTS.values())), preflight=False,
                             overlap=overlap)  # fmt: skip
        for name, prompt in PROMPTS.items():
            engine.add(greedy(name, prompt, 6))
        answers, _ = run(engine)
        assert {name: plain(prompt, 6) for name, prompt in PROMPTS.items()} == answers


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_largest_step_is_the_largest(model, data):
    """No step that the configuration allows plans more: the default never refuses one."""
    config = EngineConfig(
        kv_pages=64,
        max_model_len=data.draw(st.integers(16, 400)),
        max_num_seqs=data.draw(st.integers(1, 6)),
        max_num_batched_tokens=data.draw(st.integers(8, 200)),
        max_prefill_tokens=data.draw(st.integers(1, 200)),
    )
    left, queries = config.max_num_batched_tokens, []
    while left and len(queries) < config.max_num_seqs and data.draw(st.booleans()):
        queries.append(data.draw(st.integers(1, min(left, config.max_prefill_tokens, config.context_limit))))
        left -= queries[-1]
    contexts = [data.draw(st.integers(count, config.context_limit)) for count in queries]
    planned = sum(model.planned(queries, contexts, config.page_size, model.dtype)) if queries else 0
    assert planned <= largest_step(model, config, model.dtype)
    every = Draw(0.5, data.draw(st.integers(0, 3)), data.draw(st.sampled_from([0.5, 1.0])), 1, 1, True)
    assert sample_room([every], model.config.vocab) <= largest_step(model, config, model.dtype)


def test_clearing_asks_once_when_all_fit():
    """The usual case costs one question; else each slice is asked for, alone and behind the others."""
    asked: list[list[int]] = []

    def refuses(slices: Any) -> Any:
        asked.append(list(slices))
        return "too large" if sum(slices) > 10 else None

    assert fitting([3, 4], refuses) == ([3, 4], [])  # type: ignore[list-item, arg-type]
    assert asked == [[3, 4]]
    found = fitting([6, 11, 5, 4], refuses)  # type: ignore[list-item, arg-type]
    assert found.slices == [6, 4]
    assert found.refused == [(11, "too large")]
