"""The comments of the SQL library: above every public object and column stands what it is.

Above a table macro, its columns stand behind it, a line `-- * column: what it is.` each. Read from the files
themselves, so that the reference, `.tables` and `.schema` say what the files say. Names that start with `_`
are private, and left out.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import duckdb

from tracert_analysis import library

CREATE = re.compile(r"CREATE (TABLE|VIEW|MACRO) \"?(\w+)\"?(?:\((.*?)\))?( AS TABLE)?", re.IGNORECASE)
COLUMN = re.compile(r"\s+\"?(\w+)\"?(?: (.+?))?,?$")
COMMENT = re.compile(r"\s*-- ?(.*)$")
ANSWERED = re.compile(r"\* (\w+): (.*)")

RANKS = ("rank", "decision")
FOLDERS = {
    "tables": library.TABLES,
    "views": library.HELD + library.STATE + library.DOUBT + library.ACCESS,
    "macros": library.MACROS,
}


class Column(NamedTuple):
    """A column of a table, a view or an answer; the type is None where the file leaves it to the query."""

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


def of_ranks() -> list[Described]:
    """The public tables that dumps of several ranks have beside, and views over what each of them has."""
    beside = [found for name in RANKS for found in parse(library.text("ranks", name), "view")]
    return [*beside, *(one._replace(statement="VIEW") for one in described() if one.kind != "macro")]


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
            comment, answered = _answered(remarks)
            yield Described(
                name=name,
                kind=kind,
                comment=comment,
                parameters=tuple(part.strip() for part in (parameters or "").split(",") if part.strip()),
                columns=tuple(_columns(lines[number + 1 :])) if listed else answered,
                statement=statement,
            )
        remarks = []


def _answered(remarks: list[str]) -> tuple[str, tuple[Column, ...]]:
    """What an object is, and the columns that the comment above it lists."""
    said: list[str] = []
    columns: list[Column] = []
    for remark in remarks:
        if column := ANSWERED.fullmatch(remark):
            columns.append(Column(column[1], None, column[2]))
        elif columns:
            columns[-1] = columns[-1]._replace(comment=f"{columns[-1].comment} {remark.strip()}")
        else:
            said.append(remark)
    return " ".join(said), tuple(columns)


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


def write_comments(connection: duckdb.DuckDBPyConnection, objects: Iterable[Described] | None = None) -> None:
    """Give the objects of a loaded dump their comments, for whoever looks at its catalog.

    The columns of a macro's answer have no place of their own there: they follow its comment, one a line.
    """
    # In one transaction: a file is written to once.
    connection.begin()
    for found in described() if objects is None else objects:
        of_macro = found.kind == "macro"
        lines = [found.comment, *(f"{one.name}: {one.comment}" for one in found.columns if of_macro)]
        text = _quoted("\n".join(lines))
        connection.execute(f'COMMENT ON {found.statement} "{found.name}" IS {text}')
        for column in () if of_macro else found.columns:
            name = f'"{found.name}"."{column.name}"'
            connection.execute(f"COMMENT ON COLUMN {name} IS {_quoted(column.comment)}")
    connection.commit()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
