"""The messages of one conversation as its client keeps them: the same whether asked by step or over HTTP."""

from collections.abc import Mapping
from typing import Any

from tracert.scenarios.workload import Conversation, Turn


class History:
    """Where a conversation is, and its messages so far. A turn's answer becomes part of them."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.turn = 0
        """Turns answered so far."""
        self.messages: list[dict[str, Any]] = [_system(conversation.system)]

    @property
    def over(self) -> bool:
        """Has it had its last answer?"""
        return self.turn >= len(self.conversation.turns)

    @property
    def request(self) -> str:
        """The name of the request that is to be sent, or waits for its answer."""
        return f"{self.conversation.name}-{self.turn + 1}"

    def ask(self) -> list[dict[str, Any]]:
        """All messages, those of the next turn with them."""
        turn = self._next()
        if self.conversation.fresh:
            self.messages = self.messages[:1]
        if turn.system is not None:
            self.messages[0] = _system(turn.system)
        self.messages += [dict(message) for message in turn.messages]
        return self.messages

    def answered(self, answer: Mapping[str, Any]) -> None:
        """The assistant's message has come: `content`, perhaps `reasoning_content` and `tool_calls`."""
        turn = self._next()
        message = {"role": "assistant", "content": answer.get("content") or ""}
        reasoning = answer.get("reasoning_content") or turn.reasoning
        if reasoning:
            message["reasoning_content"] = reasoning
        calls = answer.get("tool_calls") or [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
        if calls:
            message["tool_calls"] = calls
        self.messages.append(message)
        self.turn += 1

    def _next(self) -> Turn:
        turn = self.conversation.turns[self.turn]
        return turn if isinstance(turn, Turn) else Turn(({"role": "user", "content": turn},))


def _system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}
