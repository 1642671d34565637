"""The engine gives the tokens of the plain way, whatever shares the batch."""

import random
from dataclasses import replace

import pytest

from tests.engine.conftest import greedy, run
from tracert.messages.messages import Failed, Tokens


def _prompt(length: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=length)


def test_one_request_gives_the_plain_tokens(make_engine, plain):
    """A prompt that ends inside a page, decoded over a page boundary."""
    engine = make_engine()
    assert engine.add(greedy("a", _prompt(27), 24)) is None
    answers, last = run(engine)
    assert plain(_prompt(27), 24) == answers["a"]
    assert last["a"].finish_reason == "length"


@pytest.mark.parametrize("schedule", ["eager", "fifo", "random:1", "random:2"])
def test_a_batch_gives_each_its_plain_tokens(make_engine, plain, schedule):
    """Seven requests of different lengths in four rows, in any order that the device may choose."""
    engine = make_engine(schedule=schedule)
    prompts = {f"r{index}": _prompt(5 + 11 * index, seed=index) for index in range(7)}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 9))
    answers, _ = run(engine)
    assert {name: plain(prompt, 9) for name, prompt in prompts.items()} == answers


@pytest.mark.parametrize("chunk", [1, 7, 16, 33])
def test_chunked_prefill_changes_nothing(make_engine, plain, chunk):
    """Prompts computed a chunk a step, beside others that decode."""
    engine = make_engine(max_prefill_tokens=chunk)
    engine.add(greedy("long", _prompt(80), 6))
    engine.add(greedy("short", _prompt(9, seed=1), 12))
    answers, _ = run(engine)
    assert plain(_prompt(80), 6) == answers["long"]
    assert plain(_prompt(9, seed=1), 12) == answers["short"]


def test_preemption_changes_nothing(make_engine, plain):
    """Too few pages for two sequences to end side by side: one is computed again."""
    engine = make_engine(kv_pages=9, prefix_cache="none")
    prompts = {name: _prompt(40, seed=index) for index, name in enumerate("ab")}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 40))
    answers, _ = run(engine)
    assert engine.scheduler.preemptions > 0
    assert {name: plain(prompt, 40) for name, prompt in prompts.items()} == answers


def test_prefix_hits_change_nothing_and_are_counted(make_engine, plain):
    """The second request of a prompt finds all its pages, and says how many tokens that spared."""
    engine = make_engine()
    prompt = _prompt(70)
    engine.add(greedy("cold", prompt, 8))
    cold, _ = run(engine)
    engine.add(greedy("hit", [*prompt, *cold["cold"], 1, 2, 3], 8))
    hit, last = run(engine)
    assert plain(prompt, 8) == cold["cold"]
    assert plain([*prompt, *cold["cold"], 1, 2, 3], 8) == hit["hit"]
    # 70 prompt tokens and 7 computed answer tokens: four full pages of 16, and a tail of 13.
    assert last["hit"].cached_tokens == 77


def test_another_salt_finds_nothing(make_engine):
    """Tenants with different salts share no page."""
    engine = make_engine()
    engine.add(greedy("a", _prompt(70), 4))
    run(engine)
    message = greedy("b", _prompt(70), 4)
    engine.add(type(message)(id="b", tokens=message.tokens, sampling=message.sampling, cache_salt="other"))
    _, last = run(engine)
    assert last["b"].cached_tokens == 0


def test_a_full_cache_gives_way_to_requests(make_engine, plain):
    """Prompt after prompt through a pool of a few pages: cached pages are evicted, answers stay right."""
    engine = make_engine(kv_pages=12)
    for index in range(8):
        prompt = _prompt(60, seed=index)
        engine.add(greedy(f"r{index}", prompt, 10))
        answers, _ = run(engine)
        assert plain(prompt, 10) == answers[f"r{index}"]
    assert engine.stats().free_pages + engine.stats().cached_pages == 11


def test_a_request_that_found_no_room_is_looked_up_again_when_there_may_be_some(make_engine, plain):
    """Another's decoding gives no page back: a long prompt that waits is not matched in each of its steps."""
    engine = make_engine(kv_pages=9, prefix_cache="hash")
    matched: list[int] = []
    match = engine.cache.match
    engine.cache.match = lambda number, *front: matched.append(number) or match(number, *front)
    engine.add(greedy("runs", _prompt(50), 40))
    engine.add(greedy("waits", _prompt(100, seed=1), 3))
    answers, _ = run(engine)
    assert answers == {"runs": plain(_prompt(50), 40), "waits": plain(_prompt(100, seed=1), 3)}
    assert matched == [1, 2, 2]


