"""The report as JSON: the shape that `docs` promise to programs. Knows no SQL."""

import json
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from tracert_analysis.report.facts import Act, Edge, Resource
from tracert_analysis.report.report import Report, Verdict


def render(report: Report) -> str:
    """The report as one JSON object, indented, with a line feed at the end."""
    return json.dumps(as_json(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values. Keys are stable: programs read them."""
    value = {field.name: plain(getattr(report, field.name)) for field in fields(report)}
    value["verdict"] = verdict(report.verdict)
    return {"title": report.title, **value}


def verdict(value: Verdict) -> dict[str, Any]:
    """The verdict, with its missing edge as `from`, `to`, `call`."""
    result = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    result["missing_edge"] = edge(value.missing_edge) if value.missing_edge else None
    return result


def edge(value: Edge) -> dict[str, Any]:
    """An edge: the two acts and the call that would order them."""
    return {
        "from": plain(value.earlier),
        "to": plain(value.later),
        "call": value.call,
        "reaches": value.reaches,
        "query": value.query,
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
        return asdict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value
