"""Models, health, metrics, tokens, dumps, and who may ask for them."""

import concurrent.futures
import re
import subprocess
import sys

import httpx
import openai
import pytest

from tests.server.conftest import StartServer
from tests.server.fake_engine import KV_PAGES
from tests.server.running import MODEL, Running, wait_for

CONTRACT_METRICS = [
    "tracert_free_kv_pages",
    "tracert_cached_kv_pages",
    "tracert_free_snapshots",
    "tracert_requests_failed_total",
    "tracert_requests_running",
    "tracert_requests_waiting",
    "tracert_prefix_hit_tokens_total",
    "tracert_generation_tokens_total",
    "tracert_prompt_tokens_total",
    "tracert_time_to_first_token_seconds_count",
    "tracert_ring_events_total",
    "tracert_ring_lost_total",
    "tracert_device_errors_total",
]


def test_models_are_listed(client: openai.OpenAI) -> None:
    """One model, by the name that the server was given; it can be asked for by that name."""
    (model,) = client.models.list().data
    assert (model.id, model.object, model.owned_by) == (MODEL, "model", "tracert")
    assert model.created > 1_700_000_000
    assert client.models.retrieve(MODEL) == model
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other/model")


def test_health_is_ok_while_the_engine_serves(server: Running) -> None:
    """200 and a word."""
    with server.http() as http:
        answer = http.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_every_metric_of_the_contract_is_there(server: Running) -> None:
    """Each has a value from the start, in Prometheus' format."""
    with server.http() as http:
        answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in CONTRACT_METRICS:
        assert f"\n{name} " in answer.text


def test_metrics_count_what_passed(start_server: StartServer) -> None:
    """Tokens, hits, first tokens and failures are those of the requests that were made."""
    server = start_server()
    prompt = "sixteen and some more"
    with server.openai() as client:
        for _ in range(2):
            client.completions.create(model=MODEL, prompt=prompt, max_tokens=5)
        with pytest.raises(openai.BadRequestError):
            client.completions.create(model=MODEL, prompt="!fail")
    assert server.metric("tracert_prompt_tokens_total") == 2 * 22
    assert server.metric("tracert_generation_tokens_total") == 2 * 5
    assert server.metric("tracert_prefix_hit_tokens_total") == 16
    assert server.metric("tracert_time_to_first_token_seconds_count") == 2
    assert server.metric("tracert_requests_failed_total") == 1
    assert server.metric('tracert_requests_finished_total{reason="length"}') == 2
    assert server.metric("tracert_device_errors_total") == 0
    assert server.metric("tracert_cached_kv_pages") == 3
    wait_for(lambda: server.metric("tracert_free_kv_pages") == KV_PAGES, "all pages free")
    assert server.metric("tracert_ring_events_total") == 100
    assert server.metric("tracert_ring_lost_total") == 1


def test_running_requests_are_seen(server: Running) -> None:
    """The gauge is up while a stream runs, and down when the client has left it."""
    with server.openai() as client:
        stream = client.completions.create(model=MODEL, prompt="!endless", max_tokens=400, stream=True)
        next(iter(stream))
        assert server.metric("tracert_requests_running") == 1
        stream.close()
    wait_for(lambda: server.metric("tracert_requests_running") == 0, "no running request")


def test_text_is_tokenized_and_back(server: Running) -> None:
    """Prompts, with and without special tokens; messages through the template; ids back, BOS spelt out."""
    with server.http() as http:
        answer = http.post("/tokenize", json={"prompt": "hi"}).json()
        assert answer == {"tokens": [257, 104, 105], "count": 3, "max_model_len": 512}
        answer = http.post("/tokenize", json={"prompt": "hi", "add_special_tokens": False}).json()
        assert answer["tokens"] == [104, 105]
        answer = http.post("/tokenize", json={"messages": [{"role": "user", "content": "hi"}]}).json()
        assert bytes(answer["tokens"]) == b"user:hi\n"
        answer = http.post("/detokenize", json={"tokens": [257, 104, 105]}).json()
        assert answer == {"prompt": "<bos>hi"}
        assert http.post("/tokenize", json={}).json()["error"]["param"] == "prompt"
        assert http.post("/detokenize", json={"tokens": [999]}).json()["error"]["param"] == "tokens"
        assert http.post("/detokenize", json={"tokens": "hi"}).json()["error"]["param"] == "tokens"


def test_a_dump_can_be_asked_for_from_this_machine(server: Running) -> None:
    """Without an API key, loopback is enough; the answer names the file; the server serves on."""
    with server.http() as http:
        answer = http.post("/debug/dump")
        assert answer.status_code == 200
        assert answer.json()["dump"].startswith("/dumps/")
        assert http.post("/v1/completions", json={"prompt": "a"}).status_code == 200


