"""What an assistant said, in OpenAI's shape: as a message, or as the deltas of a stream."""

import secrets
from collections.abc import Sequence
from typing import Any

from tracert.messages.messages import FinishReason
from tracert.server.speech import Content, Part, Reasoning
from tracert.server.tool_call import ToolCall


def message_of(parts: Sequence[Part]) -> dict[str, Any]:
    """The whole message. Its content is null when there is nothing but calls."""
    calls = [_call(part.name, part.arguments) for part in parts if isinstance(part, ToolCall)]
    content = "".join(part.text for part in parts if isinstance(part, Content))
    reasoning = "".join(part.text for part in parts if isinstance(part, Reasoning))
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["content"] = content or None
        message["tool_calls"] = calls
    return message


class MessageStream:
    """The deltas of one message: together they are what `message_of` gives of all its parts."""

    def __init__(self) -> None:
        self.calls = 0
        """Calls so far."""
        self._begun = False

    def deltas(self, parts: Sequence[Part]) -> list[dict[str, Any]]:
        """At least one; the first of all names the role. A call is two: its head, then its arguments."""
        deltas: list[dict[str, Any]] = []
        for part in parts:
            match part:
                case Reasoning(text):
                    deltas.append({"reasoning_content": text})
                case Content(text):
                    deltas.append({"content": text})
                case ToolCall(name, arguments):
                    index = {"index": self.calls}
                    deltas.append({"tool_calls": [{**index, **_call(name, "")}]})
                    deltas.append({"tool_calls": [{**index, "function": {"arguments": arguments}}]})
                    self.calls += 1
        if not self._begun:
            self._begun = True
            if not deltas:
                deltas.append({"content": ""})
            deltas[0] = {"role": "assistant", **deltas[0]}
        return deltas or [{}]


def finish_reason(reason: FinishReason | None, calls: int) -> str | None:
    """OpenAI's reason: an answer that ended by itself and has calls waits for their results."""
    return "tool_calls" if calls and reason == "stop" else reason


def _call(name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": f"call_{secrets.token_hex(12)}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
