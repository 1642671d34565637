"""Bad input over real sockets: every error has OpenAI's shape, the right status, and names what is wrong."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.server.conftest import StartServer
from tests.server.running import MODEL, Running


@pytest.fixture
def http(server: Running) -> Iterator[httpx.Client]:
    """A plain client to the shared server."""
    with server.http() as http:
        yield http


def error_of(answer: httpx.Response) -> dict[str, Any]:
    """The error of an answer; it has the four fields of OpenAI's."""
    error = answer.json()["error"]
    assert {"message", "type", "param", "code"} <= error.keys()
    assert isinstance(error["message"], str)
    assert error["message"]
    return dict(error)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"nonsense",
        b'{"prompt": "a",}',
        b'{"prompt": NaN}',
        b'\xff\xfe{"prompt"',
        b'{"prompt": "\xff"}',
        b'{"prompt": "\\ud800"}',
        b"[" * 100_000,
        b'"text"',
        b"[]",
        b"null",
    ],
)
@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions", "/tokenize"])
def test_a_body_that_is_no_json_object_is_a_400(http: httpx.Client, path: str, content: bytes) -> None:
    """Syntax, encoding, depth and kind: each is refused in the same shape."""
    answer = http.post(path, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert error_of(answer)["code"] == "invalid_json"


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({}, "prompt", "required"),
        ({"prompt": 5}, "prompt", "must be a string, a list of strings"),
        ({"prompt": None}, "prompt", "must be a string"),
        ({"prompt": []}, "prompt", "must be a string"),
        ({"prompt": ["a", 1]}, "prompt", "must be a string"),
        ({"prompt": [[]]}, "prompt", "is empty"),
        ({"prompt": [[1], ["a"]]}, "prompt", "item 0 is no token id"),
        ({"prompt": [1, 258]}, "prompt", "item 1 is no token id: ids are integers from 0 to 257"),
        ({"prompt": [-1]}, "prompt", "item 0 is no token id"),
        ({"prompt": [True]}, "prompt", "must be a string"),
        ({"prompt": ["a"] * 129}, "prompt", "at most 128 prompts"),
        ({"prompt": ["a"] * 65, "n": 2}, "n", "more than 128 answers"),
        ({"prompt": "a", "max_tokens": 0}, "max_tokens", "greater than or equal to 1"),
        ({"prompt": "a", "max_tokens": -5}, "max_tokens", "greater than or equal to 1"),
        ({"prompt": "a", "max_tokens": "5"}, "max_tokens", "valid integer"),
        ({"prompt": "a", "max_tokens": 5.5}, "max_tokens", "valid integer"),
        ({"prompt": "a", "max_tokens": True}, "max_tokens", "valid integer"),
        ({"prompt": "a", "max_tokens": 10**30}, "max_tokens", "more than this model's context"),
        ({"prompt": "a", "temperature": -0.1}, "temperature", "greater than or equal to 0"),
        ({"prompt": "a", "temperature": 2.1}, "temperature", "less than or equal to 2"),
        ({"prompt": "a", "temperature": "hot"}, "temperature", "valid number"),
        ({"prompt": "a", "top_p": 0}, "top_p", "greater than 0"),
        ({"prompt": "a", "top_p": 1.01}, "top_p", "less than or equal to 1"),
        ({"prompt": "a", "top_k": -2}, "top_k", "greater than or equal to -1"),
        ({"prompt": "a", "seed": 2**63}, "seed", "less than or equal to 9223372036854775807"),
        ({"prompt": "a", "n": 0}, "n", "greater than or equal to 1"),
        ({"prompt": "a", "n": 129}, "n", "less than or equal to 128"),
        ({"prompt": "a", "stop": ["a", "b", "c", "d", "e"]}, "stop", "at most 4"),
        ({"prompt": "a", "stop": ""}, "stop", "may not be empty"),
        ({"prompt": "a", "stop": [1]}, "stop", "valid string"),
        ({"prompt": "a", "logprobs": 21}, "logprobs", "less than or equal to 20"),
        ({"prompt": "a", "logprobs": 1, "echo": True}, "echo", "not supported together with logprobs"),
        ({"prompt": "a", "stream": "yes"}, "stream", "valid boolean"),
        ({"prompt": "a", "stream_options": {}}, "stream_options", "only allowed with stream"),
        ({"prompt": "a", "cache_salt": 1}, "cache_salt", "valid string"),
        ({"prompt": "a", "presence_penalty": 0.5}, "presence_penalty", "is not supported"),
        ({"prompt": "a", "best_of": 4}, "best_of", "is not supported"),
        ({"prompt": "a", "max_token": 4}, "max_token", "there is no such parameter"),
    ],
)
def test_a_bad_parameter_is_named(http: httpx.Client, body: dict[str, Any], param: str, message: str) -> None:
    """400, `param` is the parameter, and the message says what it should be."""
    answer = http.post("/v1/completions", json=body)
    assert answer.status_code == 400
    error = error_of(answer)
    assert error["type"] == "invalid_request_error"
    assert error["param"] == param
    assert error["message"].startswith(f"{param}: ") or error["code"] == "context_length_exceeded"
    assert message in error["message"]


