"""Rows of an answer written as text: a table for people, JSON and CSV for programs.

Each writer takes the answer and a text file. Knows nothing of where the rows come from.
"""

import csv
import json
import math
from itertools import islice
from typing import IO, Any, Literal, get_args

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


def write_answer(answer: Answer, form: Format, out: IO[str]) -> None:
    """The whole answer in the format asked for."""
    {"table": write_table, "json": write_json, "csv": write_csv}[form](answer, out)


def write_table(answer: Answer, out: IO[str]) -> None:
    """Aligned columns, numbers to the right; columns without any value are named, not shown.

    The tables of a dump are wide and sparse (one table holds all kinds of events).
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
    if any("\n" in text for line in cells for text in line):
        _write_blocks(cells, out)
    else:
        _write_grid(cells, numeric, out)
    noun = "row" if len(rows) + rest == 1 else "rows"
    more = "more than " if rest == COUNTED_ROWS else ""
    out.write(f"({more}{len(rows) + rest} {noun}{f', the first {len(rows)} shown' if rest else ''})\n")
    if empty := [name for index, name in enumerate(answer.columns) if index not in filled]:
        out.write(f"(no value in: {', '.join(empty)})\n")


def _write_grid(cells: list[list[str]], numeric: list[bool], out: IO[str]) -> None:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for number, line in enumerate(cells):
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        out.write("  ".join(padded).rstrip() + "\n")
        if number == 0:
            out.write("  ".join("-" * width for width in widths) + "\n")


def _write_blocks(cells: list[list[str]], out: IO[str]) -> None:
    """Values of several lines (plans, definitions) one below the other."""
    for line in cells[1:]:
        for name, text in zip(cells[0], line, strict=True):
            out.write(f"{name}:\n{text.rstrip()}\n" if "\n" in text else f"{name}: {text}\n")


def cell(value: Any) -> str:
    """A value as people read it: nothing for NULL, lists and structs as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def write_json(answer: Answer, out: IO[str]) -> None:
    """One array with an object a row, each on a line of its own."""
    names = distinct(answer.columns)
    out.write("[")
    separator = "\n"
    for row in answer.rows:
        values = dict(zip(names, map(finite, row), strict=True))
        out.write(separator + escaped(json.dumps(values, ensure_ascii=False)))
        separator = ",\n"
    out.write("\n]\n" if separator == ",\n" else "]\n")


def write_csv(answer: Answer, out: IO[str]) -> None:
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
