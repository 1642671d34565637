"""A call of a tool, out of the two ways in which models write one: JSON, and tags with plain values."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class ToolCall(NamedTuple):
    """`arguments` is the text of a JSON object, which no schema has been held against."""

    name: str
    arguments: str


def call_of_json(text: str) -> ToolCall | None:
    """The call that `{"name": …, "arguments": {…}}` is; None when the text is something else.

    Forgiven are control characters in strings, arguments that are an object in a string, and none at all.
    """
    try:
        call = json.loads(text, strict=False)
        if not isinstance(call, dict):
            return None
        arguments = call.get("arguments")
        if isinstance(arguments, str):
            arguments = json.loads(arguments, strict=False)
        if arguments is None and call.keys() <= {"name", "arguments"}:
            arguments = {}
    except (ValueError, RecursionError):
        return None
    return call_of(call.get("name"), arguments)


def call_of(name: object, arguments: object) -> ToolCall | None:
    """A call as clients get it; None when it has no name, or JSON cannot tell its arguments."""
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        return None
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        (name + text).encode()  # halves of surrogate pairs are no text
    except (ValueError, RecursionError):
        return None
    return ToolCall(name, text)


def typed(text: str, schema: object) -> object:
    """A plain value as the type that its JSON schema names; as text where it names none, or another."""
    types = _types(schema)
    word = text.strip()
    if "null" in types and word in ("null", "None"):
        return None
    if not types or "string" in types:
        return text
    if "boolean" in types and word in ("True", "False"):
        return word == "True"
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text


def _types(schema: object) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    declared: Any = schema.get("type")
    types = {declared} if isinstance(declared, str) else set()
    if isinstance(declared, list):
        types = {name for name in declared if isinstance(name, str)}
    for several in ("anyOf", "oneOf"):
        choices: Any = schema.get(several)
        for choice in choices if isinstance(choices, list) else ():
            types |= _types(choice)
    return types
