"""Start and end of the whole API process: ports, lines, signals, exit codes."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from tests.server.conftest import StartServer
from tests.server.running import MODEL, Running, wait_for


def run(folder: Path, *engine_options: str, **config: Any) -> subprocess.CompletedProcess[str]:
    """Run a server that ends by itself."""
    settings = json.dumps({"model": MODEL, "port": 0, **config})
    command = [sys.executable, "-m", "tests.server.fake_server", settings, str(folder)]
    return subprocess.run(
        [*command, "--log", str(folder / "engine.log"), *engine_options],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What a user reads on standard error, the log left out."""
    assert "Traceback" not in done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith(("tracert:", "fake:"))]


def test_a_taken_port_is_one_line_before_the_engine_is_started(tmp_path: Path) -> None:
    """Exit 1, the port in the line, and no engine."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, port=port)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = complaints(done)
    assert line.startswith(f"tracert: cannot listen on port {port} of 127.0.0.1: Address already in use;")
    assert not (tmp_path / "engine.log").exists()


def test_a_complaint_can_be_json(tmp_path: Path) -> None:
    """Where the log is, so is what ends the server."""
    done = run(tmp_path, host="no-such-host.invalid", json_lines=True)
    (line,) = done.stderr.splitlines()
    entry = json.loads(line)
    assert ("error", 1) == (entry["level"], done.returncode)
    assert "there is no address named" in entry["event"]


def test_a_host_that_is_none_is_one_line(tmp_path: Path) -> None:
    """A name that does not resolve is named."""
    done = run(tmp_path, host="no-such-host.invalid")
    assert done.returncode == 1
    (line,) = complaints(done)
    assert "there is no address named 'no-such-host.invalid'" in line


def test_an_engine_that_refuses_ends_the_server_with_its_own_line(tmp_path: Path) -> None:
    """The engine has said why; the server adds nothing."""
    done = run(tmp_path, "--refuse")
    assert (done.returncode, complaints(done)) == (1, ["fake: no such model"])


def test_an_engine_that_dies_while_loading_ends_the_server(tmp_path: Path) -> None:
    """One line with its last words, or with the signal and the dump."""
    done = run(tmp_path, "--words-loading")
    assert done.returncode == 1
    (line,) = complaints(done)
    assert line.startswith(
        "tracert: the engine failed: OUT_OF_MEMORY (2), no room for one page; its history is"
    )
    done = run(tmp_path, "--die-loading")
    assert done.returncode == 1
    (line,) = complaints(done)
    assert line.startswith("tracert: the engine was killed by SIGKILL; its history is in ")


def test_an_engine_that_always_dies_ends_the_server(start_server: StartServer) -> None:
    """After as many deaths as are allowed: one line, exit 1, and the client is told every time."""
    server = start_server(rapid_deaths=2)
    with server.http() as http:
        assert http.post("/v1/completions", json={"prompt": "!sigkill"}).status_code == 503
        wait_for(lambda: http.get("/health").status_code == 200, "the second engine")
        assert http.post("/v1/completions", json={"prompt": "!sigkill"}).status_code == 503
    assert server.process.wait(10) == 1
    (line,) = [line for line in server.stderr().splitlines() if line.startswith("tracert:")]
    assert line.startswith(
        "tracert: giving up: 2 engines in a row died without one token; the engine was killed"
    )


def test_the_ready_line_comes_once_and_says_where(start_server: StartServer) -> None:
    """URL and model, on standard output; a new engine is no new line."""
    server = start_server()
    assert server.line == f"tracert serves {MODEL} at {server.url}/v1\n"
    with server.http() as http:
        http.post("/v1/completions", json={"prompt": "!sigkill"})
        wait_for(lambda: http.get("/health").status_code == 200, "the new engine")
    assert server.process.stdout is not None
    server.process.send_signal(signal.SIGTERM)
    assert server.process.stdout.read() == b""
    assert server.process.wait(5) == 0


def test_health_answers_while_the_model_loads(tmp_path: Path) -> None:
    """Before the ready line HTTP is up: 503, starting; no model is listed yet, and for the same reason."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = json.dumps({"model": MODEL, "port": port})
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.server.fake_server", settings, str(tmp_path), "--load-seconds", "60"],
        stderr=subprocess.DEVNULL,
    )
    try:

        def answer() -> httpx.Response | None:
            try:
                return httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False)
            except httpx.TransportError:
                return None

        wait_for(lambda: answer() is not None, "HTTP", 10)
        health = answer()
        assert health is not None
        assert health.status_code == 503
        assert health.json()["status"] == "starting"
        assert health.json()["error"]["code"] == "engine_starting"
        for path in ("/v1/models", f"/v1/models/{MODEL}"):
            models = httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False)
            assert (models.status_code, models.json()["error"]) == (503, health.json()["error"])
    finally:
        process.terminate()
        assert process.wait(10) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_in_order(start_server: StartServer, number: int) -> None:
    """Exit 0, the engine stopped by a message, no process and no traceback left."""
    server = start_server()
    (engine,) = psutil.Process(server.process.pid).children()
    assert server.stop(number) == 0
    assert len(server.seen("Stop")) == 1
    assert not engine.is_running()
    assert "Traceback" not in server.stderr()


