"""What the three clients share: JSON over HTTP with the standard library, as the reports' scripts do it."""

import json
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """One request's end: status, body, and how long it took."""

    status: int
    body: dict[str, Any]
    seconds: float

    @property
    def ok(self) -> bool:
        """Was it answered?"""
        return self.status == 200

    @property
    def problem(self) -> str:
        """The error in one line, with its code; empty when there is none."""
        error = self.body.get("error")
        return f"HTTP {self.status} {error['code']}: {error['message']}" if error else ""

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens that the prefix cache had."""
        return int(self.body["usage"]["prompt_tokens_details"]["cached_tokens"])

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt."""
        return int(self.body["usage"]["prompt_tokens"])


class ServerGone(Exception):
    """Nobody answers at the server's address; the message is one line."""


def tell(drive: Callable[[], int]) -> int:
    """What `drive` returns, the exit code; 1, with one line on standard error, when nobody answers."""
    try:
        return drive()
    except ServerGone as gone:
        print(gone, file=sys.stderr)
        return 1


class Client:
    """A server by its base URL, without `/v1`."""

    def __init__(self, url: str, timeout: float = 900.0) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self._timeout = timeout

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        """One request, to its end."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        start = time.perf_counter()
        try:
            with self._open(request, self._timeout) as response:
                status, text = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return Answer(status, json.loads(text), time.perf_counter() - start)

    def stream(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The chunks of a streamed answer; the last one may be an error."""
        request = urllib.request.Request(
            self.url + path,
            json.dumps({**body, "stream": True}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with self._open(request, self._timeout) as response:
                lines = [line.decode().strip() for line in response]
        except urllib.error.HTTPError as error:
            return [json.loads(error.read())]
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]

    def _open(self, request: urllib.request.Request, timeout: float) -> Any:
        """The response; HTTPError for another status than 200, ServerGone when there is none."""
        try:
            return urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError:
            raise
        except OSError as error:
            reason = getattr(error, "reason", error)
            why = getattr(reason, "strerror", None) or reason
            raise ServerGone(f"{self.url}: {why}; start tracert serve there, or give another --url") from None

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text."""
        ids: list[int] = self.post("/tokenize", {"prompt": text}).body["tokens"]
        return ids

    def metrics(self, names: tuple[str, ...]) -> dict[str, float]:
        """These metrics as `/metrics` shows them now; one that is missing is left out."""
        with self._open(urllib.request.Request(f"{self.url}/metrics"), 30) as response:
            text = response.read().decode()
        found = {name: re.search(rf"^{name} (\S+)$", text, re.MULTILINE) for name in names}
        return {name: float(match[1]) for name, match in found.items() if match}
