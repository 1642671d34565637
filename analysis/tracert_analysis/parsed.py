"""Statements of the SQL library, parsed once a process."""

from functools import cache
from typing import Any

import duckdb


def first(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...] | None:
    """The first row of a query; None where it has none."""
    return connection.execute(parsed(connection, query)).fetchone()


def parsed(connection: duckdb.DuckDBPyConnection, written: str) -> duckdb.Statement:
    """The statement, parsed once a process: for the whole library that takes 50 ms."""
    kept = _kept()
    if written not in kept:
        (kept[written],) = connection.extract_statements(written)
    return kept[written]


@cache
def _kept() -> dict[str, duckdb.Statement]:
    return {}
