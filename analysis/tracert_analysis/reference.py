"""What the reference page is made of: the SQL library's comments, and types as DuckDB gives them.

Something public without a comment is refused: on the object, on a column, on a finding's first line.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from tracert_analysis import library
from tracert_analysis.comments import Column, Described, described


class UndocumentedError(Exception):
    """Something public has no comment; the message names it."""


@dataclass(frozen=True)
class Rule:
    """A finding's code, and the rule that it tells of when it is broken."""

    code: str
    sentence: str


def entries() -> list[Described]:
    """What is public, in the library's order, each column with its type. UndocumentedError, see `typed`."""
    connection = duckdb.connect()
    library.create_tables(connection)
    library.create_held(connection)
    library.create_state(connection)
    library.create_doubt(connection)
    library.create_access(connection)
    library.create_macros(connection)
    return [typed(connection, entry) for entry in commented(described())]


def commented(found: Iterable[Described]) -> list[Described]:
    """The objects, when each of them and of their columns has a comment; else UndocumentedError."""
    entries = list(found)
    for entry in entries:
        if not entry.comment:
            raise UndocumentedError(f"{entry.kind} {entry.name} has no comment above it")
        for column in entry.columns:
            if not column.comment:
                raise UndocumentedError(f"column {column.name} of {entry.name} has no comment above it")
    return entries


def typed(connection: duckdb.DuckDBPyConnection, entry: Described) -> Described:
    """The object with the types of its columns. UndocumentedError when its file lists others than it has.

    To ask a macro for its columns binds it: a column that it needs and nothing has is DuckDB's error.
    """
    if entry.statement == "MACRO":
        connection.execute(f"DESCRIBE SELECT {_called(entry)}")
        return entry
    name = _called(entry) if entry.kind == "macro" else entry.name
    types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE FROM {name}").fetchall()}
    if hidden := set(types) - {column.name for column in entry.columns}:
        raise UndocumentedError(
            f"{entry.name} has columns that its file does not list: {', '.join(sorted(hidden))}"
        )
    if unknown := [column.name for column in entry.columns if column.name not in types]:
        raise UndocumentedError(f"{entry.name} has no columns {', '.join(unknown)}, which its file lists")
    columns = (
        Column(
            column.name,
            "kind" if types[column.name].startswith("ENUM") else types[column.name],
            column.comment,
        )
        for column in entry.columns
    )
    return entry._replace(columns=tuple(columns))


def _called(entry: Described) -> str:
    """A call with some number for each parameter that has no default."""
    needed = sum(":=" not in parameter for parameter in entry.parameters)
    return f"{entry.name}({', '.join(['0'] * needed)})"


def rules() -> list[Rule]:
    """The rule of each finding: the first comment line of its file."""
    found = []
    files = dict.fromkeys(library.FINDINGS, "findings") | dict.fromkeys(library.RANK_FINDINGS, "ranks")
    for code, folder in sorted(files.items()):
        first = library.text(folder, code).splitlines()[0]
        if not first.startswith("-- ") or not first.endswith("."):
            raise UndocumentedError(f"{folder}/{code}.sql: the first line is not the rule in a sentence")
        found.append(Rule(code, first.removeprefix("-- ")))
    return found
