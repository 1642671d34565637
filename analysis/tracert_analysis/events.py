"""Reads the events of a dump into its tables: in C where it was built, else through DuckDB's reader.

A line that is no event is left out and counted. A value that does not fit its column is null and counted (in
C only), and a kind that this reader does not know is null. The columns of the tables say what is read.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import duckdb

from tracert_analysis.beside import beside
from tracert_analysis.columns import columns_of
from tracert_analysis.families import KINDS, REST, TABLES, spread
from tracert_analysis.frame import LINE_BYTES_MAX
from tracert_analysis.lines import Lines
from tracert_analysis.native import native_reader
from tracert_analysis.source import Source

_SEQ_MAX = (1 << 62) - 1
_AS_JSON = {"pages": "JSON", "device": "JSON"}
"""Fields whose type depends on the kind."""
_NOT_READ = ("page_count", "keyframe_pages")
_SELECT = {
    "device": "TRY_CAST(device AS BOOLEAN)",
    "pages": (
        "CASE WHEN json_type(pages, '$[0]') = 'ARRAY' OR "
        "json_type(pages) = 'ARRAY' AND json_array_length(pages) = 0 THEN TRY_CAST(pages AS BIGINT[][]) END"
    ),
    "page_count": "CASE WHEN json_type(pages) = 'UBIGINT' THEN TRY_CAST(pages AS UBIGINT) END",
    "keyframe_pages": (
        "CASE WHEN kind = 'keyframe' THEN TRY_CAST(pages AS "
        "STRUCT(page UINTEGER, life UINTEGER, state VARCHAR, holders VARCHAR[])[]) END"
    ),
}


class Unread(NamedTuple):
    """What was left out."""

    lines: int
    """Lines that are no event."""
    values: int
    """Values that are not of their column's type."""


def load_events(
    connection: duckdb.DuckDBPyConnection, source: Source, *, native: bool | None = None
) -> Unread:
    """Fill the tables of events. `native` None takes C when it was built."""
    # Events are read out of order, which takes a third less: nothing below depends on how rows lie.
    connection.execute("SET preserve_insertion_order = false")
    try:
        if native_reader() if native is None else native:
            try:
                return _natively(connection, source)
            except ValueError:
                # A ring of another version, whose schema does not fit these tables.
                return _natively(connection, source.lines())
        return Unread(_strictly_or_not(connection, source.lines()), 0)
    finally:
        connection.execute("SET preserve_insertion_order = true")


def _natively(connection: duckdb.DuckDBPyConnection, source: Source) -> Unread:
    parts = source.parts()
    if len(parts) == 1:
        return _Reader(connection).read(source, parts)
    # To read holds one core, and what the database does with rows not two: two of both take half the time.
    with ThreadPoolExecutor(2) as pool:
        readers = [_Reader(beside(connection)) for _ in range(2)]
        found = list(pool.map(_Reader.read, readers, (source, source), (parts[0::2], parts[1::2])))
    return Unread(sum(one.lines for one in found), sum(one.values for one in found))


class _Reader:
    """Reads events in C, and puts them into the tables of a connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        tables = [connection.table(table) for table in TABLES]
        self._columns = tuple(columns_of(table) for table in tables)
        self._inserts = [_insert(name, table.columns) for name, table in zip(TABLES, tables, strict=True)]

    def read(self, source: Source, parts: Sequence[Any]) -> Unread:
        """Read parts of a source."""
        module = native_reader()
        assert module is not None
        events = module.Events(self._columns, KINDS)
        read = source.reader(self._columns)
        # In one transaction: to append to rows that are there already takes several times as long.
        self._connection.begin()
        try:
            for part in parts:
                read(events, part)
                for number, insert in enumerate(self._inserts):
                    waiting = events.waiting(number)
                    if len(waiting):
                        self._connection.execute(insert)
        except ValueError:
            self._connection.rollback()
            raise
        self._connection.commit()
        return Unread(events.bad_lines, events.refused_values)


def _insert(table: str, columns: Sequence[str]) -> str:
    """Takes what is called `waiting`."""
    select = ", ".join("TRY_CAST(kind AS kind)" if name == "kind" else f'"{name}"' for name in columns)
    return f"INSERT INTO {table} SELECT {select} FROM waiting WHERE seq BETWEEN 1 AND {_SEQ_MAX}"


def _strictly_or_not(connection: duckdb.DuckDBPyConnection, source: Lines) -> int:
    try:
        _insert_events(connection, source, tolerant=False)
        return 0
    except duckdb.Error:
        pass
    _insert_events(connection, source, tolerant=True)
    counted = connection.execute(
        f"SELECT count(*) FROM {_scan(source, {'kind': 'VARCHAR'}, tolerant=True)} WHERE kind IS NULL",
        {"path": source.path},
    ).fetchall()
    return int(counted[0][0])


def _insert_events(connection: duckdb.DuckDBPyConnection, source: Lines, *, tolerant: bool) -> None:
    types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {REST}").fetchall()}
    read = {**{name: kind for name, kind in types.items() if name not in _NOT_READ}, **_AS_JSON}
    select = ", ".join(_SELECT.get(name, f'"{name}"') for name in types)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE _wide AS FROM {REST} LIMIT 0")
    connection.execute(
        f"INSERT INTO _wide SELECT {select} FROM {_scan(source, read, tolerant=tolerant)} "
        f"WHERE seq BETWEEN 1 AND {_SEQ_MAX}",
        {"path": source.path},
    )
    spread(connection, "_wide")
    connection.execute("DROP TABLE _wide")


def _scan(source: Lines, columns: dict[str, str], *, tolerant: bool) -> str:
    quoted = {name: kind.replace("'", "''") for name, kind in columns.items()}
    shape = ", ".join(f"'{name}': '{kind}'" for name, kind in quoted.items())
    return (
        f"read_json($path, format = 'newline_delimited', columns = {{{shape}}}, compression = 'none', "
        f"maximum_object_size = {LINE_BYTES_MAX}, ignore_errors = {str(tolerant).lower()})"
    )
