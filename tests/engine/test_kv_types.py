"""Pages of every type: the same bytes give the same tokens, and half of the bytes hold as many."""

import random

import pytest
from tracert_kernels.kv_types import KV_TYPES

from tests.engine.conftest import greedy, run
from tracert.engine.config import ConfigError, EngineConfig

TYPES = pytest.mark.parametrize("kv_dtype", list(KV_TYPES))


def _turns(engine) -> list[list[int]]:
    """Three conversations over one front, two turns each, the second with all that was said before."""
    front = random.Random(1).choices(range(256), k=40)
    said = {name: front + random.Random(name).choices(range(256), k=9) for name in "abc"}
    told = []
    for _ in range(2):
        for name, tokens in said.items():
            engine.add(greedy(name, tokens, 12))
        answers, _ = run(engine)
        for name, answer in answers.items():
            told.append(answer)
            said[name] = [*said[name], *answer, 7, 11]
    return told


@TYPES
@pytest.mark.parametrize("cache", ["hash", "radix"])
def test_a_page_read_again_says_what_it_said(make_engine, kv_dtype, cache):
    """What a prefix cache spares is not computed again, and the answers are those without one."""
    without = _turns(make_engine(kv_dtype=kv_dtype, prefix_cache="none"))
    engine = make_engine(kv_dtype=kv_dtype, prefix_cache=cache)
    assert without == _turns(engine)
    assert engine.cache.pages() > 0


@TYPES
def test_alone_or_in_company(make_engine, kv_dtype):
    """A request's answer does not depend on who is in its batch, and comes out the same every time."""
    prompts = {name: random.Random(name).choices(range(256), k=30) for name in "abcd"}
    together = make_engine(kv_dtype=kv_dtype)
    for name, prompt in prompts.items():
        together.add(greedy(name, prompt, 16))
    answers, _ = run(together)
    for name, prompt in prompts.items():
        alone = make_engine(kv_dtype=kv_dtype)
        alone.add(greedy(name, prompt, 16))
        assert answers[name] == run(alone)[0][name]


def test_wide_pages_give_the_plain_tokens(make_engine, plain):
    """`auto` is the type of the weights, here fp32."""
    prompt = random.Random(5).choices(range(256), k=50)
    for kv_dtype in ("auto", "fp32"):
        engine = make_engine(kv_dtype=kv_dtype)
        engine.add(greedy("a", prompt, 20))
        assert run(engine)[0]["a"] == plain(prompt, 20)


@TYPES
@pytest.mark.parametrize("options", [{"overlap": True}, {"host_slots": 8, "kv_pages": 12}, {"retain": 2}])
def test_features_move_bytes_of_any_type(make_engine, kv_dtype, options):
    """Overlap, a host tier under pressure and retained turns copy pages as bytes."""
    assert _turns(make_engine(kv_dtype=kv_dtype)) == _turns(make_engine(kv_dtype=kv_dtype, **options))


def test_eight_bits_take_a_quarter_of_fp32(make_engine):
    """The layout says so, and with the scales a little more."""
    layouts = {name: make_engine(kv_dtype=name).arena.layout for name in KV_TYPES}
    dim = layouts["fp32"].head_dim
    assert layouts["fp32"].page_bytes == 4 * layouts["fp8"].page_bytes == 2 * layouts["bf16"].page_bytes
    assert layouts["int8"].page_bytes * dim == layouts["fp8"].page_bytes * (dim + 4)


def test_an_unknown_type_is_refused():
    """One line with the types that there are."""
    with pytest.raises(ConfigError, match="--kv-dtype 'fp4': it must be auto, fp32, bf16, fp16, fp8 or int8"):
        EngineConfig(kv_pages=8, kv_dtype="fp4")
