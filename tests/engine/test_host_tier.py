"""What the prefix cache evicts comes back from the host, and no token changes."""

import random

import pytest
from tracert_analysis.load import open_dump

from tests.engine.conftest import PAGE, greedy, run
from tests.engine.test_history_folds import assert_folds
from tests.some import a_few
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder


def _prompt(length: int, seed: int) -> list[int]:
    return random.Random(seed).choices(range(256), k=length)


@pytest.mark.parametrize("kind", ["hash", "radix"])
def test_an_evicted_prompt_is_spared(make_engine, plain, kind):
    """Asked again after others took all its pages, it counts as cached what the host has of it."""
    engine = make_engine(kv_pages=10, max_model_len=128, prefix_cache=kind, host_slots=40)
    prompts = [_prompt(6 * PAGE + 5, seed) for seed in range(4)]
    for turn in range(2):
        for index, prompt in enumerate(prompts):
            name = f"{turn}-{index}"
            engine.add(greedy(name, prompt, 4))
            answers, last = run(engine)
            assert plain(prompt, 4) == answers[name]
            assert (6 * PAGE if turn else 0) == last[name].cached_tokens
    stats = engine.stats()
    assert 40 == stats.free_host_slots + stats.used_host_slots
    assert 18 <= engine.host.stats.loaded


def test_without_the_tier_it_is_computed_again(make_engine):
    """The same prompts in the same pool: two pages are left of the first when it comes again, of six."""
    engine = make_engine(kv_pages=10, max_model_len=128)
    for seed in (0, 1, 0):
        engine.add(greedy("r", _prompt(6 * PAGE + 5, seed), 4))
        _, last = run(engine)
    assert 2 * PAGE == last["r"].cached_tokens
    assert (0, 0) == (engine.stats().free_host_slots, engine.stats().used_host_slots)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("seed", a_few(2, range(4)))
def test_under_pressure_answers_are_plain_and_histories_sound(make_engine, plain, tmp_path, seed, overlap):
    """Conversations in random schedules, with too few slots for what is evicted: nothing goes wrong."""
    pages = 16
    ring = Ring.create(tmp_path / "a.ring", Geometry(slots=2**16, pages=pages, rows=3, row_width=16))
    engine = make_engine(
        RingRecorder(ring),
        schedule=f"random:{seed}",
        kv_pages=pages,
        max_model_len=240,
        max_num_seqs=3,
        prefix_cache=("hash", "radix")[seed % 2],
        host_slots=9,
        overlap=overlap,
        stage_copies=seed > 1,
    )
    ring.describe({"config": {"page_size": PAGE, "kv_pages": pages}})
    for stream in engine.device.streams():
        ring.name_stream(stream.id, stream.name, blocking=stream.blocking)
    fronts = [_prompt(50, front) for front in range(3)]
    said: dict[str, list[int]] = {}
    draw = random.Random(seed)
    for turn in range(6):
        for lane in range(3):
            name = f"{turn}-{lane}"
            said[name] = [*draw.choice(fronts), *draw.choices(range(256), k=draw.randint(1, 60))]
            engine.add(greedy(name, said[name], 5))
        answers, _ = run(engine)
        assert {name: plain(said[name], 5) for name in answers} == answers
    assert engine.host.stats.loaded
    assert engine.host.stats.forgotten
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    assert_folds(tmp_path / "dump.jsonl", engine)
    found = open_dump(str(tmp_path / "dump.jsonl"), macros=False).connection.execute(
        "SELECT code, sentence FROM finding"
    )
    assert [] == found.fetchall()
    ring.close()


@pytest.mark.parametrize("overlap", [False, True])
def test_the_host_waits_for_steps_and_the_device_for_offloads(make_engine, plain, monkeypatch, overlap):
    """Pages whose offload has not run are granted behind a wait on the device: one synchronise a step."""
    engine = make_engine(
        schedule="fifo", kv_pages=12, max_model_len=176, max_num_seqs=3, host_slots=12, overlap=overlap
    )
    synchronised, waited = [], []
    sync, wait = engine.device.sync, engine.device.wait

    def note_sync(fence):
        synchronised.append(fence.stream)
        sync(fence)

    def note_wait(stream, fence):
        waited.append((stream.name, engine.device.streams()[fence.stream].name))
        wait(stream, fence)

    monkeypatch.setattr(engine.device, "sync", note_sync)
    monkeypatch.setattr(engine.device, "wait", note_wait)
    prompts = {f"r{index}": _prompt(60, index) for index in range(8)}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 3))
    answers, _ = run(engine)
    assert {name: plain(prompt, 3) for name, prompt in prompts.items()} == answers
    assert [engine.compute.id] * engine.steps == synchronised
    # Nothing is loaded, so that this is all that compute waits for the copies' stream for.
    assert 0 == engine.host.stats.loaded < engine.host.stats.offloaded
    assert ("compute", "copies") in waited


@pytest.mark.parametrize("kind", ["hash", "radix"])
def test_few_slots_keep_the_front_of_a_prompt(make_engine, kind):
    """Six pages go at once and two find a slot: those with which the prompt begins."""
    engine = make_engine(kv_pages=10, max_model_len=128, prefix_cache=kind, host_slots=2)
    prompt = _prompt(6 * PAGE + 5, 0)
    engine.add(greedy("r", prompt, 1))
    run(engine)
    assert 7 == engine.cache.evict(7)
    engine.add(greedy("r", prompt, 1))
    _, last = run(engine)
    assert 2 * PAGE == last["r"].cached_tokens
