"""Drives a running server over HTTP, one thread a lane, as the reports' clients do.

The first request that fails ends the run: the other lanes are told to stop.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tracert.scenarios.history import History
from tracert.scenarios.http_client import Client, RequestFailed
from tracert.scenarios.workload import Conversation, Script, Send, Workload


class Said(NamedTuple):
    """Something to show: in which lane, in which of its requests, and what."""

    lane: str
    request: str
    what: Literal["question", "end", "error"]
    text: str


class Refused(NamedTuple):
    """A request that failed: OpenAI error object, and HTTP status unless the answer had begun."""

    request: str
    status: int | None
    error: dict[str, object]


@dataclass(slots=True)
class HttpOutcome:
    """Answers by request name; the first failure, None when all went well."""

    answers: dict[str, str] = field(default_factory=dict)
    refused: Refused | None = None


class _Run:
    """What the lanes of one run share."""

    def __init__(self, url: str, model: str, workload: Workload, show: Callable[[Said], None]) -> None:
        self.outcome = HttpOutcome()
        self._url = url
        self._model = model
        self._workload = workload
        self._show = show
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.lanes: list[Conversation | Script] = [*workload.conversations, *workload.scripts]
        begins = {lane.beside for lane in self.lanes if lane.beside}
        self._begun = {name: threading.Event() for name in begins}

    def lane(self, lane: Conversation | Script) -> None:
        """One lane from its first request to its last, in the thread that calls this."""
        if lane.beside is not None:
            self._begun[lane.beside].wait()
        with Client(self._url, self._model) as client:
            if isinstance(lane, Conversation):
                self._converse(client, lane)
            else:
                self._run_script(client, lane)

    def release(self) -> None:
        """Let go whoever waits for a request that will not come."""
        for begun in self._begun.values():
            begun.set()

    def _converse(self, client: Client, lane: Conversation) -> None:
        history = History(lane)
        while not history.over:
            request, messages = history.request, history.ask()

            def ask(messages: list[dict[str, object]] = messages) -> str:
                said = client.chat(messages, lane.tools, self._workload.answer_tokens, lane.stream)
                history.answered(said)
                return str(said.get("content") or "")

            if not self._ask(lane.name, request, str(messages[-1]["content"]), ask):
                return

    def _run_script(self, client: Client, lane: Script) -> None:
        for request, send in lane.requests():
            prompt = client.made(send.prompt)
            asked, length = (prompt, "") if isinstance(prompt, str) else (client.decode(prompt), len(prompt))
            asked = f"({length} tokens) {asked}" if length else asked

            def ask(send: Send = send, prompt: str | list[int] = prompt) -> str:
                return client.complete(send, prompt, lane.stream)

            if not self._ask(lane.name, request, asked, ask):
                return

    def _ask(self, lane: str, request: str, question: str, ask: Callable[[], str]) -> bool:
        """Whether the lane may go on."""
        if self._over.is_set():
            return False
        self._tell(Said(lane, request, "question", question))
        if request in self._begun:
            self._begun[request].set()
        try:
            answer = ask()
        except RequestFailed as failure:
            with self._lock:
                if self.outcome.refused is None:
                    self.outcome.refused = Refused(request, failure.status, failure.error)
            self._over.set()
            self.release()
            self._tell(Said(lane, request, "error", str(failure)))
            return False
        with self._lock:
            self.outcome.answers[request] = answer
        self._tell(Said(lane, request, "end", answer))
        return True

    def _tell(self, said: Said) -> None:
        with self._lock:
            self._show(said)


def drive_http(url: str, model: str, workload: Workload, show: Callable[[Said], None]) -> HttpOutcome:
    """Run the workload against the model served at `url`; `show` is called from a thread a time."""
    run = _Run(url, model, workload, show)
    threads = [
        threading.Thread(target=run.lane, args=(lane,), name=lane.name, daemon=True) for lane in run.lanes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return run.outcome
