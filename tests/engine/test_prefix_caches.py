"""Whatever prefix cache is on, the engine gives the plain tokens, and tells what it spared exactly."""

import random
from itertools import takewhile

import pytest
from tracert_analysis.load import open_dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.build import build

from tests.engine.conftest import PAGE, greedy, run
from tests.some import a_few
from tracert.engine.config import ConfigError, EngineConfig
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

KINDS = ["none", "hash", "radix"]
SHARING = ["hash", "radix"]


def _prompt(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=length)


@pytest.mark.parametrize("kind", KINDS)
def test_turns_of_conversations_give_the_plain_tokens(make_engine, plain, kind):
    """Three conversations over one front, side by side, three turns each; every turn says what was cached."""
    engine = make_engine(kv_pages=128, prefix_cache=kind)
    front = _prompt(40)
    said = {name: [*front, *_prompt(13 + 5 * index, seed=index)] for index, name in enumerate("abc", start=1)}
    computed = dict.fromkeys(said, 0)
    ended: list[list[int]] = []
    for turn in range(3):
        for name, tokens in said.items():
            engine.add(greedy(name, tokens, 9))
        answers, last = run(engine)
        assert {name: plain(tokens, 9) for name, tokens in said.items()} == answers
        for name, tokens in said.items():
            # The answer's last token was never computed, and a prompt's last token always is.
            spared = min(computed[name], len(tokens) - 1)
            assert last[name].cached_tokens == (0 if kind == "none" else spared)
            computed[name] = len(tokens) + 8
            ended.append([*tokens, *answers[name]][:-1])
            said[name] = [*tokens, *answers[name], *_prompt(6, seed=100 * turn)]
    assert engine.cache.pages() == (0 if kind == "none" else len(_cached(ended)))


def _common(one: list[int], other: list[int]) -> int:
    """How many tokens both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _cached(ended: list[list[int]]) -> set[tuple[int, ...]]:
    """The fronts that have a page: full ones, and the last of each unless another goes on from it."""
    full = {tuple(tokens[:end]) for tokens in ended for end in range(PAGE, len(tokens) + 1, PAGE)}
    parts = {tuple(tokens) for tokens in ended if len(tokens) % PAGE}
    every = full | parts
    return full | {
        part
        for part in parts
        if not any(
            other[: len(part)] == part and len(part) // PAGE == (len(other) - 1) // PAGE
            for other in every - {part}
        )
    }


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("kind", SHARING)
@pytest.mark.parametrize(
    "again",
    [
        _prompt(64),
        _prompt(65),
        [*_prompt(64), 1, 2, 3],
        [*_prompt(40), *_prompt(30, seed=1)],
        [*_prompt(15), 300 % 256, *_prompt(30, seed=1)],
        _prompt(16),
        _prompt(17),
        _prompt(9),
        [9, *_prompt(40)],
    ],
)
def test_cached_tokens_are_exact(make_engine, plain, kind, again, staged):
    """Up to where the prompts part, never the whole prompt, at and off the borders of pages."""
    engine = make_engine(prefix_cache=kind, stage_copies=staged, schedule="random:1")
    engine.add(greedy("cold", _prompt(80), 2))
    cold = [*_prompt(80), *run(engine)[0]["cold"]][:-1]
    for name in ("hit", "again"):
        engine.add(greedy(name, again, 3))
        answers, last = run(engine)
        assert plain(again, 3) == answers[name]
        # The second time its own pages are found beside those of the first prompt.
        spared = _common(cold, again[:-1]) if name == "hit" else len(again) - 1
        assert last[name].cached_tokens == spared


@pytest.mark.parametrize("kind", SHARING)
def test_another_salt_finds_nothing(make_engine, kind):
    """Tenants with different salts share no page; one with the same salt does."""
    engine = make_engine(prefix_cache=kind)
    told = {}
    for name, salt in (("a", "x"), ("b", "y"), ("c", ""), ("d", "x")):
        message = greedy(name, _prompt(70), 4)
        engine.add(type(message)(id=name, tokens=message.tokens, sampling=message.sampling, cache_salt=salt))
        told |= run(engine)[1]
    assert [told[name].cached_tokens for name in "abcd"] == [0, 0, 0, 69]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("schedule", ["eager", "random:3"])
def test_little_room_changes_nothing(make_engine, plain, kind, schedule):
    """Eviction and preemption with prompts that share fronts, computed in chunks, in any order."""
    engine = make_engine(kv_pages=11, prefix_cache=kind, schedule=schedule, max_prefill_tokens=24)
    fronts = [_prompt(33, seed=index) for index in range(2)]
    prompts = {f"r{index}": [*fronts[index % 2], *_prompt(8 + index, seed=50 + index)] for index in range(6)}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 25))
    answers, _ = run(engine)
    assert {name: plain(prompt, 25) for name, prompt in prompts.items()} == answers
    assert engine.scheduler.preemptions > 0
    assert engine.stats().free_pages + engine.stats().cached_pages == 10


@pytest.mark.parametrize("seed", a_few(1, range(3)))
def test_a_sound_run_with_radix_has_no_finding(make_engine, tmp_path, seed):
    """Requests share, split, evict, end and are aborted for a while; the report of the dump finds nothing."""
    ring = Ring.create(tmp_path / "a.ring", Geometry(slots=2**16, pages=20, rows=3, row_width=16))
    engine = make_engine(
        RingRecorder(ring),
        schedule=f"random:{seed}",
        prefix_cache="radix",
        kv_pages=20,
        max_model_len=256,
        max_num_seqs=3,
    )
    draw = random.Random(seed)
    fronts = [draw.choices(range(256), k=60) for _ in range(2)]
    for step in range(120):
        if draw.random() < 0.3:
            prompt = [*draw.choice(fronts)[: draw.randint(10, 60)], *_prompt(draw.randint(1, 30), seed=step)]
            engine.add(greedy(f"r{step}", prompt, draw.randint(1, 30)))
        if draw.random() < 0.05:
            engine.abort(f"r{draw.randint(0, step)}")
        engine.step()
        engine.check()
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="request")
    dump = open_dump(str(tmp_path / "dump.jsonl"), macros=False)
    told = as_json(build(dump))
    assert told["findings"] == []
    assert told["verdict"]["confidence"] == "none"
    counted = dict(
        dump.connection.execute("SELECT kind::VARCHAR, count(*) FROM event GROUP BY kind").fetchall()
    )
    assert counted["evict"] > 5
    assert counted["match"] > 10
    split = "SELECT count(*) FROM event WHERE kind = 'insert' AND len(coalesce(pages, [])) = 0"
    assert dump.connection.execute(split).fetchall()[0][0] > 5
    ring.close()


def test_an_unknown_kind_is_named_with_those_that_are_known() -> None:
    """The one line says what it may be."""
    with pytest.raises(ConfigError, match="--prefix-cache 'tree': it must be none, hash or radix"):
        EngineConfig(kv_pages=4, prefix_cache="tree")  # type: ignore[arg-type]
