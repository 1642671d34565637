"""Seed 2's traffic: a coding agent (tools, results in role `tool`, thinking given back) and a small second
lane.

`python -m tests.seeds.ninfer --url http://127.0.0.1:8000 [--tasks 20]`

Each request carries the whole history, so that nearly all of its prompt is in the prefix cache. A model that
does not call the tool is taken to have called it: what matters is the history that is sent back.
"""

import argparse
import json
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.seeds.client import Client, ServerGone, tell

SYSTEM = "You are a coding agent. Read files, run the tests, and say what you changed."
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": {argument: {"type": "string"}},
                "required": [argument],
            },
        },
    }
    for name, description, argument in (
        ("read_file", "The text of a file.", "path"),
        ("run_tests", "Run the tests of a folder.", "folder"),
    )
]


@dataclass
class Session:
    """What came of it, request by request."""

    lines: list[str] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)
    cached_tokens: list[int] = field(default_factory=list)
    side_requests: int = 0
    error: dict[str, Any] | None = None
    """The first error, of either lane."""


class Agent:
    """The history of one agent, streamed answer after streamed answer."""

    def __init__(self, client: Client, session: Session, max_tokens: int) -> None:
        self._client = client
        self._session = session
        self._max_tokens = max_tokens
        self._messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
        self._requests = 0

    def task(self, number: int) -> bool:
        """Read, test, report: three requests. False when one failed."""
        ask = f"Task {number}: the test of part_{number} fails. Mend it."
        self._messages.append({"role": "user", "content": ask})
        steps = (
            ("read_file", {"path": f"part_{number}.py"}, f"def part_{number}():\n    return {number}\n"),
            ("run_tests", {"folder": f"part_{number}"}, f"1 failed: expected {number + 1}, got {number}"),
        )
        for name, arguments, result in steps:
            answer = self._ask()
            if answer is None:
                return False
            call = (answer.get("tool_calls") or [_made_up(self._requests, name, arguments)])[0]
            thought = answer.get("reasoning_content") or f"I should look at part_{number} with {name}."
            said = {"role": "assistant", "content": answer["content"], "reasoning_content": thought}
            self._messages.append({**said, "tool_calls": [call]})
            self._messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        answer = self._ask()
        if answer is None:
            return False
        self._messages.append({"role": "assistant", "content": answer["content"]})
        return True

    def _ask(self) -> dict[str, Any] | None:
        self._requests += 1
        body = {
            "messages": self._messages,
            "tools": TOOLS,
            "max_tokens": self._max_tokens,
            "temperature": 0,
            "stream_options": {"include_usage": True},
        }
        chunks = self._client.stream("/v1/chat/completions", body)
        if "error" in chunks[-1]:
            self._session.error = self._session.error or chunks[-1]["error"]
            self._session.lines.append(f"agent {self._requests:>3}  {chunks[-1]['error']['message']}")
            return None
        usage = chunks[-1]["usage"]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        self._session.prompt_tokens.append(usage["prompt_tokens"])
        self._session.cached_tokens.append(cached)
        prompt, share = usage["prompt_tokens"], 100 * cached / usage["prompt_tokens"]
        self._session.lines.append(
            f"agent {self._requests:>3}  prompt {prompt:>6}  cached {cached:>6} ({share:.1f} %)"
        )
        return _message(chunks)


def _message(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant's message from its pieces."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    for choice in (choice for chunk in chunks for choice in chunk["choices"]):
        delta = choice["delta"]
        message["content"] += delta.get("content") or ""
        message["reasoning_content"] += delta.get("reasoning_content") or ""
        for piece in delta.get("tool_calls") or ():
            if "id" in piece:
                message["tool_calls"].append({name: piece[name] for name in ("id", "type", "function")})
            else:
                message["tool_calls"][-1]["function"]["arguments"] += piece["function"]["arguments"]
    return message


def _made_up(number: int, name: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def session(client: Client, tasks: int, max_tokens: int) -> Session:
    """The agent's tasks, with the second lane beside them until it has done or something has failed."""
    told = Session()
    over = threading.Event()

    def side() -> None:
        while not over.is_set() and told.error is None:
            told.side_requests += 1
            question = f"Name a prime above {told.side_requests * 10}."
            body = {"messages": [{"role": "user", "content": question}], "max_tokens": 8, "temperature": 0}
            try:
                answer = client.post("/v1/chat/completions", body)
            except ServerGone:
                return  # the agent meets it, too, and ends the session
            if not answer.ok:
                told.error = told.error or answer.body["error"]
                return

    lane = threading.Thread(target=side, daemon=True)
    lane.start()
    agent = Agent(client, told, max_tokens)
    for number in range(1, tasks + 1):
        if told.error is not None or not agent.task(number):
            break
    over.set()
    lane.join()
    return told


def main() -> int:
    """Drive a server; 1 when a request failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--max-tokens", type=int, default=32)
    options = parser.parse_args()
    told = session(Client(options.url), options.tasks, options.max_tokens)
    print("\n".join(told.lines))
    print(f"second lane: {told.side_requests} requests")
    return 1 if told.error else 0


if __name__ == "__main__":
    sys.exit(tell(main))
