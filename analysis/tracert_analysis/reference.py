"""What the SQL files say about themselves: a comment above every public object and every column of it.

The reference page is made of this, and a file that leaves something without a comment is refused. Types
are DuckDB's own answer, asked of the tables of a dump without events.
"""

import re
from dataclasses import dataclass, replace

import duckdb

from tracert_analysis import library

_CREATE = re.compile(r"CREATE (TABLE|VIEW|MACRO|TYPE) (\w+)")
_COLUMN = re.compile(r'"?(\w+)"?')


class UndocumentedError(Exception):
    """Something public has no comment; the message names the file and the thing."""


@dataclass(frozen=True)
class Column:
    """A column of a table or view."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True)
class Entry:
    """A public table, view or macro. `signature` is how one writes it in a query."""

    form: str
    """table, view (also one that is stored), macro or type."""
    name: str
    signature: str
    comment: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Rule:
    """A finding's code, and the rule that it tells of when it is broken."""

    code: str
    sentence: str


def entries() -> list[Entry]:
    """Everything public, in the order of the library."""
    connection = duckdb.connect()
    library.create_tables(connection)
    library.create_state(connection)
    library.create_access(connection)
    found = []
    for folder, names in (
        ("tables", library.TABLES),
        ("views", (*library.STATE, *library.ACCESS)),
        ("macros", library.MACROS),
    ):
        for name in names:
            for one in parse(f"{folder}/{name}", library.text(folder, name)):
                types = _types(connection, one.name) if one.columns else {}
                columns = tuple(replace(column, type=types[column.name]) for column in one.columns)
                form = "view" if folder == "views" else one.form
                found.append(replace(one, form=form, columns=columns))
    return found


def rules() -> list[Rule]:
    """The rule of each finding: the first comment line of its file."""
    found = []
    for code in library.FINDINGS:
        first = library.text("findings", code).splitlines()[0]
        if not first.startswith("-- ") or not first.endswith("."):
            raise UndocumentedError(f"findings/{code}.sql: the first line is not the rule in a sentence")
        found.append(Rule(code, first.removeprefix("-- ")))
    return found


def parse(file: str, text: str) -> list[Entry]:
    """The public objects in a file, without types. UndocumentedError where a comment is missing."""
    found = []
    lines = text.splitlines()
    for place, line in enumerate(lines):
        match = _CREATE.match(line)
        if not match or match[2].startswith("_"):
            continue
        form, name = match[1].lower(), match[2]
        comment = _above(lines, place)
        if not comment:
            raise UndocumentedError(f"{file}.sql: {name} has no comment above it")
        columns = _columns(file, lines[place + 1 :]) if form in ("table", "view") else []
        signature = line[len("CREATE MACRO ") : line.index(")") + 1] if form == "macro" else name
        found.append(Entry(form, name, signature, comment, tuple(columns)))
    return found


def _columns(file: str, lines: list[str]) -> list[Column]:
    found = []
    for place, line in enumerate(lines):
        if line.startswith(")"):
            break
        match = _COLUMN.match(line.strip())
        if match:
            comment = _above(lines, place)
            if not comment:
                raise UndocumentedError(f"{file}.sql: column {match[1]} has no comment above it")
            found.append(Column(match[1], "", comment))
    return found


def _above(lines: list[str], place: int) -> str:
    """The comment lines directly above a line, as one text."""
    begin = place
    while begin > 0 and lines[begin - 1].strip().startswith("--"):
        begin -= 1
    return " ".join(line.strip().removeprefix("--").strip() for line in lines[begin:place])


def _types(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE {name}").fetchall()
    return {row[0]: "kind" if row[1].startswith("ENUM") else row[1] for row in rows}
