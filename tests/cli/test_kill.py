"""`kill -9` of the engine at random moments under load: a dump each time, with all that was told."""

import json
import os
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest
from tracert_analysis.load import open_dump

from tests.cli.serving import Server

KILLS, CLIENTS = 20, 4


class Client(threading.Thread):
    """Streams one long answer; counts the tokens that came, and keeps the error that ended it."""

    def __init__(self, server: Server, number: int) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.prompt = f"client {number} " * 4
        self.tokens = 0
        self.public_id = ""
        self.error: dict[str, object] = {}

    def run(self) -> None:
        """One request, to its end."""
        body = {
            "model": "tiny-random",
            "prompt": self.prompt,
            "max_tokens": 3000,
            "ignore_eos": True,
            "stream": True,
        }
        with httpx.stream("POST", f"{self.server.url}/completions", json=body, timeout=120) as response:
            for line in response.iter_lines():
                if not line.startswith("data: {"):
                    continue
                chunk = json.loads(line.removeprefix("data: "))
                if "error" in chunk:
                    self.error = chunk["error"]
                    return
                self.public_id = chunk["id"]
                self.tokens += 1


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_told_token_is_missing_in_the_dump(tmp_path: Path) -> None:
    """A token that a client has got was committed in the history before: after any kill it is there."""
    server = Server(tmp_path, "--max-num-seqs", "4")
    draw = random.Random(9)
    torn = 0
    try:
        for kill in range(KILLS):
            server.healthy()
            clients = [Client(server, number) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            while not all(client.tokens for client in clients):
                time.sleep(0.01)
            time.sleep(draw.random() * 0.5)
            os.kill(server.engine_pid(), signal.SIGKILL)
            for client in clients:
                client.join(timeout=120)
                assert client.error.get("dump"), f"kill {kill}: no dump was named: {client.error}"
            dump = open_dump(str(clients[0].error["dump"]))
            assert dump.header["reason"] == "killed"
            assert dump.evidence.lost == 0
            torn += dump.evidence.torn or 0
            committed = dict(
                dump.connection.execute(
                    """SELECT a.id, max(t.frontier) - any_value(a.prompt_tokens) + 1
                    FROM event t JOIN event a ON a.request = t.request AND a.kind = 'arrive'
                    WHERE t.kind = 'transaction' AND t.op = 'commit' GROUP BY a.id"""
                ).fetchall()
            )
            for client in clients:
                (told,) = [count for name, count in committed.items() if name.startswith(client.public_id)]
                assert told >= client.tokens, f"kill {kill}: {client.tokens} tokens came, {told} are recorded"
    finally:
        server.process.kill()
    # At most the one record in flight can be torn, and then it is counted.
    assert torn <= KILLS
