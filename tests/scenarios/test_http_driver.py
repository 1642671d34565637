"""Workloads driven over HTTP, against a server whose engine echoes its prompts; no model."""

import threading
from collections.abc import Iterator

import pytest

from tests.server.running import MODEL, Running
from tracert.scenarios.history import History
from tracert.scenarios.http_client import Client, RequestFailed
from tracert.scenarios.http_driver import Said, drive_http
from tracert.scenarios.prompts import exactly
from tracert.scenarios.workload import Call, Conversation, Script, Send, Turn, Workload

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One that nobody breaks for good."""
    running = Running(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


def _nobody(said: Said) -> None:
    """Shows nothing."""


def _sends(*texts: str, **more: object) -> tuple[Send, ...]:
    return tuple(Send(text, text, max_tokens=9, **more) for text in texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", [True, False])
def test_a_script_gets_its_answers(server: Running, stream: bool) -> None:
    """Streamed or not: what was asked, temperature, seed and salt reach the engine."""
    sends = (*_sends("abc", "de"), Send("ids", exactly("xy", 5), 9, temperature=0.5, cache_salt="s", seed=3))
    outcome = drive_http(server.url, MODEL, Workload(scripts=(Script("one", sends, stream=stream),)), _nobody)
    assert outcome.refused is None
    assert {"abc": "abc", "de": "de"}.items() <= outcome.answers.items()
    last = server.last_generate()
    assert (5, "s") == (len(last["tokens"]), last["cache_salt"])
    assert (0.5, 3) == (last["sampling"]["temperature"], last["sampling"]["seed"])


@pytest.mark.parametrize("stream", [True, False])
def test_a_conversation_grows_by_answers_calls_and_results(server: Running, stream: bool) -> None:
    """What the model called, or the turn says that it did, goes back with the tool's result."""
    call = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
    turns = (
        Turn(({"role": "user", "content": f"!say {call} !said"},)),
        Turn(
            ({"role": "tool", "tool_call_id": "c", "content": "!say fine !said"},),
            calls=(Call("made-up", "f", "{}"),),
            reasoning="hm",
        ),
        Turn(({"role": "tool", "tool_call_id": "made-up", "content": "!say done !said"},)),
    )
    talk = Conversation("talk", "S", turns, tools=(TOOL,), stream=stream)
    outcome = drive_http(server.url, MODEL, Workload((talk,), answer_tokens=99), _nobody)
    assert outcome.refused is None
    assert {"talk-1": "", "talk-2": "fine", "talk-3": "done"} == outcome.answers
    prompt = bytes(server.last_generate()["tokens"]).decode()
    assert "assistant: f([('n', 1)])\n" in prompt
    assert "assistant:fine f([])\n" in prompt


def test_a_failure_ends_the_run(server: Running) -> None:
    """The first is kept with status and error; other lanes send nothing more, nobody waits in vain."""
    scripts = (
        Script("bad", _sends("!fail", "never")),
        Script("waits", _sends("neither"), beside="never"),
    )
    outcome = drive_http(server.url, MODEL, Workload(scripts=scripts), _nobody)
    assert outcome.refused is not None
    assert ("!fail", 400, "no_room") == (
        outcome.refused.request,
        outcome.refused.status,
        outcome.refused.error["code"],
    )
    assert {} == outcome.answers


def test_a_lane_begins_beside_a_request(server: Running) -> None:
    """It is sent while that one runs, and shown after it."""
    shown: list[tuple[str, str]] = []
    scripts = (
        Script("side", _sends("side"), beside="second"),
        Script("main", _sends("first", "second")),
    )
    drive_http(
        server.url,
        MODEL,
        Workload(scripts=scripts),
        lambda said: shown.append((said.what, said.request)),
    )
    questions = [request for what, request in shown if what == "question"]
    assert ["first", "second", "side"] == questions


def test_one_thread_shows_at_a_time(server: Running) -> None:
    """However many lanes there are."""
    inside = threading.Lock()

    def show(said: Said) -> None:
        assert inside.acquire(blocking=False)
        inside.release()

    lanes = tuple(Script(f"lane{n}", _sends(f"a{n}", f"b{n}"), stream=True) for n in range(4))
    assert 8 == len(drive_http(server.url, MODEL, Workload(scripts=lanes), show).answers)


def test_a_broken_connection_is_a_failure() -> None:
    """Nobody listens there."""
    with (
        Client("http://127.0.0.1:9", MODEL) as client,
        pytest.raises(RequestFailed, match="connection broke"),
    ):
        client.dump()


def test_a_history_may_begin_anew_and_change_its_system_prompt() -> None:
    """`fresh` keeps the system prompt alone; a turn may replace it."""
    talk = Conversation(
        "talk", "A", ("one", Turn(({"role": "user", "content": "two"},), system="B")), fresh=True
    )
    history = History(talk)
    assert ["A", "one"] == [message["content"] for message in history.ask()]
    history.answered({"content": "1"})
    assert ["B", "two"] == [message["content"] for message in history.ask()]
    assert "talk-2" == history.request
