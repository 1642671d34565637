"""The messages of a chat request, checked, as chat templates take them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tracert.server.dialect import Dialect
from tracert.server.errors import ApiError, bad_parameter

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_TEXTS = {"assistant": ("name", "reasoning_content"), "tool": ("name", "tool_call_id")}
"""What a message may have beside its content that a template may show."""


def plain_messages(messages: Sequence[Any], dialect: Dialect) -> list[dict[str, Any]]:
    """Roles and texts, and calls whose arguments are objects. Raises ApiError 400.

    What the template would leave out without a word is refused: calls, and results of tools.
    """
    if not messages:
        raise bad_parameter("messages", "is empty: there must be at least one message")
    return [_plain(f"messages[{number}]", message, dialect) for number, message in enumerate(messages)]


def _plain(where: str, message: Any, dialect: Dialect) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise bad_parameter(where, "must be an object with role and content")
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise bad_parameter(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
    if role == "tool":
        if not dialect.tool_results:
            raise _unsupported(f"{where}.role", "the chat template of this model has no role tool")
        if not isinstance(message.get("tool_call_id"), str):
            raise bad_parameter(f"{where}.tool_call_id", "must be the id of the call that this answers")
    plain: dict[str, Any] = {
        "role": _ROLES[role],
        "content": _text(f"{where}.content", message.get("content"), role),
    }
    for name, value in message.items():
        if name in _TEXTS.get(role, ("name",)):
            if value is not None:
                plain[name] = _string(f"{where}.{name}", value)
        elif name == "tool_calls" and role == "assistant" and value not in (None, []):
            if not dialect.call_history:
                raise _unsupported(
                    f"{where}.{name}", "the chat template of this model has no place for calls"
                )
            plain[name] = _calls(f"{where}.{name}", value)
        elif name not in ("role", "content") and value not in (None, [], {}):
            raise _unsupported(f"{where}.{name}", "is not supported by this server")
    return plain


def _string(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise bad_parameter(where, "must be a string")
    return value


def _calls(where: str, calls: Any) -> list[dict[str, Any]]:
    if not isinstance(calls, list):
        raise bad_parameter(where, "must be a list of calls")
    return [_call(f"{where}[{number}]", call) for number, call in enumerate(calls)]


def _call(where: str, call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or call.get("type", "function") != "function":
        raise bad_parameter(where, "must be an object with id, type function, and function")
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not name:
        raise bad_parameter(f"{where}.function.name", "must be the name of a tool")
    plain = {"type": "function", "function": {"name": name, "arguments": _arguments(where, arguments)}}
    if isinstance(call.get("id"), str):
        plain["id"] = call["id"]
    return plain


def _arguments(where: str, text: Any) -> dict[str, Any]:
    """Templates write objects; a string they would quote a second time."""
    try:
        arguments = msgspec.json.decode(text or "{}") if isinstance(text, str) else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise bad_parameter(f"{where}.function.arguments", "must be a string that holds a JSON object")
    return arguments


def _text(where: str, content: Any, role: str) -> str:
    if isinstance(content, str):
        return content
    if content is None and role == "assistant":
        return ""
    if not isinstance(content, list) or not content:
        raise bad_parameter(where, "must be a string or a list of text parts")
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text" or not isinstance(part.get("text"), str):
            raise _unsupported(where, f"only parts of type text are supported, not {kind!r}")
        texts.append(part["text"])
    return "".join(texts)


def _unsupported(where: str, message: str) -> ApiError:
    return bad_parameter(where, message, "unsupported_parameter")
