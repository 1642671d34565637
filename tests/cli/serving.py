"""A `tracert serve` on `tiny-random`, as a process, for tests that need one."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import openai

TRACERT = [sys.executable, "-c", "from tracert.cli.main import main; main()"]
LOAD_SECONDS = 120
REFUSED = [
    (["--kv-memory", "1K"], "--kv-memory"),
    (["--fault", "gremlins"], "ninfer-unordered-publish"),
    (["--record-dir", "/proc/nowhere"], "/proc/nowhere"),
    (["--ring-events", "1024"], "--ring-events 131072"),
    (["--workspace", "1K"], "--workspace of 1024 bytes: no launch fits"),
    (["--max-model-len", "300000"], "--max-model-len 300000 is more than the model's context of 262144"),
    (["--kv-memory", "999T"], "--kv-memory 999T is 1022976.0 GiB, and this machine has"),
    (["--host-kv", "1M", "--prefix-cache", "none"], "--host-kv keeps"),
]
"""Options that no engine can have, and a part of the line that says what can be done."""
WRONG = [
    (["--kv-pages", "1"], "'--kv-pages': it must be greater than or equal to 2"),
    (["--kv-pages", "1.5"], "'--kv-pages': it must be a whole number"),
    (["--dtype", "x"], "'--dtype': 'x' is not one of 'auto', 'fp32'"),
    (["--schedule", "chaos"], "random:SEED"),
    (["--schedule", "random:x"], "--schedule: schedule 'random:x': the seed must be a whole number"),
    (["--page-size", "24"], "--page-size 24 is none that there is; give 16, 32"),
    (["--device", "cuda", "--schedule", "fifo"], "--device cpu"),
    (["--kv-memory", "10X"], "--kv-memory '10X' is no size; write 64K, 512M, 2G, 1T"),
    (["--workspace", "-1"], "--workspace '-1' is no size"),
]
"""Options that mean nothing: known without torch, exit code 2."""


class Server:
    """A `tracert serve --model tiny-random` on a free port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.log = (folder / "log").open("w+")
        command = [*TRACERT, "serve", "--model", "tiny-random", "--port", "0", "--record-dir", str(folder)]
        self.process = subprocess.Popen(
            [*command, "--kv-pages", "512", "--max-model-len", "4096", "--log-format", "json", *options],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = re.search(r"http://[^\s\"]+", line)
        assert match, line + (folder / "log").read_text()
        self.url = match[0]
        self.root = self.url.removesuffix("/v1")
        self.client = openai.OpenAI(base_url=self.url, api_key="none", max_retries=0)

    def stop(self) -> int:
        """SIGTERM, as an operator would."""
        self.process.terminate()
        return self.process.wait(timeout=60)

    def entries(self, event: str) -> list[dict[str, Any]]:
        """The server's log entries of one event."""
        # What follows the last line break is a line that is still being written.
        lines = map(json.loads, (self.folder / "log").read_text().split("\n")[:-1])
        return [line for line in lines if line["event"] == event]

    def engine_pid(self) -> int:
        """The process id of the engine that runs now."""
        return int(self.entries("engine ready")[-1]["pid"])

    def healthy(self) -> None:
        """Wait for /health."""
        deadline = time.monotonic() + LOAD_SECONDS
        while httpx.get(f"{self.root}/health").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def gauge(self, name: str) -> float:
        """The value of a metric."""
        match = re.search(rf"^{name} (\S+)$", httpx.get(f"{self.root}/metrics").text, re.M)
        assert match, name
        return float(match[1])