def in_background(server: Running, body: dict[str, Any]) -> tuple[threading.Thread, list[httpx.Response]]:
    """Send a request from a thread; its answer appears in the list."""
    answers: list[httpx.Response] = []

    def ask() -> None:
        with server.http() as http:
            answers.append(http.post("/v1/completions", json=body))

    thread = threading.Thread(target=ask)
    thread.start()
    wait_for(lambda: len(server.seen("Generate")) > 0, "the request")
    return thread, answers


def test_what_is_in_flight_may_finish(start_server: StartServer) -> None:
    """A request that ends within drain_seconds is answered after the signal."""
    server = start_server("--step-seconds", "0.05", drain_seconds=5.0)
    thread, answers = in_background(server, {"prompt": "ten tokens"})
    assert server.stop() == 0
    thread.join(5)
    assert answers[0].json()["choices"][0]["text"] == "ten tokens"


def test_what_does_not_finish_is_told(start_server: StartServer) -> None:
    """A request that goes on for longer gets a 503, and the server ends."""
    server = start_server("--step-seconds", "0.05", drain_seconds=0.3)
    thread, answers = in_background(server, {"prompt": "!endless", "max_tokens": 400})
    begin = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begin < 5.0
    thread.join(5)
    assert (answers[0].status_code, answers[0].json()["error"]["code"]) == (503, "shutting_down")


def test_a_second_signal_is_obeyed_at_once(start_server: StartServer) -> None:
    """Somebody who presses Ctrl-C twice does not wait for a drain, or for a deaf engine."""
    server = start_server("--deaf", "--step-seconds", "0.05", drain_seconds=30.0, stop_seconds=30.0)
    thread, _ = in_background(server, {"prompt": "!endless", "max_tokens": 400})
    begin = time.monotonic()
    server.process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert server.stop(signal.SIGINT) == 0
    assert time.monotonic() - begin < 5.0
    thread.join(5)


def test_a_deaf_engine_is_killed(start_server: StartServer) -> None:
    """An engine that does not obey Stop is gone after stop_seconds."""
    server = start_server("--deaf", stop_seconds=0.5)
    (engine,) = psutil.Process(server.process.pid).children()
    assert server.stop() == 0
    assert not engine.is_running()
    assert "shutting down" in server.stderr()


def test_the_engine_dies_with_a_killed_server(start_server: StartServer) -> None:
    """kill -9 of the API process leaves no engine."""
    server = start_server()
    (engine,) = psutil.Process(server.process.pid).children()
    os.kill(server.process.pid, signal.SIGKILL)
    wait_for(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE, "the engine's end")


def test_ipv6_is_served(start_server: StartServer) -> None:
    """The URL of an IPv6 address has brackets."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    server = start_server(host="::1")
    with server.http() as http:
        assert http.get("/health").status_code == 200
