"""A `tracert serve` in a process of its own, for the commands that need a server to talk to."""

import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from tracert.cli.errors import CommandError
from tracert.cli.options import flags

START_SECONDS = 180


class ServerProcess:
    """Starts on a free port when entered, stops when left; what it logs goes to a temporary file."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """`options` are EngineOptions by field; those that are None are left out."""
        self._port = _free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._arguments = ["serve", "--port", str(self._port), *flags(options)]
        self.command_line = shlex.join(["tracert", *self._arguments])
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__

    def __enter__(self) -> "ServerProcess":
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from tracert.cli.main import main; main()", *self._arguments],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._log.close()

    def wait_until_healthy(self) -> None:
        """Wait for /health. CommandError with the server's own last line when it ends instead."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise CommandError(f"the server did not start: {self._last_line()}")
            try:
                if httpx.get(f"{self.url}/health", timeout=5).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.1)
        raise CommandError(f"the server was not healthy after {START_SECONDS} s: {self._last_line()}")

    def _last_line(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("tracert: ") if lines else "it said nothing"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
