"""Reads the events of a dump into the table `event`: in C where it was built, else through DuckDB's reader.

A line that is no event is left out and counted. A value that does not fit its column is null, and so is a
kind that this reader does not know. The columns of the table say what is read.
"""

import importlib
from functools import cache
from types import ModuleType
from typing import Any

import duckdb

from tracert_analysis.source import LINE_BYTES_MAX, Frame, Source

_SEQ_MAX = (1 << 62) - 1
_TYPES = {
    "ubigint": 0,
    "uinteger": 1,
    "usmallint": 2,
    "bigint": 3,
    "integer": 4,
    "boolean": 5,
    "varchar": 6,
    "enum": 6,
    "json": 7,
    "list": 8,
    "struct": 9,
}
"""As `native/column.h` numbers them."""
_ANY, _NUMBER, _LISTS, _OBJECTS = range(4)
_LOOKS = {"pages": ("pages", _LISTS), "keyframe_pages": ("pages", _OBJECTS), "page_count": ("pages", _NUMBER)}
"""Columns that share a key: which one a value goes to is seen by what it looks like."""

_AS_JSON = {"pages": "JSON", "device": "JSON"}
"""Fields whose type depends on the kind."""
_NOT_READ = ("page_count", "keyframe_pages")
_SELECT = {
    "device": "TRY_CAST(device AS BOOLEAN)",
    "pages": "CASE WHEN json_type(pages, '$[0]') = 'ARRAY' THEN TRY_CAST(pages AS BIGINT[][]) END",
    "page_count": "CASE WHEN json_type(pages) = 'UBIGINT' THEN TRY_CAST(pages AS UBIGINT) END",
    "keyframe_pages": (
        "CASE WHEN kind = 'keyframe' THEN TRY_CAST(pages AS "
        "STRUCT(page UINTEGER, life UINTEGER, state VARCHAR, holders VARCHAR[])[]) END"
    ),
}


def load_events(
    connection: duckdb.DuckDBPyConnection, source: Source, frame: Frame, *, native: bool | None = None
) -> int:
    """Fill `event`; returns the number of lines that are none. `native` None takes C when it was built."""
    # Lines are read out of order, which takes a third less: nothing below depends on how rows lie.
    connection.execute("SET preserve_insertion_order = false")
    try:
        if _module() if native is None else native:
            return _natively(connection, source, frame)
        return _strictly_or_not(connection, source)
    finally:
        connection.execute("SET preserve_insertion_order = true")


@cache
def _module() -> ModuleType | None:
    try:
        return importlib.import_module("tracert_analysis._events")
    except ImportError:
        return None


def _natively(connection: duckdb.DuckDBPyConnection, source: Source, frame: Frame) -> int:
    table = connection.sql("SELECT * FROM event")
    names, types = table.columns, table.types
    columns = tuple(
        _column(name, *_LOOKS.get(name, (name, _ANY)), kind) for name, kind in zip(names, types, strict=True)
    )
    module = _module()
    assert module is not None
    lines = module.Events(source.file.fileno(), frame.begin, frame.end, columns, names.index("kind"))
    select = ", ".join("TRY_CAST(kind AS kind)" if name == "kind" else f'"{name}"' for name in names)
    connection.execute(f"INSERT INTO event SELECT {select} FROM lines WHERE seq BETWEEN 1 AND {_SEQ_MAX}")
    return int(lines.bad_lines)


def _column(name: str, key: str, look: int, kind: Any) -> tuple[Any, ...]:
    """A column as `native/events.c` takes it."""
    if kind.id not in ("list", "struct"):
        return name, key, look, _TYPES["json" if str(kind) == "JSON" else kind.id], ()
    children = tuple(_column(child, child, _ANY, of) for child, of in kind.children)
    return name, key, look, _TYPES[kind.id], children


def _strictly_or_not(connection: duckdb.DuckDBPyConnection, source: Source) -> int:
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


def _insert_events(connection: duckdb.DuckDBPyConnection, source: Source, *, tolerant: bool) -> None:
    types = {row[0]: row[1] for row in connection.execute("DESCRIBE event").fetchall()}
    read = {**{name: kind for name, kind in types.items() if name not in _NOT_READ}, **_AS_JSON}
    select = ", ".join(_SELECT.get(name, f'"{name}"') for name in types)
    connection.execute(
        f"INSERT INTO event SELECT {select} FROM {_scan(source, read, tolerant=tolerant)} "
        f"WHERE seq BETWEEN 1 AND {_SEQ_MAX}",
        {"path": source.path},
    )


def _scan(source: Source, columns: dict[str, str], *, tolerant: bool) -> str:
    quoted = {name: kind.replace("'", "''") for name, kind in columns.items()}
    shape = ", ".join(f"'{name}': '{kind}'" for name, kind in quoted.items())
    return (
        f"read_json($path, format = 'newline_delimited', columns = {{{shape}}}, compression = 'none', "
        f"maximum_object_size = {LINE_BYTES_MAX}, ignore_errors = {str(tolerant).lower()})"
    )