def test_a_model_that_is_not_served_is_a_404(http: httpx.Client) -> None:
    """Everywhere where a model can be named."""
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("/v1/completions", {"prompt": "a"}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "a"}]}),
        ("/tokenize", {"prompt": "a"}),
        ("/detokenize", {"tokens": [97]}),
    ]
    for path, body in bodies:
        answer = http.post(path, json={**body, "model": "gpt-17"})
        assert answer.status_code == 404
        error = error_of(answer)
        assert (error["code"], error["param"]) == ("model_not_found", "model")
        assert "'gpt-17'" in error["message"]
        assert f"'{MODEL}'" in error["message"]
    assert http.get("/v1/models/gpt-17").status_code == 404


def test_a_prompt_longer_than_the_context_is_a_400_with_the_counts(http: httpx.Client) -> None:
    """The message has the prompt's tokens and the context's; the same for chats."""
    answer = http.post("/v1/completions", json={"prompt": "x" * 511})
    error = error_of(answer)
    assert (answer.status_code, error["code"]) == (400, "context_length_exceeded")
    assert "it has 512 tokens" in error["message"]
    assert "context of 512 tokens" in error["message"]
    content = "x" * 600
    answer = http.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": content}]})
    assert "it has 606 tokens" in error_of(answer)["message"]


def test_an_answer_that_cannot_fit_is_a_400_with_the_counts(http: httpx.Client) -> None:
    """Prompt and answer together must fit; the longest prompt of a list counts."""
    answer = http.post("/v1/completions", json={"prompt": ["a", "x" * 499], "max_tokens": 13})
    assert answer.status_code == 400
    message = error_of(answer)["message"]
    assert "The prompt has 500 tokens and 13 were asked for: 513 together" in message
    assert "at most 12" in message
    assert http.post("/v1/completions", json={"prompt": "x" * 499, "max_tokens": 12}).status_code == 200


def test_the_default_length_is_cut_to_the_room(http: httpx.Client) -> None:
    """Nobody asked for 16 tokens: with room for 2, the answer has 2."""
    answer = http.post("/v1/completions", json={"prompt": "x" * 509}).json()
    assert answer["usage"]["completion_tokens"] == 2
    assert answer["choices"][0]["finish_reason"] == "length"


def test_unknown_paths_and_wrong_methods_are_errors_too(http: httpx.Client) -> None:
    """404 and 405 have the same shape; 405 says what is allowed."""
    answer = http.get("/v2/completions")
    assert answer.status_code == 404
    assert "GET /v2/completions" in error_of(answer)["message"]
    answer = http.get("/v1/completions")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert "use POST" in error_of(answer)["message"]
    assert http.post("/health").status_code == 405
    assert http.post("/v1/completions/").status_code == 404


def test_a_body_that_is_too_big_is_a_413(start_server: StartServer) -> None:
    """Whether its length is declared, or it comes in chunks without end."""
    server = start_server(max_body_bytes=10_000)
    with server.http() as http:
        answer = http.post("/v1/completions", content=b"x" * 10_001)
        assert answer.status_code == 413
        assert error_of(answer)["code"] == "body_too_large"
        answer = http.post("/v1/completions", content=(b"x" * 1000 for _ in range(11)))
        assert answer.status_code == 413
        assert http.post("/v1/completions", json={"prompt": "a" * 300}).status_code == 200


def raw(server: Running, data: bytes) -> bytes:
    """Send bytes over a socket, close our half, and read what comes."""
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HELLO\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: minus\r\n\r\n",
        b"GET /health HTTP/1.1\r\n" + b"x: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_gets_a_400_and_harms_nobody(
    server: Running, http: httpx.Client, data: bytes
) -> None:
    """TLS, garbage, a header without end: refused, and the next client is served."""
    if data.startswith(b"\x16"):
        data += b"\r\n\r\n"
    assert raw(server, data).startswith(b"HTTP/1.1 400 ")
    assert http.get("/health").status_code == 200


def test_a_client_that_leaves_in_the_middle_of_its_body_harms_nobody(
    server: Running, http: httpx.Client
) -> None:
    """Half a body and a closed socket: no request, no error in the log."""
    before = len(server.seen("Generate"))
    with socket.create_connection((server.host, server.port)) as connection:
        connection.sendall(
            b'POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"prompt": "a'
        )
    assert http.get("/health").status_code == 200
    assert len(server.seen("Generate")) == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    [
        "model",
        "prompt",
        "messages",
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "n",
        "stop",
        "stream",
        "seed",
        "logprobs",
        "stream_options",
        "ignore_eos",
        "cache_salt",
        "echo",
        "tools",
        "chat_template_kwargs",
        "tokens",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.dictionaries(NAMES, JSON, max_size=5), path=st.sampled_from(["completions", "chat/completions"])
)
def test_no_json_makes_a_500(http: httpx.Client, body: dict[str, Any], path: str) -> None:
    """Whatever the values are, the answer is 200 or an error of the client's, in OpenAI's shape."""
    answer = http.post(f"/v1/{path}", content=json.dumps(body))
    assert answer.status_code in (200, 400, 404)
    if answer.status_code != 200:
        error_of(answer)
