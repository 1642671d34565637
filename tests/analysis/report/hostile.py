"""Text that somebody may have put where a dump keeps names, and a report in which it stands everywhere."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tracert_analysis.report.report import Report

from tests.analysis.report.example import report

HOSTILE: Mapping[str, str] = {
    "script": "<script>alert(1)</script>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "comment": "--><img src=x onerror=alert(1)><!--",
    "style": "</style><script>alert(1)</script>",
    "details": "</details></pre></svg><h1>owned</h1>",
    "template": "{{ 7 * 7 }}{% for x in y %}",
    "escape": "\x1b]0;owned\x07\x1b[2J",
    "c1": "\x9b31mred",
    "direction": "abc\u202edcba\u2066x",
    "newlines": "one\r\ntwo\n\n# three\n- four",
    "separators": "a\u2028b\u2029c\x85d",
    "fence": "```\n# out\n`````` ````",
    "table": "a | b |---|---|",
    "mention": "@octocat #123 GH-45 octocat/hello#6 https://evil.example www.evil.example :bomb:",
    "emphasis": "**bold** _it_ ~~gone~~ [x](http://evil.example) ![i](http://evil.example/p.png) $x^2$",
    "heading": "# title",
    "null": "a\x00b",
    "invisible": "pay\u200bload\ufeff\u00ad",
    "surrogate": "half \ud800 pair",
    "long word": "A" * 1_000_000,
    "long text": "ab " * 350_000,
}


def poisoned(text: str) -> Report:
    """The report of the example, with `text` behind every name, sentence and label in it."""
    return _poisoned(report(), text)  # type: ignore[no-any-return]


def _poisoned(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return f"{value} {text}"
    if isinstance(value, tuple):
        return tuple(_poisoned(item, text) for item in value)
    if isinstance(value, dict):
        return {name: _poisoned(item, text) for name, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _poisoned(getattr(value, field.name), text) for field in fields(value)}
        return replace(value, **parts)
    return value
