"""With a step in flight the engine gives the same tokens, and grants nothing that the step may touch."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from tracert_analysis.load import open_dump

from tests.engine.conftest import greedy, run
from tests.some import a_few
from tracert.engine.step import Engine
from tracert.messages.messages import Tokens
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

SCHEDULES = ["eager", "fifo", "random:1", "random:2", "random:3"]


def _prompt(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=length)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_batch_gives_each_its_plain_tokens(make_engine, plain, schedule):
    """Seven requests in four rows: tokens are fed on the device, rows change tenants behind a step."""
    engine = make_engine(schedule=schedule, overlap=True, poison_rows=True)
    prompts = {f"r{index}": _prompt(5 + 11 * index, seed=index) for index in range(7)}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 9))
    answers, last = run(engine)
    assert {name: plain(prompt, 9) for name, prompt in prompts.items()} == answers
    assert {"length"} == {told.finish_reason for told in last.values()}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_preemption_with_a_step_in_flight_loses_no_token(make_engine, plain, schedule):
    """The victim's token is on its way when its pages go; it is computed again with it."""
    engine = make_engine(kv_pages=9, prefix_cache="none", overlap=True, schedule=schedule)
    prompts = {name: _prompt(40, seed=index) for index, name in enumerate("ab")}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 40))
    answers, _ = run(engine)
    assert engine.scheduler.preemptions > 0
    assert {name: plain(prompt, 40) for name, prompt in prompts.items()} == answers


def test_a_step_is_launched_before_the_one_before_is_learnt(make_engine):
    """The first call tells nothing; from then on each call tells the token of the step before."""
    engine = make_engine(overlap=True, schedule="fifo")
    engine.add(greedy("a", _prompt(20), 4))
    told = [len(engine.step()) for _ in range(5)]
    assert told == [0, 1, 1, 1, 1]
    assert not engine.busy


def test_an_end_that_only_the_token_tells_throws_one_step_away(make_engine, plain, monkeypatch):
    """The end-of-sequence token is learnt when the next step is launched: nobody hears of what that draws."""
    expected = plain(_prompt(20), 12)
    stop = expected[5]
    engine = make_engine(overlap=True, schedule="fifo", prefix_cache="none")
    monkeypatch.setattr(engine.model, "config", replace(engine.model.config, eos_ids=(stop,)))
    engine.add(greedy("heeds", _prompt(20), 12, ignore_eos=False))
    answers, last = [], None
    while last is None or last.finish_reason is None:
        for last in engine.step():
            assert isinstance(last, Tokens)
            answers += last.tokens
    assert expected[: expected.index(stop) + 1] == answers
    assert engine.busy, "a step is still in flight"
    # Its pages are nobody's, and not to be granted before that step has passed.
    assert engine.pool.counts().retired == 2
    assert engine.step() == []
    assert not engine.busy
    engine.pool.reclaim(engine.device.query)
    assert engine.stats().free_pages == 63


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_abort_behind_a_step_waits_for_it_before_its_pages_are_granted(make_engine, plain, schedule):
    """The pool is full of an aborted request that is still being computed when the next one comes."""
    engine = make_engine(kv_pages=6, overlap=True, prefix_cache="none", schedule=schedule)
    for turn in range(4):
        engine.add(greedy(f"gone{turn}", _prompt(70, seed=turn), 9))
        engine.step()
        engine.abort(f"gone{turn}")
    engine.add(greedy("next", _prompt(50, seed=9), 8))
    answers, _ = run(engine)
    assert {"next": plain(_prompt(50, seed=9), 8)} == answers


def _live(engine: Engine, seed: int) -> None:
    """Requests share fronts, end early, are aborted and preempted."""
    draw = random.Random(seed)
    fronts = [draw.choices(range(256), k=40) for _ in range(3)]
    public_ids: list[str] = []
    for step in range(100):
        if draw.random() < 0.3:
            public_ids.append(f"r{step}")
            prompt = draw.choice(fronts)[: draw.randint(10, 40)] + draw.choices(
                range(256), k=draw.randint(1, 30)
            )
            engine.add(greedy(public_ids[-1], prompt, draw.randint(1, 30), ignore_eos=False))
        if public_ids and draw.random() < 0.1:
            engine.abort(draw.choice(public_ids))
        engine.step()
        engine.check()


@pytest.mark.parametrize("seed", a_few(2, range(4)))
@pytest.mark.parametrize("kind", ["hash", "radix"])
def test_its_history_breaks_no_rule(make_engine, tmp_path: Path, seed: int, kind: str):
    """Through ring, dump and reader: every access, publish and re-use is ordered, in any schedule."""
    ring = Ring.create(tmp_path / "a.ring", Geometry(slots=2**16, pages=20, rows=3, row_width=16))
    engine = make_engine(
        RingRecorder(ring),
        schedule=f"random:{seed}",
        overlap=True,
        kv_pages=20,
        max_model_len=256,
        max_num_seqs=3,
        poison_rows=seed % 2 == 0,
        prefix_cache=kind,
    )
    ring.describe({"config": {"page_size": 16, "kv_pages": 20}})
    for stream in engine.device.streams():
        ring.name_stream(stream.id, stream.name, blocking=stream.blocking)
    _live(engine, seed)
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    ring.close()
    connection = open_dump(str(tmp_path / "dump.jsonl")).connection
    assert [] == connection.execute("SELECT code, seq, sentence FROM finding").fetchall()
    assert (0,) < connection.execute("SELECT count(*) FROM event WHERE kind = 'retire'").fetchall()[0]
