"""How DuckDB plans and shares out its work: for a short history both take longer than they save."""

import os
from functools import cache

import duckdb

from tracert_analysis import families

THREADS = min(os.cpu_count() or 1, 4)
"""A part of the machine: whoever reads a dump may have an engine running beside."""
FEW = 20_000
"""Events of a history that is short enough to be asked without `_DEAR`."""
_DEAR = (
    "join_order",
    "statistics_propagation",
    "projection_pullup",
    "projection_placement",
    "common_subexpressions",
    "join_filter_pushdown",
    "common_subplan",
)
"""DuckDB's optimizers that take longer over a short history than they save: a seventh of opening it."""
VERY_FEW = 6_000
"""Events of a history that is so short that only `_SPARED` are worth it, and one thread is enough: more of
them take a fifth of the time to wait for each other."""
_SPARED = ("filter_pushdown", "limit_pushdown")
"""Without the first, tables that a WHERE joins are multiplied out."""


def plan_for(connection: duckdb.DuckDBPyConnection) -> None:
    """Set how DuckDB plans, by how many the loaded events are."""
    counted = " UNION ALL ".join(f"SELECT seq FROM {table}" for table in families.TABLES)
    locked, events = connection.execute(
        f"SELECT current_setting('lock_configuration'), (SELECT count(*) FROM ({counted}))"
    ).fetchall()[0]
    # A locked one was loaded before, and plans as was right then.
    if locked:
        return
    without = _all_but_spared() if events <= VERY_FEW else _DEAR if events <= FEW else ()
    connection.execute(f"SET disabled_optimizers = '{','.join(without)}'")
    connection.execute(f"SET threads = {1 if events <= VERY_FEW else THREADS:d}")


@cache
def _all_but_spared() -> tuple[str, ...]:
    with duckdb.connect() as connection:
        known = connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()
    return tuple(name for (name,) in known if name not in _SPARED)
