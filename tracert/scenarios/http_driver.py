"""Drives a running server over HTTP, one thread a conversation, as the reports' clients do.

Streams every answer. The first request that fails ends the run: the others are told to stop.
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import httpx

from tracert.scenarios.workload import Conversation, Workload


class Said(NamedTuple):
    """Something to show: who, in which turn, and what."""

    conversation: str
    turn: int
    what: Literal["question", "piece", "end", "error"]
    text: str


class Refused(NamedTuple):
    """A request that failed: OpenAI error object, and HTTP status unless the answer had begun."""

    conversation: str
    turn: int
    status: int | None
    error: dict[str, object]


@dataclass(slots=True)
class HttpOutcome:
    """Answers by `name-turn`; the first failure, None when all went well."""

    answers: dict[str, str] = field(default_factory=dict)
    refused: Refused | None = None


class _Failure(Exception):
    def __init__(self, status: int | None, error: dict[str, object]) -> None:
        super().__init__(str(error.get("message")))
        self.status = status
        self.error = error


def drive_http(url: str, model: str, workload: Workload, show: Callable[[Said], None]) -> HttpOutcome:
    """Run the workload against the model served at `url`; `show` is called from a thread a time."""
    outcome = HttpOutcome()
    lock, over = threading.Lock(), threading.Event()

    def show_one(said: Said) -> None:
        with lock:
            show(said)

    def speak(conversation: Conversation) -> None:
        with httpx.Client(base_url=url, timeout=600) as client:
            _converse(client, model, conversation, workload.answer_tokens, show_one, outcome, over)

    threads = [
        threading.Thread(target=speak, args=(one,), name=one.name, daemon=True)
        for one in workload.conversations
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


def _converse(
    client: httpx.Client,
    model: str,
    conversation: Conversation,
    answer_tokens: int,
    show: Callable[[Said], None],
    outcome: HttpOutcome,
    over: threading.Event,
) -> None:
    messages = [{"role": "system", "content": conversation.system}]
    for turn, question in enumerate(conversation.turns, start=1):
        if over.is_set():
            return
        show(Said(conversation.name, turn, "question", question))
        messages.append({"role": "user", "content": question})
        answer = ""
        try:
            for piece in _stream(client, model, messages, answer_tokens):
                answer += piece
                show(Said(conversation.name, turn, "piece", piece))
        except _Failure as failure:
            over.set()
            if outcome.refused is None:
                outcome.refused = Refused(conversation.name, turn, failure.status, failure.error)
            show(Said(conversation.name, turn, "error", str(failure)))
            return
        show(Said(conversation.name, turn, "end", answer))
        outcome.answers[f"{conversation.name}-{turn}"] = answer
        messages.append({"role": "assistant", "content": answer})


def _stream(
    client: httpx.Client, model: str, messages: list[dict[str, str]], answer_tokens: int
) -> Iterator[str]:
    body = {
        "model": model,
        "messages": messages,
        "max_tokens": answer_tokens,
        "temperature": 0,
        "stream": True,
    }
    try:
        with client.stream("POST", "/v1/chat/completions", json=body) as response:
            if response.status_code != 200:
                response.read()
                raise _Failure(response.status_code, response.json()["error"])
            for line in response.iter_lines():
                data = line.removeprefix("data: ")
                if data == line or data == "[DONE]":
                    continue
                chunk = json.loads(data)
                if "error" in chunk:
                    raise _Failure(None, chunk["error"])
                for choice in chunk["choices"]:
                    yield choice["delta"].get("content") or ""
    except httpx.HTTPError as error:
        raise _Failure(None, {"message": f"the connection broke: {error}"}) from error
