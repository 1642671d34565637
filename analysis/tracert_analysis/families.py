"""Which table an event is read into, by its kind: `sql/tables/_told.sql` has the tables.

What is told most often has narrow tables of its own, and everything else, kinds that this reader doesn't know
included, the wide one. A query that asks for kinds of one family reads its table; `event` is all of them.
"""

import duckdb

FAMILIES: dict[str, tuple[str, ...]] = {
    "_told_page": ("alloc", "hold", "drop", "retire", "free", "map", "unmap", "row_acquire", "row_release"),
    "_told_fence": ("fence_record", "fence_wait", "fence_passed", "stage"),
    "_told_launch": ("launch", "publish", "copy", "clear", "offload", "load"),
    "_told_step": ("schedule", "transaction"),
    "_told_workspace": ("workspace_plan", "workspace_alloc", "workspace_free"),
}
REST = "_told_rest"
TABLES = (*FAMILIES, REST)
"""The last takes what no other does."""
KINDS = tuple((kind, TABLES.index(table)) for table, kinds in FAMILIES.items() for kind in kinds)
"""Kinds with the place of their table in `TABLES`."""


def spread(connection: duckdb.DuckDBPyConnection, wide: str) -> None:
    """Put the events of a table with all columns into the tables of their families, which are there."""
    known = tuple(kind for kinds in FAMILIES.values() for kind in kinds)
    for table in TABLES:
        columns = ", ".join(f'"{name}"' for name in connection.table(table).columns)
        of = f"kind IN {FAMILIES[table]}" if table in FAMILIES else f"kind IS NULL OR kind NOT IN {known}"
        connection.execute(f"INSERT INTO {table} SELECT {columns} FROM {wide} WHERE {of}")
