"""A running fake server, and how tests talk to it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import openai

MODEL = "fake-model"


class Running:
    """A server in a process of its own, with a log of what its engine was sent."""

    def __init__(self, folder: Path, *engine_options: str, **config: Any) -> None:
        self.folder = folder
        self.engine_log = folder / "engine.log"
        settings = {"model": MODEL, "port": 0, "drain_seconds": 1.0, "stop_seconds": 2.0, **config}
        command = [sys.executable, "-m", "tests.server.fake_server", json.dumps(settings), str(folder)]
        self._errors = (folder / "stderr").open("wb")
        self.process = subprocess.Popen(
            [*command, "--log", str(self.engine_log), *engine_options],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline().decode()
        found = re.search(r"http://(\S+):(\d+)/v1", self.line)
        assert found, f"no ready line but {self.line!r}: {self.stderr()}"
        self.host, self.port = found[1], int(found[2])
        self.url = f"http://{self.host}:{self.port}"

    def stderr(self) -> str:
        """What it has written to standard error."""
        return (self.folder / "stderr").read_text()

    def http(self, **options: Any) -> httpx.Client:
        """A plain client."""
        return httpx.Client(base_url=self.url, timeout=10, trust_env=False, **options)

    def openai(self, api_key: str = "none") -> openai.OpenAI:
        """OpenAI's own client, which shows errors instead of trying again."""
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=api_key, max_retries=0, timeout=10)

    def seen(self, kind: str) -> list[dict[str, Any]]:
        """The messages of a kind that engines were sent so far."""
        if not self.engine_log.exists():
            return []
        # What follows the last line break is a line that is still being written.
        messages = map(json.loads, self.engine_log.read_bytes().split(b"\n")[:-1])
        return [message for message in messages if message["type"] == kind]

    def last_generate(self) -> dict[str, Any]:
        """The last request that reached an engine."""
        return self.seen("Generate")[-1]

    def metric(self, name: str) -> float:
        """A metric's value now, labels included in the name."""
        with self.http() as http:
            text = http.get("/metrics").text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found, f"no metric {name} in {text}"
        return float(found[1])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal it, and its exit code."""
        self.process.send_signal(number)
        try:
            return self.process.wait(10)
        finally:
            self.close()

    def close(self) -> None:
        """End it, if it has not ended: in order, so that it removes its socket, or by force."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._errors.close()


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 10.0) -> None:
    """Poll a condition until it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain: {what}"
        time.sleep(0.02)
