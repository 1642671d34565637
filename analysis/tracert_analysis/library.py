"""The SQL library: which file comes when.

A file under `sql/` holds one table, view, macro or finding, with a comment above every public object and
column. Names that start with `_` are private. A finding is a query that returns no row when its rule holds;
its first comment line is the rule in a sentence. What is called a view may be stored: a dump never changes.
"""

from importlib.resources import files

import duckdb

TABLES = ("kind", "header", "event", "stream_state", "page_state", "lane_state", "_clocks")
"""Filled from the dump, or by Python; in the order in which they refer to each other."""
STATE = (
    "window",
    "_page_event",
    "holding",
    "page_life",
    "_tenancy",
    "request",
    "fence",
    "launch",
    "_use",
    "_extent",
    "row_content",
    "workspace",
    "_touch",
    "byte_write",
    "_doubtful",
    "_blemish",
)
"""What the events fold to, in the same sense; `_touch` and `_blemish` are filled by Python."""
ACCESS = ("_names", "_met", "_unordered_publish", "access", "_span", "_past_row", "_hit", "finding")
"""What launches touched, and in which order."""
FINDINGS = (
    "TR101",
    "TR102",
    "TR103",
    "TR104",
    "TR201",
    "TR202",
    "TR203",
    "TR204",
    "TR205",
    "TR206",
    "TR301",
    "TR302",
    "TR303",
    "TR401",
    "TR402",
    "TR403",
    "TR501",
    "TR502",
    "TR503",
    "TR701",
    "TR902",
)
CLASSES = ("order", "lifetime", "mapping", "content", "resource", "symptom")
"""Which of two findings at the same event comes first."""
PRECISE = ("TR502",)
"""Of two findings of one class at the same event these come first: they say of what kind the other is."""
MACROS = (
    "last_owner",
    "last_writer",
    "last_fence",
    "page_history",
    "page_bytes",
    "launch_reads",
    "launch_writes",
    "happens_before",
    "_variable",
    "missing_edge",
    "in_flight",
    "what_was_new",
)


def text(folder: str, name: str) -> str:
    """The SQL of one file."""
    return (files("tracert_analysis") / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """The empty tables that a dump is loaded into."""
    _create(connection, "tables", TABLES)


def create_state(connection: duckdb.DuckDBPyConnection) -> None:
    """What the loaded events fold to. `_touch` and `_blemish` stay empty."""
    _create(connection, "views", STATE)


def create_access(connection: duckdb.DuckDBPyConnection) -> None:
    """What follows from `_touch` and the clocks: accesses, findings, and the macros over all of it."""
    _create(connection, "views", ACCESS)
    found = " UNION ALL BY NAME ".join(f"({text('findings', code)})" for code in FINDINGS)
    connection.execute(
        f"""
        INSERT INTO finding BY NAME
        SELECT *, row_number() OVER (
            ORDER BY seq, list_position($classes, class), list_contains($precise, code) DESC, code,
                resource_id
        ) AS finding
        FROM ({found}) ORDER BY finding
        """,
        {"classes": list(CLASSES), "precise": list(PRECISE)},
    )
    _create(connection, "macros", MACROS)


def _create(connection: duckdb.DuckDBPyConnection, folder: str, names: tuple[str, ...]) -> None:
    for name in names:
        connection.execute(text(folder, name))
