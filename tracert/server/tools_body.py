"""The tools of a chat request: what may be called, and whether the model may call at all."""

import re
from collections.abc import Sequence
from typing import Any

from tracert.server.dialect import Dialect
from tracert.server.errors import ApiError, bad_parameter

Tool = dict[str, Any]
"""A tool as the client wrote it, checked: so it is passed to the chat template."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def offered_tools(tools: Sequence[Any] | None, choice: Any) -> list[Tool]:
    """The tools that the model is told of. Raises ApiError 400.

    With `tool_choice: "none"` there are none. A choice that forces a call is refused: nothing here constrains
    what a model writes, so a call could only be hoped for.
    """
    checked = [_checked(f"tools[{number}]", tool) for number, tool in enumerate(tools or [])]
    if isinstance(choice, dict) or choice == "required":
        message = (
            "this server does not constrain what the model writes, so it can guarantee no call; use auto"
        )
        raise _unsupported("tool_choice", message)
    if choice not in (None, "none", "auto"):
        raise bad_parameter("tool_choice", "must be auto or none")
    return [] if choice == "none" else checked


def check_tools(tools: Sequence[Tool], dialect: Dialect) -> None:
    """Raises ApiError 400 for tools that the model would not hear of, or whose calls could not be read."""
    if tools and not dialect.tools:
        message = "the chat template of this model has no place for tools"
    elif tools and not dialect.readable_calls:
        message = "this model does not write its calls between <tool_call> marks, the only form read here"
    else:
        return
    raise _unsupported("tools", message)


def schemas_of(tools: Sequence[Tool]) -> dict[str, object]:
    """The JSON schema of each tool's parameters, by name."""
    return {tool["function"]["name"]: tool["function"].get("parameters") for tool in tools}


def _checked(where: str, tool: Any) -> Tool:
    if not isinstance(tool, dict):
        raise bad_parameter(where, "must be an object with type and function")
    if tool.get("type") != "function":
        raise _unsupported(f"{where}.type", "only tools of type function are supported")
    function = tool.get("function")
    if not isinstance(function, dict):
        raise bad_parameter(f"{where}.function", "must be an object with a name")
    where = f"{where}.function"
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise bad_parameter(f"{where}.name", "must be 1 to 128 of the characters A-Z a-z 0-9 _ . -")
    if not isinstance(function.get("description"), str | None):
        raise bad_parameter(f"{where}.description", "must be a string")
    if not isinstance(function.get("parameters"), dict | None):
        raise bad_parameter(f"{where}.parameters", "must be a JSON schema, an object")
    if function.get("strict"):
        message = "arguments cannot be held to the schema by this server; leave strict out"
        raise _unsupported(f"{where}.strict", message)
    return tool


def _unsupported(where: str, message: str) -> ApiError:
    return bad_parameter(where, message, "unsupported_parameter")