def test_abort_frees_rows_and_pages_at_once(make_engine):
    """Running and waiting requests go; an unknown id is nobody's."""
    engine = make_engine(max_num_seqs=1, prefix_cache="none")
    engine.add(greedy("runs", _prompt(40), 50))
    engine.add(greedy("waits", _prompt(40, seed=1), 50))
    engine.step()
    engine.abort("runs")
    engine.abort("waits")
    engine.abort("nobody")
    engine.check()
    assert not engine.busy
    assert engine.stats().free_pages == 63


def test_the_context_ends_an_answer(make_engine):
    """A request that asks for more than the pool holds ends with `length` where the room ends."""
    engine = make_engine(kv_pages=5)
    engine.add(greedy("a", _prompt(50), 1000))
    answers, last = run(engine)
    assert len(answers["a"]) == 4 * 16 - 50
    assert last["a"].finish_reason == "length"


def test_the_end_of_sequence_ends_an_answer(make_engine, plain, monkeypatch):
    """The token that ends it is the last one told, unless the request ignores it."""
    expected = plain(_prompt(20), 12)
    stop = expected[5]
    engine = make_engine()
    monkeypatch.setattr(engine.model, "config", replace(engine.model.config, eos_ids=(stop,)))
    engine.add(greedy("heeds", _prompt(20), 12, ignore_eos=False))
    engine.add(greedy("ignores", _prompt(20), 12))
    answers, last = run(engine)
    assert expected[: expected.index(stop) + 1] == answers["heeds"]
    assert last["heeds"].finish_reason == "stop"
    assert expected == answers["ignores"]


@pytest.mark.parametrize(
    ("tokens", "code"),
    [
        ([], "empty_prompt"),
        ([1] * 512, "context_length_exceeded"),
        ([-1], "invalid_token"),
        ([260], "invalid_token"),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_reason(make_engine, tokens, code):
    """Refusals are answers, and leave nothing behind."""
    engine = make_engine()
    failed = engine.add(greedy("a", tokens, 4))
    assert isinstance(failed, Failed)
    assert (400, code) == (failed.status, failed.code)
    assert not engine.busy


def test_a_full_queue_says_so(make_engine):
    """More waiting requests than allowed get a 503."""
    engine = make_engine(max_waiting=1)
    assert engine.add(greedy("a", [1, 2], 4)) is None
    failed = engine.add(greedy("b", [1, 2], 4))
    assert failed is not None
    assert (503, "queue_full") == (failed.status, failed.code)


def test_logprobs_are_those_of_the_distribution(make_engine):
    """The greedy token is the most likely one; alternatives come in order and no more than asked."""
    engine = make_engine()
    engine.add(greedy("a", _prompt(20), 3, logprobs=4))
    told = []
    while engine.busy:
        told += engine.step()
    for message in told:
        assert isinstance(message, Tokens)
        (one,) = message.logprobs
        assert one.token == one.top[0][0] == message.tokens[0]
        assert one.logprob == pytest.approx(one.top[0][1])
        assert len(one.top) == 4
        assert sorted((value for _, value in one.top), reverse=True) == [value for _, value in one.top]


def test_a_seed_gives_the_same_answer_in_any_company(make_engine):
    """Sampled tokens depend on the seed and the position, not on the batch, chunks or preemption."""
    alone = make_engine()
    alone.add(greedy("a", _prompt(30), 20, temperature=0.9, top_p=0.95, top_k=50, seed=7))
    expected, _ = run(alone)
    crowd = make_engine(kv_pages=9, prefix_cache="none", max_prefill_tokens=8)
    for index in range(3):
        crowd.add(greedy(f"x{index}", _prompt(30, seed=9 + index), 30, temperature=1.0, seed=index))
    crowd.add(greedy("a", _prompt(30), 20, temperature=0.9, top_p=0.95, top_k=50, seed=7))
    answers, _ = run(crowd)
    assert expected["a"] == answers["a"]
