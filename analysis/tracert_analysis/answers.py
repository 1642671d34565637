"""Rows of an answer written as text: a table for people, JSON and CSV for programs.

Each writer takes the answer and a text file. Knows nothing of where the rows come from.
"""

import csv
import json
import math
import textwrap
from itertools import islice, zip_longest
from typing import Any, Literal, Protocol, get_args

from tracert_analysis.marks import escaped, marks
from tracert_analysis.safe_query import Answer

Format = Literal["table", "json", "csv"]
FORMATS: tuple[str, ...] = get_args(Format)

TABLE_ROWS = 2000
"""More rows than this are no table for people: the rest is counted, not shown."""
TABLE_TEXT = 16 << 20
"""Nor is more text than this."""
COUNTED_ROWS = 100_000
"""Nobody waits for more to be counted."""
WRAPPED = 24
"""The last column of a table is not wrapped to less than this."""
BELOW = 20
"""So few rows that are wider than the screen stand with their columns one below the other."""
FRAME = "\N{BOX DRAWINGS LIGHT VERTICAL}"
HEAD = 160
"""A longer head is not printed over no rows."""


class Out(Protocol):
    """What an answer is written to."""

    def write(self, text: str, /) -> object:
        """Take the text."""


def write_answer(answer: Answer, form: Format, out: Out, width: int | None = None) -> None:
    """The whole answer in the format asked for; a table for a screen so many characters wide, if it is."""
    if form == "table":
        write_table(answer, out, width)
    else:
        {"json": write_json, "csv": write_csv}[form](answer, out)


def write_table(answer: Answer, out: Out, width: int | None = None) -> None:
    """Aligned columns, numbers to the right; columns without any value are named, not shown.

    The tables of a dump are wide and sparse (one table holds all kinds of events). Where they are wider than
    `width`, text in the last column is wrapped, or the columns of a few rows stand one below the other.
    """
    rows, text = [], 0
    for row in islice(answer.rows, TABLE_ROWS):
        rows.append(row)
        text += sum(len(value) if isinstance(value, str) else 8 for value in row)
        if text > TABLE_TEXT:
            break
    rest = sum(1 for _ in islice(answer.rows, COUNTED_ROWS))
    every = range(len(answer.columns))
    filled = [index for index in every if not rows or any(row[index] is not None for row in rows)]
    cells = [[answer.columns[index] for index in filled]]
    cells += [[cell(row[index]) for index in filled] for row in rows]
    numeric = [all(isinstance(row[index], int | float | None) for row in rows) for index in filled]
    cells = [["\n".join(map(marks, text.split("\n"))) for text in line] for line in cells]
    if not rows and sum(len(name) + 2 for name in cells[0]) > (width or HEAD):
        out.write(f"(0 rows, {len(cells[0])} columns)\n")
        return
    if any("\n" in text for line in cells for text in line):
        _write_blocks(cells, out, width)
    elif width is None or _width(cells) <= width:
        _write_grid([[[text] for text in line] for line in cells], numeric, out)
    elif (room := width - _width([[*line[:-1], ""] for line in cells])) >= WRAPPED and not numeric[-1]:
        wrapped = [[*([text] for text in line[:-1]), textwrap.wrap(line[-1], room) or [""]] for line in cells]
        _write_grid(wrapped, numeric, out)
    elif len(rows) <= BELOW:
        _write_blocks(cells, out, width)
    else:
        _write_grid([[[text] for text in line] for line in cells], numeric, out)
    noun = "row" if len(rows) + rest == 1 else "rows"
    more = "more than " if rest == COUNTED_ROWS else ""
    out.write(f"({more}{len(rows) + rest} {noun}{f', the first {len(rows)} shown' if rest else ''})\n")
    if empty := [name for index, name in enumerate(answer.columns) if index not in filled]:
        out.write(f"(no value in: {', '.join(empty)})\n")


def _width(cells: list[list[str]]) -> int:
    """How wide the grid is."""
    return sum(max(map(len, column)) + 2 for column in zip(*cells, strict=True)) - 2


def _write_grid(cells: list[list[list[str]]], numeric: list[bool], out: Out) -> None:
    """Rows of cells, each a few lines high."""
    widths = [max(len(line) for cell in column for line in cell) for column in zip(*cells, strict=True)]
    for number, row in enumerate(cells):
        for line in zip_longest(*row, fillvalue=""):
            padded = [
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(line, widths, numeric, strict=True)
            ]
            out.write("  ".join(padded).rstrip() + "\n")
        if number == 0:
            out.write("  ".join("-" * width for width in widths) + "\n")


def _folded(text: str, width: int | None) -> str:
    """Its lines no wider than this, but for drawings, such as a plan, which would fall apart."""
    if width is None or FRAME in text:
        return text
    lines = [textwrap.wrap(line, width, replace_whitespace=False) or [""] for line in text.split("\n")]
    return "\n".join(part for line in lines for part in line)


def _write_blocks(cells: list[list[str]], out: Out, width: int | None) -> None:
    """Columns one below the other: values of several lines (plans, definitions), or wider than the screen."""
    for number, line in enumerate(cells[1:]):
        if number:
            out.write("\n")
        for name, text in zip(cells[0], line, strict=True):
            told = f"{name}:\n{text.rstrip()}" if "\n" in text else f"{name}: {text}"
            out.write(f"{_folded(told, width)}\n")


def cell(value: Any) -> str:
    """A value as people read it: nothing for NULL, lists and structs as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def write_json(answer: Answer, out: Out) -> None:
    """One array with an object a row, each on a line of its own."""
    names = distinct(answer.columns)
    out.write("[")
    separator = "\n"
    for row in answer.rows:
        values = dict(zip(names, map(finite, row), strict=True))
        out.write(separator + escaped(json.dumps(values, ensure_ascii=False)))
        separator = ",\n"
    out.write("\n]\n" if separator == ",\n" else "]\n")


def write_csv(answer: Answer, out: Out) -> None:
    """A head and the rows, as RFC 4180 has it but with single line feeds; NULL is empty."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(answer.columns)
    for row in answer.rows:
        writer.writerow(map(cell, row))


def distinct(names: list[str]) -> list[str]:
    """The names, with a number behind each that was there before: an object cannot hold one twice."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def finite(value: Any) -> Any:
    """The value, with null for what JSON cannot say: NaN and the infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    return value
