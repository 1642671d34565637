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
    """Everything public, in the order of the library, each column with its type."""
    connection = duckdb.connect()
    library.create_tables(connection)
    library.create_state(connection)
    library.create_doubt(connection)
    library.create_access(connection)
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
    """The object with the types of its columns. UndocumentedError when it has columns that its file hides."""
    if entry.kind == "macro" or not entry.columns:
        return entry
    types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {entry.name}").fetchall()}
    if hidden := set(types) - {column.name for column in entry.columns}:
        raise UndocumentedError(f"{entry.name} has columns that its file does not list: {', '.join(hidden)}")
    columns = (
        Column(
            column.name,
            "kind" if types[column.name].startswith("ENUM") else types[column.name],
            column.comment,
        )
        for column in entry.columns
    )
    return entry._replace(columns=tuple(columns))


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
