"""`tracert serve` as a process: real clients, a real kill, and what is left on disk."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog
from tracert_analysis.load import open_dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.build import build

from tests.cli.serving import REFUSED, TRACERT, Server
from tests.record.rings import disown, new_recorder
from tracert.cli.main import run
from tracert.cli.serve import _tell_left_rings


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    """One server for the tests that leave it serving."""
    folder = tmp_path_factory.mktemp("serve")
    disown(new_recorder(folder).ring.path)
    started = Server(folder, "--prefix-cache-debug")
    yield started
    if started.process.poll() is None:
        started.process.kill()
        started.process.wait()


def test_the_openai_client_works_streaming_and_not(server):
    """The same greedy answer both ways, with usage."""
    asked: dict[str, Any] = {
        "model": "tiny-random",
        "messages": [{"role": "user", "content": "Hello there, how are you?"}],
        "max_tokens": 12,
        "temperature": 0,
        "extra_body": {"ignore_eos": True},
    }
    whole = server.client.chat.completions.create(**asked)
    pieces = list(
        server.client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    streamed = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert whole.choices[0].finish_reason == "length"
    assert whole.choices[0].message.content == streamed
    assert (whole.usage.completion_tokens, pieces[-1].usage.completion_tokens) == (12, 12)
    # The second time all of the prompt comes from the cache but its last token, whose logits are wanted.
    cached = pieces[-1].usage.prompt_tokens_details.cached_tokens
    assert cached == pieces[-1].usage.prompt_tokens - 1


def test_a_client_that_goes_away_frees_its_pages(server):
    """The connection is closed in the middle of a long answer; the request leaves the engine."""
    body = {
        "model": "tiny-random",
        "prompt": "x" * 100,
        "max_tokens": 3000,
        "ignore_eos": True,
        "stream": True,
    }
    with httpx.stream("POST", f"{server.url}/completions", json=body, timeout=60) as response:
        next(response.iter_lines())
    deadline = time.monotonic() + 30
    while server.gauge("tracert_requests_running") > 0:
        assert time.monotonic() < deadline, "the request still runs"
        time.sleep(0.2)
    free = server.gauge("tracert_free_kv_pages") + server.gauge("tracert_cached_kv_pages")
    assert free == 511


def test_the_log_is_json_and_says_what_an_operator_asks(server):
    """Every line, the prefix cache's too; what the pages hold, and the ring that a dead engine left."""
    lines = (server.folder / "log").read_text().split("\n")[:-1]
    said = [json.loads(line) for line in lines]
    (ready,) = server.entries("engine ready")
    assert (512, 511 * 16, 4096) == (ready["kv_pages"], ready["kv_tokens"], ready["max_model_len"])
    assert ready["kv_mib"] > 0
    (left,) = server.entries("found the ring of a dead engine")
    assert f"tracert recover {left['ring']}" == left["next"]
    assert any(line.get("logger") == "prefix_cache" for line in said)


@pytest.mark.slow
def test_a_dump_of_an_engine_that_stands_still_comes_from_its_ring(server):
    """SIGSTOP: it does not answer, and the server reads its ring; then it goes on where it was."""
    os.kill(server.engine_pid(), signal.SIGSTOP)
    try:
        told = httpx.post(f"{server.root}/debug/dump", timeout=60).json()
    finally:
        os.kill(server.engine_pid(), signal.SIGCONT)
    dump = open_dump(told["dump"])
    assert ("request", False) == (dump.header["reason"], dump.evidence.truncated)
    assert server.client.completions.create(model="tiny-random", prompt="z", max_tokens=2).choices


def test_a_dump_on_request_is_whole_and_has_no_finding(server):
    """`POST /debug/dump` from loopback; the engine serves on."""
    told = httpx.post(f"{server.root}/debug/dump", timeout=60).json()
    dump = open_dump(told["dump"])
    assert dump.header["reason"] == "request"
    report = as_json(build(dump))
    assert (report["findings"], report["evidence"]["truncated"]) == ([], False)
    assert httpx.get(f"{server.root}/health").status_code == 200


