"""Retained turns and copied tails in the engine: plain tokens, nothing computed twice, sound histories."""

import random

import pytest
from tracert_analysis.load import open_dump

from tests.engine.conftest import PAGE, greedy, run
from tests.memory.history import History
from tests.some import a_few
from tracert.engine.config import ConfigError, EngineConfig
from tracert.record.access import Holder
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

SETTINGS = [
    {"retain": 2, "prefix_cache": "none"},
    {"retain": 2, "prefix_cache": "hash"},
    {"retain": 2, "prefix_cache": "radix", "overlap": True},
    {"retain": 2, "prefix_cache": "hash", "stage_copies": True, "overlap": True},
]


def _prompt(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=length)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("length", [26, 41])
def test_the_next_turn_goes_on_in_the_same_pages(make_engine, plain, settings, length):
    """No copy, no token computed twice: the frontier moves on in the page where the last turn left it."""
    history = History()
    engine = make_engine(history, schedule="random:2", **settings)
    said = _prompt(length)
    held: list[int] = []
    for turn in range(3):
        # The answer's last token is never computed.
        computed = len(said) - 6 if turn else 0
        engine.add(greedy(f"t{turn}", said, 7))
        answers, last = run(engine)
        assert plain(said, 7) == answers[f"t{turn}"]
        assert last[f"t{turn}"].cached_tokens == computed
        kept = engine.pool.holders
        pages = [page for page in range(1, 64) if any(holder.kind == "checkpoint" for holder in kept(page))]
        assert set(held) <= set(pages)
        assert len(pages) == -(-(len(said) + 6) // PAGE)
        held = pages
        said = [*said, *answers[f"t{turn}"], *_prompt(5, seed=turn)]
    assert history.of("copy") == []
    assert history.of("copy_plan") == []


@pytest.mark.parametrize("kind", ["hash", "radix"])
@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("seed", a_few(1, range(2)))
def test_two_lanes_want_the_same_turn(make_engine, plain, tmp_path, kind, staged, seed):
    """One appends in the page that the other copies: positions behind the copied ones change under it."""
    ring = Ring.create(tmp_path / "a.ring", Geometry(slots=2**16, pages=64, rows=4, row_width=32))
    engine = make_engine(
        RingRecorder(ring),
        schedule=f"random:{seed}",
        prefix_cache=kind,
        retain=2,
        stage_copies=staged,
        overlap=seed % 2 == 1,
    )
    said = _prompt(41)
    engine.add(greedy("first", said, 4))
    said += run(engine)[0]["first"]
    for name in "abc":
        engine.add(greedy(name, [*said, *_prompt(20, seed=ord(name))], 9))
    answers, last = run(engine)
    for name in "abc":
        assert plain([*said, *_prompt(20, seed=ord(name))], 9) == answers[name]
        assert last[name].cached_tokens == 44
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    told = open_dump(str(tmp_path / "dump.jsonl"), macros=False).connection
    assert told.execute("SELECT code, sentence FROM finding").fetchall() == []
    assert told.execute("SELECT count(*) FROM event WHERE kind = 'copy'").fetchall() == [(2,)]
    planned = told.execute("SELECT count(*) FROM event WHERE kind = 'copy_plan'").fetchall()
    assert planned == [(2 if staged else 0,)]
    ring.close()


def test_a_request_waits_for_its_staged_copy_and_others_go_on(make_engine, plain):
    """It is admitted in one step and scheduled in a later one; both pages are pinned between."""
    history = History()
    engine = make_engine(history, schedule="fifo", stage_copies=True)
    front = _prompt(41)
    engine.add(greedy("first", [*front, 1], 2))
    run(engine)
    engine.add(greedy("other", _prompt(30, seed=9), 12))
    engine.step()
    engine.add(greedy("second", [*front, 2, 3], 6))
    engine.step()
    (waiting,) = [request for request in engine.scheduler.running if request.id == "second"]
    (number,) = [plan["transaction"] for plan in history.of("copy_plan")]
    assert waiting.computed == 41
    assert history.of("copy_done") == []
    target = waiting.pages[2]
    assert Holder("transfer", number) in engine.pool.holders(target)
    answers, last = run(engine)
    assert plain([*front, 2, 3], 6) == answers["second"]
    assert last["second"].cached_tokens == 41
    # Two of its tokens came with the steps above.
    assert plain(_prompt(30, seed=9), 12)[2:] == answers["other"]
    assert [done["transaction"] for done in history.of("copy_done")] == [number]


def test_only_its_arrival_lets_a_request_go_on(make_engine):
    """To ask whether it may launches nothing, even behind its copy; the step that lets it go on clears."""
    history = History()
    engine = make_engine(
        history, schedule="fifo", stage_copies=True, stale_pages="clear-tail", prefix_cache="radix"
    )
    front = _prompt(41)
    engine.add(greedy("first", [*front, 1], 2))
    run(engine)
    engine.add(greedy("second", [*front, 2, 3], 2))
    engine.step()
    (waiting,) = engine.scheduler.running
    engine.copies.settle(wait=True)
    before = len(history.told)
    assert not engine.lanes.ready(waiting)
    assert not engine.lanes.ready(waiting)
    assert before == len(history.told)
    engine.lanes.arrive(engine.scheduler.running)
    assert engine.lanes.ready(waiting)
    cleared = dict(history.told[before:])["clear"]
    assert [waiting.pages[2], 9, 16] == [cleared["target"][0][0], *cleared["target"][0][2:]]


def test_an_abort_while_its_tail_is_copied_loses_no_page(make_engine):
    """The pins outlive the request, and go when the copy has executed, though nothing else is to do."""
    engine = make_engine(schedule="fifo", stage_copies=True, prefix_cache="radix")
    front = _prompt(41)
    engine.add(greedy("first", [*front, 1], 2))
    run(engine)
    engine.add(greedy("second", [*front, 2, 3], 6))
    engine.step()
    engine.abort("second")
    assert len(engine.copies) == 1
    run(engine)
    assert len(engine.copies) == 0
    assert engine.stats().free_pages + engine.stats().cached_pages == 63


@pytest.mark.parametrize("seed", range(2))
def test_turns_give_way_when_pages_are_short(make_engine, plain, seed):
    """Retained turns are room for requests, the oldest first; no request fails for them."""
    engine = make_engine(
        kv_pages=14, max_num_seqs=2, retain=8, schedule=f"random:{seed}", prefix_cache="hash"
    )
    prompts = {f"r{index}": _prompt(40 + 7 * index, seed=index) for index in range(8)}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 9))
    answers, _ = run(engine)
    assert {name: plain(prompt, 9) for name, prompt in prompts.items()} == answers
    assert engine.retained is not None
    assert 0 < len(engine.retained) < 8


@pytest.mark.parametrize("salts", [("a", "b"), ("", "a")])
def test_another_salt_does_not_go_on(make_engine, salts):
    """A turn is retained for its identity, as a prefix is."""
    engine = make_engine(retain=2, prefix_cache="none")
    said = _prompt(30)
    for name, salt in zip("xy", salts, strict=True):
        message = greedy(name, said, 3)
        engine.add(type(message)(id=name, tokens=said, sampling=message.sampling, cache_salt=salt))
        answers, last = run(engine)
        said = [*said, *answers[name]]
        assert last[name].cached_tokens == 0


def test_refuses_fewer_turns_than_none() -> None:
    """In one line, with what it may be."""
    with pytest.raises(ConfigError, match="--retain -1: it must be 0, for none, or more"):
        EngineConfig(kv_pages=4, retain=-1)
