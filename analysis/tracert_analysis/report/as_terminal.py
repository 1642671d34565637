"""The report on a terminal: the same lines as in a file, as wide as it is, in colours.

What is wrong is red, what mends it green, labels stand out, references to queries stay back. Colours follow
what the terminal can do, and `NO_COLOR`.
"""

import re

from rich.console import Console
from rich.text import Text

from tracert_analysis.report.as_text import Line, lines
from tracert_analysis.report.layout import lay_out
from tracert_analysis.report.report import Report

WIDEST = 140
"""Longer lines are hard to read, however wide the terminal."""

STYLES = {
    "title": "bold",
    "head": "bold",
    "bad": "red",
    "good": "green",
    "quiet": "dim",
    "code": "dim",
}

_CITED = re.compile(r" \[\d+\]")
_MARKED = re.compile(r"!|\^+|NO FENCE|^> .*")


def show(report: Report, console: Console, show_sql: bool = False) -> None:
    """Print the report on a console."""
    for line in lines(lay_out(report), show_sql, min(console.width, WIDEST)):
        console.print(_styled(line), soft_wrap=True, highlight=False)


def _styled(line: Line) -> Text:
    text = Text(line.text, STYLES.get(line.style, ""))
    if line.label:
        text.stylize("bold cyan", 0, line.label)
    if line.style == "drawing":
        text.highlight_regex(_MARKED, "bold red")
    elif line.style != "code":
        text.highlight_regex(_CITED, "dim")
    return text
