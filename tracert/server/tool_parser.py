"""Tells tool calls from the rest of an answer, in text that comes in pieces: the Hermes and Qwen formats.

Knows nothing of HTTP. Never loses text: what looks like a call and is none comes back as it was.
"""

from collections.abc import Mapping

from tracert.server.stops import beginning_at_end
from tracert.server.tool_call import ToolCall
from tracert.server.tool_scan import FUNCTION, OPEN, FunctionScan, JsonScan


class ToolParser:
    """One answer. A call is withheld until it is whole, for only then is it known to be one.

    How the text is cut into pieces changes nothing. White space next to a call belongs to its format and is
    left out. A call that is whole but for its closing mark when the text ends is a call.
    """

    def __init__(self, schemas: Mapping[str, object]) -> None:
        """`schemas`: the JSON schema of each tool's parameters, by the tool's name."""
        self._schemas = schemas
        self._text = ""
        self._scan: JsonScan | FunctionScan | None = None
        self._space = ""
        self._said = False
        self._called = False

    def push(self, piece: str) -> list[str | ToolCall]:
        """Text and calls that are certain now, in order."""
        self._text += piece
        return self._read(final=False)

    def finish(self) -> list[str | ToolCall]:
        """What was withheld, now that nothing more comes."""
        found = self._read(final=True)
        if self._space and not self._called:
            found.append(self._space)
        self._space = ""
        return found

    def _read(self, final: bool) -> list[str | ToolCall]:
        found: list[str | ToolCall] = []
        while self._text:
            if not self._text.startswith(OPEN):
                start = self._text.find(OPEN)
                if start < 0:
                    start = len(self._text) - (0 if final else beginning_at_end(self._text, OPEN))
                self._take_text(start, found)
                if not self._text.startswith(OPEN):
                    return found
            scan = self._scan or self._begin(final)
            if scan is None:
                return found
            self._scan = scan
            scanned = scan.read(self._text, final)
            if scanned is None:
                return found
            self._scan = None
            if scanned.call is None:
                self._take_text(scanned.end, found)
            else:
                self._text = self._text[scanned.end :]
                self._space = ""
                self._called = True
                found.append(scanned.call)
        return found

    def _begin(self, final: bool) -> JsonScan | FunctionScan | None:
        """How to read what follows the opening mark; None when too little of it has come."""
        start = len(OPEN)
        while self._text[start : start + 1].isspace():
            start += 1
        head = self._text[start : start + len(FUNCTION)]
        if head == FUNCTION:
            return FunctionScan(start, self._schemas)
        if FUNCTION.startswith(head) and not final:
            return None
        return JsonScan(start)

    def _take_text(self, end: int, found: list[str | ToolCall]) -> None:
        text, self._text = self._space + self._text[:end], self._text[end:]
        if self._called and not self._said:
            text = text.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._said = True
            found.append(shown)
