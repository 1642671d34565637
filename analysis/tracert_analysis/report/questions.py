"""The queries that a report asks, kept with their text: the reader of a report can ask each again.

A question's SQL stands whole, with its values in it, as `tracert sql` takes it.
"""

from collections.abc import Mapping
from string import Template
from typing import Any, NamedTuple

import duckdb

from tracert_analysis.report.report import Query

Row = dict[str, Any]


class Told(NamedTuple):
    """What the history says to one question."""

    query: int
    """The question's number, from 1."""
    rows: list[Row]

    @property
    def first(self) -> Row | None:
        """The only row, or the first; None when there is none."""
        return self.rows[0] if self.rows else None


class Questions:
    """Asks a loaded dump, and remembers what it asked. The same question twice is one."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._told: dict[str, Told] = {}
        self.asked: list[Query] = []
        self.unanswered: list[str] = []
        """What a damaged history could not answer, a sentence each."""

    def ask(self, about: str, sql: str, **values: int | str | None) -> Told:
        """Ask `sql` with `$name` standing for values; `about` says in a few words what the answer tells.

        A history that contradicts itself (the same launch twice) can make a query fail: then there are no
        rows, and `unanswered` says so. One question less is better than no report.
        """
        text = filled(sql, values)
        if text not in self._told:
            self.asked.append(Query(len(self.asked) + 1, about, text))
            try:
                rows = self._fetch(text)
            except duckdb.Error as error:
                self.unanswered.append(f"{about}: {str(error).splitlines()[0]}")
                rows = []
            self._told[text] = Told(len(self.asked), rows)
        return self._told[text]

    def rows(self, sql: str, **values: int | str | None) -> list[Row]:
        """Rows that no line of the report is about: they are not kept."""
        return self._fetch(filled(sql, values))

    def _fetch(self, text: str) -> list[Row]:
        result = self._connection.execute(text)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def filled(sql: str, values: Mapping[str, int | str | None]) -> str:
    """The SQL with its values where `$name` stood."""
    return Template(sql).substitute({name: literal(value) for name, value in values.items()}).strip()


def literal(value: int | str | None) -> str:
    """A value as SQL has it."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"
