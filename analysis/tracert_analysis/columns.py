"""The columns of the tables that events are read into, as the reader in C takes them."""

from typing import Any, NamedTuple

import duckdb

ANY, NUMBER, LISTS, OBJECTS = range(4)
"""What a value must look like to go to a column, as `native/column.h` numbers it."""

_LOOKS = {"pages": ("pages", LISTS), "keyframe_pages": ("pages", OBJECTS), "page_count": ("pages", NUMBER)}
"""Columns that share a key: which one a value goes to is seen by what it looks like."""
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


class Column(NamedTuple):
    """A column, or the element of a list, or a member of a struct."""

    name: str
    key: str
    """What an event calls it."""
    look: int
    type: int
    children: "tuple[Column, ...]"


def columns_of(table: duckdb.DuckDBPyRelation) -> tuple[Column, ...]:
    """All columns of a table, in its order."""
    return tuple(
        _column(name, *_LOOKS.get(name, (name, ANY)), kind)
        for name, kind in zip(table.columns, table.types, strict=True)
    )


def place_of(columns: tuple[Column, ...], key: str, look: int) -> int:
    """Where a value of this key goes that looks like that; -1 when there is no such column."""
    for place, column in enumerate(columns):
        if column.key == key and column.look in (ANY, look):
            return place
    return -1


def _column(name: str, key: str, look: int, kind: Any) -> Column:
    if kind.id not in ("list", "struct"):
        return Column(name, key, look, _TYPES["json" if str(kind) == "JSON" else kind.id], ())
    children = tuple(_column(child, child, ANY, of) for child, of in kind.children)
    return Column(name, key, look, _TYPES[kind.id], children)
