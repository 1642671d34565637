"""Workloads driven by step: scripts, exact prompts, lanes beside others, failures."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.scenarios.conftest import read
from tracert.cli.main import run as run_command
from tracert.cli.run_scenario import run
from tracert.scenarios.prompts import exactly, filled, joined
from tracert.scenarios.scenario import Scenario, Variant
from tracert.scenarios.step_driver import WorkloadError
from tracert.scenarios.workload import Conversation, Prompt, Script, Send, Turn, Workload


def _scenario(workload: Workload, **options: Any) -> Scenario:
    return Scenario(
        "made",
        "",
        "ninfer-unordered-publish",
        workload,
        {"kv_pages": 64, "max_model_len": 512, "max_num_seqs": 3, **options},
        {"only": Variant()},
    )


def _run(tmp_path: Path, workload: Workload, **options: Any) -> dict[str, Any]:
    return run(_scenario(workload, **options), planted=False, schedule="eager", dump=tmp_path / "dump.jsonl")


def _events(tmp_path: Path, kind: str) -> list[dict[str, Any]]:
    lines = map(orjson.loads, (tmp_path / "dump.jsonl").read_text().splitlines())
    return [line for line in lines if line["kind"] == kind]


def _script(*prompts: tuple[str, Prompt], **more: Any) -> Script:
    return Script("script", tuple(Send(name, prompt, max_tokens=3) for name, prompt in prompts), **more)


def test_a_script_sends_one_request_after_the_other(tmp_path: Path) -> None:
    """The next arrives when the one before has ended; repeats have names of their own."""
    told = _run(tmp_path, Workload(scripts=(_script(("a", "Hello"), ("b", "Bye"), repeats=2),)))
    assert ["a", "b", "a#2", "b#2"] == list(told["answers"])
    assert told["tokens"]["a"] == told["tokens"]["a#2"]
    assert all(3 == len(tokens) for tokens in told["tokens"].values())
    ended = [
        (event["kind"], event["request"])
        for kind in ("arrive", "finish")
        for event in _events(tmp_path, kind)
    ]
    assert sorted(ended, key=lambda one: (one[1], one[0])) == [
        (kind, request) for request in range(1, 5) for kind in ("arrive", "finish")
    ]
    order = sorted((event["seq"], kind) for kind in ("arrive", "finish") for event in _events(tmp_path, kind))
    assert ["arrive", "finish"] * 4 == [kind for _, kind in order]


def test_prompts_have_the_length_that_was_asked_for(tmp_path: Path) -> None:
    """Exact, joined, and filled up to a limit."""
    prompts = {
        "exact": exactly("some words ", 100),
        "joined": joined(exactly("x", 40), exactly("y", 2)),
        "filled": filled("Head. ", "ten bytes.", " Tail", 60),
    }
    _run(tmp_path, Workload(scripts=(_script(*prompts.items()),)))
    arrived = {event["id"]: event["prompt_tokens"] for event in _events(tmp_path, "arrive")}
    assert {"exact": 100, "joined": 42, "filled": 51} == arrived


def test_a_lane_starts_beside_a_request_of_another(tmp_path: Path) -> None:
    """As soon as that one has been sent, not before."""
    side = Script("side", (Send("small", "Hi", max_tokens=2),), beside="b")
    _run(tmp_path, Workload(scripts=(side, _script(("a", "Hello"), ("b", "Bye")))))
    assert ["a", "b", "small"] == [event["id"] for event in _events(tmp_path, "arrive")]


def test_conversations_and_scripts_run_side_by_side(tmp_path: Path) -> None:
    """Each answer by its name."""
    talk = Conversation("talk", "Be brief.", ("Hello", Turn(({"role": "user", "content": "And?"},))))
    told = _run(tmp_path, Workload((talk,), answer_tokens=4, scripts=(_script(("a", "Hello")),)))
    assert {"talk-1", "talk-2", "a"} == set(told["answers"])


def test_the_salt_reaches_the_engine(tmp_path: Path) -> None:
    """Two salts share no prefix."""
    prompt = exactly("the same words ", 64)
    sends = tuple(Send(str(n), prompt, 2, cache_salt=salt) for n, salt in enumerate(("a", "a", "b")))
    told = _run(tmp_path, Workload(scripts=(Script("salted", sends),)))
    assert 0 < told["cached_tokens"]["1"]
    assert 0 == told["cached_tokens"]["2"]


def test_a_prompt_that_cannot_fit_is_an_error_of_the_workload(tmp_path: Path) -> None:
    """It names the request."""
    with pytest.raises(WorkloadError, match="long: the prompt has 600 tokens"):
        _run(tmp_path, Workload(scripts=(_script(("long", exactly("x", 600))),)))


def test_json_has_token_ids_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are long, and the text says the same."""
    monkeypatch.chdir(tmp_path)
    command = ["scenario", "run", "ninfer-unordered-publish", "--workload", "two-lanes", "--json", "--sound"]
    assert 0 == run_command(command)
    told = orjson.loads(capsys.readouterr().out)
    assert "tokens" not in told
    assert (16, 16) == (told["requests"], len(told["answers"]))
    assert [] == read(Path(told["dump"]))["findings"]
    assert 0 == run_command([*command, "--tokens"])
    assert 12 == len(orjson.loads(capsys.readouterr().out)["tokens"]["tides-1"])
