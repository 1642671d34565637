"""Tells what a model thinks (`<think>…</think>`) from what it answers, in text that comes in pieces.

Newlines next to the marks belong to neither: chat templates write them again.
"""

from typing import Literal, NamedTuple

from tracert.server.stops import beginning_at_end

OPEN = "<think>"
CLOSE = "</think>"


class Split(NamedTuple):
    """What has come more of the one and of the other."""

    reasoning: str
    answer: str


class ReasoningParser:
    """One answer. A mark counts once, and the opening one only where the answer begins.

    How the text is cut into pieces changes nothing. Reasoning that is never closed is reasoning to the end.
    """

    def __init__(self, opened: bool) -> None:
        """`opened`: the prompt already ends with the opening mark, so the text begins inside."""
        self._state: Literal["before", "opening", "thinking", "closing", "answering"]
        self._state = "opening" if opened else "before"
        self._held = ""

    def push(self, piece: str) -> Split:
        """What is certain now."""
        if self._state == "answering":
            return Split("", piece)
        self._held += piece
        reasoning = ""
        if self._state == "before":
            self._begin()
        if self._state == "opening":
            self._held = self._held.lstrip("\n")
            if self._held:
                self._state = "thinking"
        if self._state == "thinking":
            reasoning = self._think()
        if self._state == "closing":
            self._held = self._held.lstrip("\n")
            if self._held:
                self._state = "answering"
        answer = ""
        if self._state == "answering":
            answer, self._held = self._held, ""
        return Split(reasoning, answer)

    def finish(self) -> Split:
        """What was withheld, now that nothing more comes."""
        held, self._held = self._held, ""
        return Split(held, "") if self._state == "thinking" else Split("", held)

    def _begin(self) -> None:
        text = self._held.lstrip()
        if text.startswith(OPEN):
            self._held = text[len(OPEN) :]
            self._state = "opening"
        elif not OPEN.startswith(text):
            self._state = "answering"

    def _think(self) -> str:
        reasoning, mark, rest = self._held.partition(CLOSE)
        if mark:
            self._held = rest
            self._state = "closing"
            return reasoning.rstrip("\n")
        certain = reasoning[: len(reasoning) - beginning_at_end(reasoning, CLOSE)].rstrip("\n")
        self._held = reasoning[len(certain) :]
        return certain