def test_a_dump_is_refused_to_other_machines(server: Running) -> None:
    """A client behind a proxy on this machine is not this machine."""
    with server.http() as http:
        answer = http.post("/debug/dump", headers={"x-forwarded-for": "203.0.113.9"})
    assert answer.status_code == 403
    assert "API key" in answer.json()["error"]["message"]


def test_a_dump_without_recording_is_a_conflict(start_server: StartServer) -> None:
    """The engine has no history to write."""
    with start_server("--no-record").http() as http:
        answer = http.post("/debug/dump")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_record")


def test_a_dump_that_cannot_be_written_says_why(start_server: StartServer) -> None:
    """An error of the server's, with the engine's reason; the engine serves on."""
    with start_server("--disk-full").http() as http:
        answer = http.post("/debug/dump")
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "dump_failed")
        assert answer.json()["error"]["message"] == "The dump could not be written: no room."
        assert http.post("/v1/completions", json={"prompt": "a"}).status_code == 200


def test_the_api_key_is_asked_for(start_server: StartServer) -> None:
    """Everywhere but at /health and /metrics; with it, a dump may come from anywhere."""
    server = start_server(api_key="s3cret")
    with server.http() as http:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic s3cret"}):
            for method, path in [
                ("GET", "/v1/models"),
                ("POST", "/v1/completions"),
                ("POST", "/debug/dump"),
                ("POST", "/tokenize"),
                ("GET", "/nothing"),
            ]:
                answer = http.request(method, path, headers=headers)
                assert answer.status_code == 401
                assert answer.json()["error"]["code"] == "invalid_api_key"
                assert "s3cret" not in answer.text
        assert http.get("/health").status_code == 200
        assert http.get("/metrics").status_code == 200
        headers = {"authorization": "bearer s3cret", "x-forwarded-for": "203.0.113.9"}
        assert http.post("/debug/dump", headers=headers).status_code == 200
    with server.openai(api_key="s3cret") as client:
        assert client.completions.create(model=MODEL, prompt="hi").choices[0].text == "hi"
    with server.openai(api_key="wrong") as client, pytest.raises(openai.AuthenticationError):
        client.models.list()


def test_the_log_names_what_was_refused_and_what_failed(server: Running) -> None:
    """Status and code, and the id of a request that had got one."""
    with server.http() as http:
        http.post("/v1/completions", json={"prompt": "a", "colour": "red"})
        http.post("/v1/completions", json={"prompt": "!fail"})
        http.get("/v1/nothing")
    wait_for(lambda: "/v1/nothing" in server.stderr(), "three entries")
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in server.stderr().splitlines()]
    (unknown,) = [line for line in lines if "colour" in line]
    assert "request refused" in unknown
    assert "code=unknown_parameter" in unknown
    assert "status=400" in unknown
    failed = [line for line in lines if "it needs 9 pages of 4" in line][-1]
    assert re.search(r"code=no_room .*id=cmpl-[0-9a-f]{24}", failed)


def test_too_many_waiting_requests_are_turned_away(start_server: StartServer) -> None:
    """503 with Retry-After for one more than may wait; those that wait are answered."""
    server = start_server("--step-seconds", "0.5", max_waiting=1)

    def ask() -> httpx.Response:
        with server.http() as http:
            return http.post("/v1/completions", json={"prompt": "ab", "max_tokens": 1})

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask)
        wait_for(lambda: len(server.seen("Generate")) == 1, "a request")
        refused = ask()
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["error"]["code"] == "overloaded"
        assert waiting.result().status_code == 200
    assert ask().status_code == 200


def test_more_answers_than_may_ever_wait_are_refused_for_good(start_server: StartServer) -> None:
    """A 503 would have the client try again what can never succeed."""
    server = start_server(max_waiting=2)
    with server.http() as http:
        refused = http.post("/v1/completions", json={"prompt": ["a", "b"], "n": 2, "max_tokens": 1})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "n")
        assert http.post("/v1/completions", json={"prompt": "a", "n": 2, "max_tokens": 1}).status_code == 200


def test_the_api_process_never_imports_torch() -> None:
    """Nothing that the server package imports needs torch, or the runtime."""
    body = (
        "import sys, tracert.server.serve, tracert.messages.transport\n"
        "banned = {'torch', 'triton', 'tracert.engine', 'tracert.models', 'tracert.memory', 'tracert.device',"
        " 'tracert.record', 'transformers'}\n"
        "sys.exit(f'imported: {banned & set(sys.modules)}' if banned & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
