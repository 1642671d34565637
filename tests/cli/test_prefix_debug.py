"""The lines of `--prefix-cache-debug`: what they say, and that nothing else changes."""

import json
import re

import torch
from tracert_kernels.dispatch import for_device

from tests.engine.conftest import greedy, run
from tests.memory.history import History
from tracert.cli.prefix_debug import PrefixDebug, as_json, as_text
from tracert.device.simulated import SimDevice
from tracert.engine.config import EngineConfig
from tracert.engine.step import Engine
from tracert.models.fetch import resolve
from tracert.models.load import load_model

LINE = re.compile(r"\[prefix_cache\] (.*)")


def _engine(lines: list[str] | None) -> tuple[Engine, History]:
    """An engine of 9 pages whose history is kept; it speaks when there are lines to write to."""
    history = History()
    recorder = history if lines is None else PrefixDebug(history, "hash", "tiny-random", 16, lines.append)
    config = EngineConfig(kv_pages=10, max_model_len=128, max_num_seqs=1)
    model = load_model(resolve("tiny-random"), torch.float32, "cpu")
    engine = Engine(recorder, config, SimDevice(recorder), model, for_device("cpu"), "tiny-random")
    if isinstance(recorder, PrefixDebug):
        recorder.watch(engine.cache)
    return engine, history


def _probe(engine: Engine) -> dict[str, list[int]]:
    """Cold, hit, miss, and one that needs the pages of the others."""
    front = list(range(40))
    prompts = {
        "cold": [*front, 99],
        "hit": [*front, 98, 97],
        "miss": list(range(100, 150)),
        "long": list(range(150, 250)),
    }
    answers = {}
    for name, prompt in prompts.items():
        engine.add(greedy(name, prompt, 2))
        answers |= run(engine)[0]
    return answers


def _said(lines: list[str]) -> list[dict[str, str]]:
    """Fields by name; lists have no space inside, for this."""
    said = []
    for line in lines:
        found = LINE.fullmatch(line)
        assert found
        words = re.findall(r"(\w+)=(\[[^]]*\]|\S*)", found[1])
        said.append(dict(words))
    return said


def test_says_what_the_report_said_and_what_it_lacked() -> None:
    """Match, schedule and insert of each request, then what was evicted and freed for the long one."""
    lines: list[str] = []
    engine, _ = _engine(lines)
    _probe(engine)
    said = _said(lines)
    assert {line["backend"] for line in said} == {"hash"}
    assert {line["model"] for line in said} == {"tiny-random"}
    by = {
        name: {line["event"]: line for line in reversed(said) if line.get("request") == name}
        for name in ("cold", "hit", "miss", "long")
    }
    assert by["cold"]["match"].items() >= {"prompt_tokens": "41", "hit_tokens": "0", "hit_pages": "0"}.items()
    assert by["hit"]["match"].items() >= {"hit_tokens": "40", "hit_pages": "2", "tail_tokens": "8"}.items()
    schedule = by["hit"]["schedule"]
    assert schedule["scheduled_prefill_tokens"] == "2"
    assert schedule["computed_tokens"] == "40"
    assert (schedule["cached_pages"], schedule["allocated_pages"]) == ("2", "1")
    cold = by["cold"]["schedule"]["block_ids"].strip("[]").split(", ")
    assert schedule["block_ids"].strip("[]").split(", ")[:2] == cold[:2]
    assert by["cold"]["insert"].items() >= {"total_tokens": "41", "pages": "3", "inserted_pages": "2"}.items()
    assert float(by["cold"]["insert"]["insert_ms"]) >= 0
    assert float(by["cold"]["match"]["lookup_ms"]) >= 0
    events = [line["event"] for line in said]
    assert events.index("evict") < events.index("free", events.index("evict"))
    freed = [line["block_ids"] for line in said if line["event"] == "free"]
    assert all(line["block_ids"] in freed for line in said if line["event"] == "evict")


def test_the_history_and_the_answers_are_the_same() -> None:
    """Every call is passed on as it came, times and the secret's names apart."""
    loud, loud_history = _engine([])
    still, still_history = _engine(None)
    assert _probe(still) == _probe(loud)
    assert still_history.kinds() == loud_history.kinds()
    assert still_history.of("insert")[0]["pages"] == loud_history.of("insert")[0]["pages"]


def test_lines_can_be_json() -> None:
    """Each an object with the fields of the line, as entries of the log are."""
    fields = {"backend": "hash", "event": "free", "pages": 2, "block_ids": [1, 2]}
    entry = json.loads(as_json(fields))
    assert fields == {name: entry[name] for name in fields}
    assert ("prefix_cache", "info") == (entry["logger"], entry["level"])
    assert "[prefix_cache] backend=hash event=free pages=2 block_ids=[1, 2]" == as_text(fields)