def test_kill_9_leaves_a_dump_a_503_and_a_server(server):
    """The engine is killed while it answers: the history is saved first, then told, then it serves on."""
    body = {"model": "tiny-random", "prompt": "y" * 64, "max_tokens": 3000, "ignore_eos": True}
    pid = server.engine_pid()
    with httpx.stream(
        "POST", f"{server.url}/completions", json={**body, "stream": True}, timeout=60
    ) as response:
        lines = response.iter_lines()
        next(lines)
        os.kill(pid, signal.SIGKILL)
        last = [line for line in lines if line.startswith("data: ")][-1]
    error = json.loads(last.removeprefix("data: "))["error"]
    dump = open_dump(error["dump"])
    assert dump.header["reason"] == "killed"
    assert dump.header["error"]["name"] == "SIGKILL"
    (running,) = dump.connection.execute("SELECT request FROM lane_state WHERE state = 'held'").fetchall()
    arrived = dump.connection.execute("SELECT max(request) FROM event WHERE kind = 'arrive'").fetchone()
    assert running == arrived
    report = as_json(build(dump))
    assert report["findings"] == []
    assert not list(server.folder.glob(f"{pid}-*.ring")), "the dump has it all"
    (died,) = server.entries("engine died")
    assert f"tracert postmortem {error['dump']}" == died["next"]
    (failed,) = server.entries("request failed")
    assert (error["dump"], "SIGKILL", True) == (failed["dump"], failed["code"], failed["begun"])
    server.healthy()
    assert server.engine_pid() != pid
    assert server.client.completions.create(model="tiny-random", prompt="z", max_tokens=2).choices


def test_an_orderly_stop_leaves_a_dump_and_no_ring(server):
    """SIGTERM: exit code 0, the last engine's history as a dump, its ring gone."""
    pid = server.engine_pid()
    assert server.stop() == 0
    (last,) = server.folder.glob("dump-*-exit.jsonl")
    assert str(last) == server.entries("dump written")[-1]["path"]
    (ending,) = server.entries("shutting down")
    assert (0, 15.0) == (ending["in_flight"], ending["up_to_s"])
    assert not list(server.folder.glob(f"{pid}-*.ring"))
    assert not list(server.folder.glob("*.partial"))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--model", "nowhere"], "smollm2"),
        (["--model", "tiny-random", "--host", "a..b"], "--host"),
        (["--model", "tiny-random", "--kv-memory", "1K"], "--kv-memory"),
        (
            ["--model", "tiny-random", "--record-dir", "/proc/nowhere"],
            "--record-dir /proc/nowhere: nothing can",
        ),
        (["--model", "tiny-random", "--host", "192.0.2.1"], "choose another with --host"),
        # The engine's process refuses these, too; they are the fast suite's in test_generate.py.
        *(
            pytest.param(["--model", "tiny-random", *options], says, marks=pytest.mark.slow)
            for options, says in REFUSED[1:]
        ),
    ],
)
def test_what_cannot_be_served_is_one_line(tmp_path, options, says):
    """Exit code 1, one line on standard error that names what to do, no traceback."""
    command = [*TRACERT, "serve", "--port", "0", "--record-dir", str(tmp_path), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    lines = [line for line in ended.stderr.splitlines() if line.startswith("tracert: ")]
    assert ended.returncode == 1
    assert len(lines) == 1
    assert says in lines[0]
    assert "Traceback" not in ended.stderr
    assert not list(tmp_path.iterdir())


def test_a_ring_that_was_recovered_is_no_news(tmp_path):
    """Nor is one with a dump beside it that is older: that dump has not all of it."""
    ring = new_recorder(tmp_path).ring.path
    disown(ring)
    with structlog.testing.capture_logs() as said:
        _tell_left_rings(tmp_path)
        assert run(["recover", str(ring)]) == 0
        _tell_left_rings(tmp_path)
        os.utime(ring.with_suffix(".jsonl"), (1, 1))
        _tell_left_rings(tmp_path)
    assert 2 * [str(ring)] == [entry["ring"] for entry in said]


def test_a_taken_port_is_one_line(tmp_path):
    """Told before the engine loads."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [*TRACERT, "serve", "--model", "tiny-random", "--port", port, "--record-dir", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("tracert: cannot listen on port")
