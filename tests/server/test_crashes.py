"""Deaths, hangs and departures under real HTTP clients: who is told what, and that serving goes on."""

import concurrent.futures
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import psutil  # type: ignore[import-untyped]
import pytest

from tests.server.conftest import StartServer
from tests.server.running import MODEL, Running, wait_for


@pytest.fixture(scope="module")
def sturdy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose engine is killed by one test after another."""
    running = Running(tmp_path_factory.mktemp("sturdy"), "--step-seconds", "0.02")
    yield running
    running.close()


@pytest.fixture
def crashing(sturdy: Running) -> Running:
    """The same, with an engine that serves."""
    wait_for(lambda: serves(sturdy), "an engine")
    return sturdy


def engine_pid(server: Running) -> int:
    """The engine process."""
    (engine,) = psutil.Process(server.process.pid).children()
    return int(engine.pid)


def serves(server: Running) -> bool:
    """Whether health is 200."""
    with server.http() as http:
        return http.get("/health").status_code == 200


def complete(server: Running, prompt: str, **options: Any) -> httpx.Response:
    """A completion by plain HTTP."""
    with server.http() as http:
        return http.post("/v1/completions", json={"prompt": prompt, **options})


def test_kill_9_under_load_gives_everybody_a_503_that_names_the_dump(crashing: Running) -> None:
    """Four in flight, one of them a stream that has begun: all are told of the same dump, which exists by
    then; the engine is started again and answers."""
    server = crashing
    begun = threading.Event()
    sent_before = len(server.seen("Generate"))
    failed_before = server.metric("tracert_requests_failed_total")
    errors_before = server.metric("tracert_device_errors_total")

    def wait_whole(_: int) -> httpx.Response:
        return complete(server, "!endless", max_tokens=400)

    def read_stream() -> str:
        with server.openai() as client:
            stream = client.completions.create(model=MODEL, prompt="!endless", max_tokens=400, stream=True)
            next(stream)
            begun.set()
            with pytest.raises(openai.APIError) as caught:
                list(stream)
        assert isinstance(caught.value.body, dict)
        return str(caught.value.body["dump"])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        whole = [pool.submit(wait_whole, number) for number in range(3)]
        stream = pool.submit(read_stream)
        begun.wait(5)
        wait_for(lambda: len(server.seen("Generate")) == sent_before + 4, "four requests")
        pid = engine_pid(server)
        os.kill(pid, signal.SIGKILL)
        answers = [future.result() for future in whole]
        dump = stream.result()
    assert dump == str(server.folder / f"{pid}.jsonl")
    assert json.loads(Path(dump).read_text()) == {"reason": "killed", "ring": f"/rings/{pid}.ring"}
    for answer in answers:
        assert answer.status_code == 503
        assert "retry-after" in answer.headers
        error = answer.json()["error"]
        assert (error["type"], error["code"], error["param"]) == ("engine_error", "SIGKILL", None)
        assert error["dump"] == dump
        assert f"tracert postmortem {dump}" in error["message"]
    wait_for(lambda: serves(server), "the new engine")
    assert complete(server, "again").json()["choices"][0]["text"] == "again"
    assert engine_pid(server) != pid
    assert server.metric("tracert_requests_failed_total") == failed_before + 4
    assert server.metric("tracert_device_errors_total") == errors_before


def test_a_device_error_is_counted_and_named(crashing: Running) -> None:
    """Died, with the engine's own dump: the 503 has the device's error name, the metric counts it."""
    server = crashing
    errors = server.metric("tracert_device_errors_total")
    deaths = server.metric("tracert_engine_deaths_total")
    with server.openai() as client, pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "!died"}])
    assert caught.value.status_code == 503
    assert caught.value.code == "LAUNCH_FAILURE"
    assert "LAUNCH_FAILURE (719), unspecified launch failure" in str(caught.value)
    assert server.metric("tracert_device_errors_total") == errors + 1
    assert server.metric("tracert_engine_deaths_total") == deaths + 1


def test_a_stream_that_has_not_begun_gets_a_real_503(crashing: Running) -> None:
    """The status is not sent before there is something to send."""
    answer = complete(crashing, "!sigkill", stream=True)
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "SIGKILL"


def test_health_is_503_while_the_engine_is_down(start_server: StartServer) -> None:
    """From the death to the next Ready, everything says what happened and where the dump is."""
    server = start_server("--load-seconds", "0.5")
    complete(server, "!sigkill")
    with server.http() as http:
        health = http.get("/health")
        assert health.status_code == 503
        assert health.json()["status"] in ("down", "starting")
        refused = http.post("/v1/completions", json={"prompt": "a"})
        dump = http.post("/debug/dump")
        metrics = http.get("/metrics")
        assert http.get("/v1/models").json()["data"][0]["id"] == MODEL, "what is served has not changed"
    for answer in (health, refused, dump):
        assert answer.status_code == 503
        error = answer.json()["error"]
        assert error["code"] == "engine_restarting"
        assert error["dump"].endswith(".jsonl")
    assert "tracert_engine_up 0.0" in metrics.text
    wait_for(lambda: serves(server), "the new engine")


def test_a_hung_engine_is_replaced(start_server: StartServer) -> None:
    """With hang_seconds, silence is a death like any other."""
    server = start_server(hang_seconds=0.5)
    answer = complete(server, "!hang")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "HANG")
    wait_for(lambda: serves(server), "the new engine")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("begun", [True, False])
def test_a_client_that_goes_away_frees_its_request(crashing: Running, stream: bool, begun: bool) -> None:
    """Streaming or not, after the first token or before: the engine is told at once, and nothing is left."""
    server = crashing
    sent, aborted = len(server.seen("Generate")), len(server.seen("Abort"))
    ended = server.metric('tracert_requests_finished_total{reason="abort"}') if aborted else 0
    prompt = "!endless" if begun else "!mute"
    body = json.dumps({"prompt": prompt, "max_tokens": 400, "stream": stream, "n": 2, "ignore_eos": True})
    head = f"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall((head + body).encode())
        wait_for(lambda: len(server.seen("Generate")) == sent + 2, "the request")
        if stream and begun:
            assert connection.recv(100).startswith(b"HTTP/1.1 200 OK")
    wait_for(lambda: len(server.seen("Abort")) == aborted + 2, "two Aborts")
    sent_ids = {message["id"] for message in server.seen("Generate")[sent:]}
    assert sent_ids == {message["id"] for message in server.seen("Abort")[aborted:]}
    wait_for(lambda: server.metric("tracert_requests_running") == 0, "no running request")
    assert server.metric('tracert_requests_finished_total{reason="abort"}') == ended + 2
    assert server.stderr().count("Traceback") == 0


def test_repeated_kills_lose_no_client(start_server: StartServer) -> None:
    """Clients under load while the engine is killed again and again: each gets an answer or a 503, none waits
    for ever, and at the end the server serves."""
    server = start_server("--step-seconds", "0.01", rapid_deaths=100)
    done = threading.Event()

    def load(number: int) -> dict[int, int]:
        seen: dict[int, int] = {}
        with server.http() as http:
            while not done.is_set():
                prompt = f"client {number} says hello"
                answer = http.post("/v1/completions", json={"prompt": prompt, "max_tokens": 30})
                seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
                if answer.status_code == 200:
                    assert answer.json()["choices"][0]["text"] == prompt
                else:
                    time.sleep(0.05)
        return seen

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(load, number) for number in range(4)]
        for _ in range(3):
            wait_for(lambda: serves(server), "an engine", 10)
            time.sleep(0.25)
            os.kill(engine_pid(server), signal.SIGKILL)
            time.sleep(0.1)
        wait_for(lambda: serves(server), "an engine", 10)
        time.sleep(0.5)
        done.set()
        counts = [client.result() for client in clients]
    assert all(set(count) <= {200, 503} and count[200] > 0 for count in counts)
    assert server.metric("tracert_engine_deaths_total") == 3
    assert len(list(server.folder.glob("*.jsonl"))) == 3
