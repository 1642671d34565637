"""The comments of the SQL library: above every public object and column stands what it is.

Read from the files themselves, so that the reference, `.tables` and `.schema` say what the files say. Names
that start with `_` are private, and left out.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import duckdb

from tracert_analysis import library

CREATE = re.compile(r"CREATE (TABLE|VIEW|MACRO) \"?(\w+)\"?(?:\((.*?)\))?( AS TABLE)?", re.IGNORECASE)
COLUMN = re.compile(r"\s+\"?(\w+)\"?(?: (.+?))?,?$")
COMMENT = re.compile(r"\s*-- ?(.*)$")

FOLDERS = {
    "tables": library.TABLES,
    "views": library.STATE + library.DOUBT + library.ACCESS,
    "macros": library.MACROS,
}


class Column(NamedTuple):
    """A column of a table or view; the type is None where the file leaves it to the query."""

    name: str
    type: str | None
    comment: str


class Described(NamedTuple):
    """A public table, view or macro. `kind` is what it is to its user: a view may be stored as a table."""

    name: str
    kind: str
    comment: str
    parameters: tuple[str, ...]
    columns: tuple[Column, ...]
    statement: str
    """How a COMMENT statement names its kind: TABLE, VIEW, MACRO or MACRO TABLE."""


def described() -> list[Described]:
    """Every public object of the library, in its order."""
    kinds = {"tables": "table", "views": "view", "macros": "macro"}
    return [
        found
        for folder, names in FOLDERS.items()
        for name in names
        for found in parse(library.text(folder, name), kinds[folder])
    ]


def parse(text: str, kind: str) -> Iterator[Described]:
    """The public objects that one file creates."""
    lines = text.splitlines()
    remarks: list[str] = []
    for number, line in enumerate(lines):
        if remark := COMMENT.fullmatch(line):
            remarks.append(remark.group(1))
            continue
        made = CREATE.match(line)
        if made and not made.group(2).startswith("_"):
            word, name, parameters, as_table = made.groups()
            statement = word.upper() + (" TABLE" if as_table else "")
            listed = word.upper() != "MACRO" and line.rstrip().endswith("(")
            yield Described(
                name=name,
                kind=kind,
                comment=" ".join(remarks),
                parameters=tuple(part.strip() for part in (parameters or "").split(",") if part.strip()),
                columns=tuple(_columns(lines[number + 1 :])) if listed else (),
                statement=statement,
            )
        remarks = []


def _columns(lines: list[str]) -> Iterator[Column]:
    """Columns and their comments, up to the closing bracket."""
    remarks: list[str] = []
    for line in lines:
        if line.startswith(")"):
            return
        if remark := COMMENT.fullmatch(line):
            remarks.append(remark.group(1))
        elif column := COLUMN.match(line):
            yield Column(column.group(1), column.group(2), " ".join(remarks))
            remarks = []


def write_comments(connection: duckdb.DuckDBPyConnection) -> None:
    """Give the objects of a loaded dump their comments, for whoever looks at its catalog."""
    for found in described():
        connection.execute(f'COMMENT ON {found.statement} "{found.name}" IS {_quoted(found.comment)}')
        for column in found.columns:
            name = f'"{found.name}"."{column.name}"'
            connection.execute(f"COMMENT ON COLUMN {name} IS {_quoted(column.comment)}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
