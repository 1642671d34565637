"""What an assistant says, taken apart as it comes: reasoning, content, calls of tools."""

from collections.abc import Sequence
from typing import NamedTuple

from tracert.server.reasoning_parser import ReasoningParser, Split
from tracert.server.tool_call import ToolCall
from tracert.server.tool_parser import ToolParser


class Reasoning(NamedTuple):
    """More of what it thinks before it answers."""

    text: str


class Content(NamedTuple):
    """More of the answer."""

    text: str


Part = Reasoning | Content | ToolCall


class SpeechReader:
    """One answer. Without parsers all of it is content."""

    def __init__(self, reasoning: ReasoningParser | None, tools: ToolParser | None, one_call: bool) -> None:
        """`one_call`: the answer ends with its first call."""
        self.ended = False
        """The first call has come, and is to be the only one: nothing passes any more."""
        self._reasoning = reasoning
        self._tools = tools
        self._one_call = one_call

    def push(self, piece: str) -> list[Part]:
        """What is certain now, in order."""
        if self.ended:
            return []
        split = self._reasoning.push(piece) if self._reasoning else Split("", piece)
        answer = self._tools.push(split.answer) if self._tools else [split.answer]
        return self._parts(split.reasoning, answer)

    def finish(self) -> list[Part]:
        """What was withheld, now that nothing more comes."""
        if self.ended:
            return []
        split = self._reasoning.finish() if self._reasoning else Split("", "")
        answer: list[str | ToolCall] = [split.answer]
        if self._tools:
            answer = [*self._tools.push(split.answer), *self._tools.finish()]
        return self._parts(split.reasoning, answer)

    def _parts(self, reasoning: str, answer: Sequence[str | ToolCall]) -> list[Part]:
        parts: list[Part] = [Reasoning(reasoning)] if reasoning else []
        for piece in answer:
            if isinstance(piece, ToolCall):
                parts.append(piece)
                if self._one_call:
                    self.ended = True
                    break
            elif piece:
                parts.append(Content(piece))
        return parts
