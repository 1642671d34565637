"""The report as text for a terminal or a ticket: the answer first, the evidence after it. Knows no SQL.

`[3]` behind a line is the number of the query that gave it; the queries stand at the end, when asked for.
"""

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from tracert_analysis.report.document import Block, Document, Drawing, Facts, Listing, Table, Tone
from tracert_analysis.report.layout import lay_out
from tracert_analysis.report.report import Report

WIDTH = 110
NARROWEST = 60


class Line(NamedTuple):
    """A line of text, and what of it is worth a colour."""

    text: str
    style: Tone | str = "plain"
    """A tone, or title, sentence, head, drawing, code."""
    label: int = 0
    """So many characters at its start are a label."""


def render(report: Report, show_sql: bool = False) -> str:
    """The whole report. `show_sql` adds the queries; without it a line says how many there are."""
    return "".join(f"{line.text}\n" for line in lines(lay_out(report), show_sql))


def lines(document: Document, show_sql: bool, width: int = WIDTH) -> Iterator[Line]:
    """The lines of a report; only the title, drawings, tables and words without a gap may be wider."""
    width = max(width, NARROWEST)
    yield Line(document.title, "title")
    yield Line("")
    yield from (Line(text, "sentence") for text in wrap(document.sentence, width))
    asked = 0
    for section in document.sections:
        if section.key == "queries" and not show_sql:
            asked = len(section.blocks)
            continue
        yield Line("")
        if section.title:
            yield Line(section.title, "head")
        margin = "  " if section.title else ""
        for number, block in enumerate(section.blocks):
            if number and Drawing in (type(block), type(section.blocks[number - 1])):
                yield Line("")
            for line in _block(block, width - len(margin)):
                label = line.label + len(margin) if line.label else 0
                yield Line(f"{margin}{line.text}".rstrip(), line.style, label)
    if asked:
        yield Line("")
        told = f"[n] is the query behind a line: --show-sql prints all {asked}, --format json has them."
        yield from (Line(text, "quiet") for text in wrap(told, width))


def _block(block: Block, width: int) -> Iterator[Line]:
    if isinstance(block, Facts):
        for fact in block.rows:
            yield from _fact(fact.label, f"{fact.text}{cite(fact.queries)}", fact.tone, block.indent, width)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Listing):
        yield Line(f"[{block.number}] {block.about}")
        yield from (Line(f"    {text}", "code") for text in block.code.splitlines())
    else:
        yield from (Line(text, "drawing") for text in block.lines)
        if block.signs:
            yield from (Line(text, "quiet") for text in wrap(block.signs, width))


def _fact(label: str, text: str, tone: Tone, indent: int, width: int) -> Iterator[Line]:
    start = f"{label:<{indent - 1}} " if indent else ""
    wrapped = textwrap.wrap(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for number, line in enumerate(wrapped or [label]):
        yield Line(line, tone, len(label) if number == 0 else 0)


def _table(table: Table) -> Iterator[Line]:
    widths = [max(map(len, column)) for column in zip(table.head, *table.rows, strict=True)]
    for number, cells in enumerate((table.head, *table.rows)):
        text = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        yield Line(text, "quiet" if number == 0 else "plain")


def cite(numbers: tuple[int, ...]) -> str:
    """References to queries."""
    return "".join(f" [{number}]" for number in numbers if number)


def wrap(text: str, width: int) -> list[str]:
    """A paragraph."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
