"""The report as JSON: the shape that `docs` promise to programs. Knows no SQL."""

import json
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from tracert_analysis.marks import escaped
from tracert_analysis.report.facts import Act, Edge, Resource
from tracert_analysis.report.report import Report


def render(report: Report) -> str:
    """The report as one JSON object, indented, with a line feed at the end.

    Characters that a terminal might obey, or that are half of one, stand as escapes.
    """
    text = json.dumps(as_json(report), indent=2, ensure_ascii=False, allow_nan=False)
    return escaped(text) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values. Keys are stable: programs read them."""
    return {
        "title": report.title,
        **{field.name: plain(getattr(report, field.name)) for field in fields(report)},
    }


def edge(value: Edge) -> dict[str, Any]:
    """An edge: the two acts and the call that would order them."""
    return {
        "from": plain(value.earlier),
        "to": plain(value.later),
        "call": value.call,
        "reaches": value.reaches,
        "query": value.query,
        "misplaced": None if value.misplaced is None else value.misplaced.told,
    }


def plain(value: Any) -> Any:
    """Dataclasses as objects, without fields that do not apply to a resource; tuples as arrays."""
    if isinstance(value, Resource):
        return {"kind": value.kind} | {
            name: part
            for name in ("id", "life", "generation")
            if (part := getattr(value, name)) is not None or name == "id"
        }
    if isinstance(value, Act):
        told = asdict(value)
        # What no launch did has a channel, which is nothing that a program knows.
        return told if value.launch else told | {"launch": None, "stream": None, "ordinal": None}
    if isinstance(value, Edge):
        return edge(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value
