"""Where a tool call in a text ends, and what it is: the two forms that follow `<tool_call>`.

A scan goes on where it stopped when more text has come, so that a long call is read once.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tracert.server.tool_call import ToolCall, call_of, call_of_json, typed

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
FUNCTION = "<function="
_FUNCTION_END = "</function>"
_PARAMETER = "<parameter="
_PARAMETER_END = "</parameter>"
_STRING_STOP = re.compile(r'["\\]')
_JSON_STOP = re.compile(r'["\\<]')
_NAME_STOP = re.compile(r"[<>\n]")
_SOLID = re.compile(r"\S")


class Scanned(NamedTuple):
    """The text up to `end` is a call, or is none: then it is no more than text."""

    end: int
    call: ToolCall | None


class JsonScan:
    """`<tool_call>{"name": …, "arguments": {…}}</tool_call>`: marks within a JSON string are no marks.

    What is none is found out at the first character that JSON does not have, and the text after the opening
    mark is looked at again: a call that follows a broken one is not lost. Two scans never go the same way for
    long (after an opening mark one of them is outside of a string and stops there), so the work is linear.
    """

    def __init__(self, start: int) -> None:
        """`start`: where the JSON begins."""
        self._start = start
        self._at = start
        self._in_string = False

    def read(self, text: str, final: bool) -> Scanned | None:
        """None while the end has not come; `final`: nothing more will come."""
        if not text.startswith("{", self._start):
            return Scanned(len(OPEN), None)
        while not self._in_string or self._leave_string(text):
            stop = _JSON_STOP.search(text, self._at)
            self._at = stop.start() if stop else len(text)
            if stop is None:
                break
            if stop[0] == '"':
                self._in_string = True
                self._at += 1
                continue
            end = text[self._at : self._at + len(CLOSE)]
            if end == CLOSE:
                return self._decide(text, self._at + len(CLOSE))
            if not CLOSE.startswith(end):
                return Scanned(len(OPEN), None)
            break
        if not final:
            return None
        return Scanned(len(OPEN), None) if self._in_string else self._decide(text, len(text))

    def _leave_string(self, text: str) -> bool:
        while (stop := _STRING_STOP.search(text, self._at)) is not None:
            if stop[0] == '"':
                self._in_string = False
                self._at = stop.end()
                return True
            if stop.end() == len(text):
                self._at = stop.start()
                return False
            self._at = stop.end() + 1
        self._at = len(text)
        return False

    def _decide(self, text: str, end: int) -> Scanned:
        call = call_of_json(text[self._start : self._at])
        return Scanned(end if call else len(OPEN), call)


class FunctionScan:
    """`<function=name><parameter=key>value</parameter>…</function></tool_call>`, after the opening mark.

    A value is everything up to the next `</parameter>`, but one newline on each side. Its type is the one in
    the tool's schema. What does not have this form is text up to where it departs from it.
    """

    def __init__(self, start: int, schemas: Mapping[str, object]) -> None:
        """`start`: where `<function=` begins. `schemas`: the parameters of each tool, as JSON schemas."""
        self._schemas = schemas
        self._at = start
        self._expected: tuple[str, ...] = (FUNCTION,)
        self._begun = ""
        self._name = ""
        self._key = ""
        self._value_at = 0
        self._values: dict[str, object] = {}

    def read(self, text: str, final: bool) -> Scanned | None:
        """None while the end has not come; `final`: nothing more will come."""
        while True:
            complete = self._complete(text)
            if complete is False:
                return Scanned(self._at, None)
            if complete is None:
                break
            if self._begun == CLOSE:
                return Scanned(self._at, self._call())
        if not final:
            return None
        return Scanned(len(text), self._call() if self._expected == (CLOSE,) else None)

    def _complete(self, text: str) -> bool | None:
        """Read one tag, or one value: True when done, None when it needs more text, False when it is none."""
        if self._begun == "value":
            return self._read_value(text)
        if self._begun in (FUNCTION, _PARAMETER):
            return self._read_name(text)
        solid = _SOLID.search(text, self._at)
        at = solid.start() if solid else len(text)
        for tag in self._expected:
            if text.startswith(tag, at):
                self._at = at + len(tag)
                self._begin(tag)
                return True
        end = text[at : at + max(map(len, self._expected))]
        if any(tag.startswith(end) for tag in self._expected):
            return None
        self._at = at
        return False

    def _begin(self, tag: str) -> None:
        self._begun = tag
        self._value_at = self._at
        if tag == _FUNCTION_END:
            self._expected = (CLOSE,)

    def _read_name(self, text: str) -> bool | None:
        stop = _NAME_STOP.search(text, self._at)
        self._at = stop.start() if stop else len(text)
        if stop is None:
            return None
        name = text[self._value_at : self._at]
        if stop[0] != ">" or not name:
            return False
        self._at += 1
        if self._begun == FUNCTION:
            self._name = name
            self._begun = ""
            self._expected = (_PARAMETER, _FUNCTION_END)
        else:
            self._key = name
            self._begun = "value"
            self._value_at = self._at
        return True

    def _read_value(self, text: str) -> bool | None:
        end = text.find(_PARAMETER_END, self._at)
        if end < 0:
            self._at = max(self._value_at, len(text) - len(_PARAMETER_END) + 1)
            return None
        value = text[self._value_at : end].removeprefix("\n").removesuffix("\n")
        self._values[self._key] = typed(value, self._schema_of_key())
        self._at = end + len(_PARAMETER_END)
        self._begun = ""
        return True

    def _schema_of_key(self) -> object:
        schema = self._schemas.get(self._name)
        properties: Any = schema.get("properties") if isinstance(schema, Mapping) else None
        return properties.get(self._key) if isinstance(properties, Mapping) else None

    def _call(self) -> ToolCall | None:
        return call_of(self._name, self._values)
