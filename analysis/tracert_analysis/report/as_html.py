"""The report as one HTML file that needs nothing else: no network, no script, light and dark.

Every text of the dump passes jinja2's escaping, and a Content-Security-Policy allows the page its own style
sheet and nothing more, so that even a text that got through could neither run nor load.
"""

import hashlib
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from tracert_analysis.report.document import Block, Drawing, Fact, Facts, Section, Table
from tracert_analysis.report.layout import lay_out
from tracert_analysis.report.report import Report

SHORT = frozenset({"ranks", "acquitted", "streams", "new", "others", "evidence", "reproduce"})
"""Sections that stay together on one sheet of paper."""

_CODE = re.compile("`([^`\n]+)`")


def render(report: Report) -> str:
    """The whole file."""
    document = lay_out(report)
    style = _source("report.css")
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment()
        .get_template("report.html")
        .render(
            document=document,
            sections=[_section(section) for section in document.sections],
            style=Markup(style),
            style_hash=Markup(f"sha256-{digest}"),
        )
    )


def _section(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "folded": section.folded,
        "short": section.key in SHORT,
        "blocks": [_block(block) for block in section.blocks],
    }


def _block(block: Block) -> dict[str, Any]:
    """A block with what the template can't find out: its kind, and facts that share a label together."""
    if isinstance(block, Facts):
        labelled = any(fact.label for fact in block.rows)
        return {"kind": "facts" if labelled else "list", "block": block, "groups": _groups(block)}
    if isinstance(block, Table):
        return {"kind": "table", "block": block}
    if isinstance(block, Drawing):
        return {"kind": "drawing", "block": block, "text": "\n".join(block.lines)}
    return {"kind": "listing", "block": block}


def _groups(block: Facts) -> list[list[Fact]]:
    groups: list[list[Fact]] = []
    for fact in block.rows:
        if fact.label or not groups:
            groups.append([])
        groups[-1].append(fact)
    return groups


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["point"] = lambda value: f"{value:.1f}"
    environment.filters["coded"] = _coded
    return environment


def _coded(text: str) -> Markup:
    """The text, escaped; what stands between backticks as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def _source(name: str) -> str:
    return (files("tracert_analysis") / "report" / "templates" / name).read_text(encoding="utf-8")
