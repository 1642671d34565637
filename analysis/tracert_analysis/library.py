"""The SQL library: which file comes when.

A file under `sql/` holds one table, view, macro or finding, with a comment above every public object and
column. Names that start with `_` are private. A finding is a query that returns no row when its rule holds;
its first comment line is the rule in a sentence. What is called a view may be stored: a dump never changes.
"""

import re
from functools import cache
from importlib.resources import files

import duckdb

from tracert_analysis.beside import meanwhile
from tracert_analysis.needs import Needed
from tracert_analysis.parsed import first, parsed

TABLES = ("kind", "header", "_told", "event", "stream_state", "page_state", "lane_state", "_clocks")
"""Filled from the dump, or by Python; in the order in which they refer to each other."""
HELD = (
    "_seen",
    "_tells",
    "window",
    "_page_event",
    "holding",
    "_kept",
    "page_life",
    "_tenancy",
    "request",
    "_use",
    "row_content",
    "_touch",
)
"""What the events fold to without the clocks, in the same sense; `_touch` is filled by Python."""
STATE = ("fence", "launch", "_act", "_extent", "guard_entry", "workspace", "byte_write")
"""What they fold to with them."""
DOUBT = ("_names", "_struck", "_in_place", "_doubtful", "_blemish")
"""What went wrong; where launches may have met bytes that they must not, and where they did: by Python."""
ACCESS = (
    "_met",
    "_cleared",
    "_unordered_publish",
    "access",
    "_span",
    "_past_row",
    "_placeholder",
    "_misplaced",
    "_other_tenant",
    "_unexplained",
    "_hit",
    "_foreign",
    "_slot",
    "_row_store",
    "prefix_hit",
    "finding",
    "_last",
    "page_last",
    "kv_layout",
)
"""What launches touched, and in which order."""
ASKED = ("prefix_hit", "_last", "page_last", "kv_layout")
"""Of these what no finding asks: who does without macros does without them."""
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
    "TR601",
    "TR701",
    "TR901",
    "TR902",
)
RANK_FINDINGS = ("TR801",)
"""Those that compare several dumps: they stand in `ranks`, and are asked when dumps are read together."""
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
    "byte_ranges",
    "launch_reads",
    "launch_writes",
    "happens_before",
    "_variable",
    "missing_edge",
    "in_flight",
    "_shared_traits",
    "what_was_new",
)

_FILLS = re.compile(r"^INSERT INTO (\w+)", re.MULTILINE)


def text(folder: str, name: str) -> str:
    """The SQL of one file."""
    return (files("tracert_analysis") / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")


def create_tables(connection: duckdb.DuckDBPyConnection, names: tuple[str, ...] = TABLES) -> None:
    """The empty tables that a dump is loaded into."""
    _create(connection, "tables", names)


def create_held(connection: duckdb.DuckDBPyConnection) -> None:
    """What the loaded events fold to without the clocks. `_touch` stays empty."""
    _create(connection, "views", HELD)


def create_state(connection: duckdb.DuckDBPyConnection) -> None:
    """What they fold to with the clocks. Nothing of it reads `_touch`."""
    _create(connection, "views", STATE)


def create_doubt(connection: duckdb.DuckDBPyConnection) -> None:
    """Where what `_touch` tells must be looked at position by position. `_blemish` stays empty."""
    _create(connection, "views", DOUBT)


def create_access(connection: duckdb.DuckDBPyConnection) -> None:
    """What follows from `_touch`, `_blemish` and the clocks: accesses and findings."""
    _create(connection, "views", tuple(name for name in ACCESS if name not in ASKED))
    needed = Needed(connection)
    _find(connection, _broken(connection, [code for code in FINDINGS if needed.may_have_rows(code)]))


def create_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """What users and reports ask all of it with; findings do without."""
    _create(connection, "views", ASKED)
    _create(connection, "macros", MACROS)


def _broken(connection: duckdb.DuckDBPyConnection, codes: list[str]) -> list[str]:
    """Those of the findings that may have rows, in the same order: asked two at a time."""
    broken = set[str]()

    def ask(connection: duckdb.DuckDBPyConnection, some: list[str]) -> None:
        broken.update([code for code in some if _is_broken(connection, code)])

    with meanwhile(connection, lambda aside: ask(aside, codes[1::2])):
        ask(connection, codes[0::2])
    return [code for code in codes if code in broken]


def _is_broken(connection: duckdb.DuckDBPyConnection, code: str) -> bool:
    """May the finding have rows, by what its query calls `broken`? The sentence is planned only then."""
    asked, _, _ = text("findings", code).partition("\nSELECT\n")
    if "    broken AS (" not in asked:
        return True
    return first(connection, f"{asked}\nSELECT 1 FROM broken LIMIT 1") is not None


def _find(connection: duckdb.DuckDBPyConnection, codes: list[str]) -> None:
    if not codes:
        return
    found = " UNION ALL BY NAME ".join(f"({text('findings', code)})" for code in codes)
    connection.execute(
        f"""
        INSERT INTO finding BY NAME
        SELECT *, row_number() OVER (
            ORDER BY seq, list_position($classes, class), list_contains($precise, code) DESC, code,
                resource_id, life, row, generation, other_seq, sentence
        ) AS finding
        FROM ({found}) ORDER BY finding
        """,
        {"classes": list(CLASSES), "precise": list(PRECISE)},
    )


def _create(connection: duckdb.DuckDBPyConnection, folder: str, names: tuple[str, ...]) -> None:
    needed = Needed(connection)
    for name in names:
        for written, filled in _statements(folder, name):
            if filled is None or needed.may_have_rows(filled):
                connection.execute(parsed(connection, written))


@cache
def _statements(folder: str, name: str) -> list[tuple[str, str | None]]:
    """The statements of a file, each with the table that it fills, if it does."""
    # As its author parts them: to let DuckDB do it takes longer.
    parts = text(folder, name).split(";\n\n")
    return [(part, filled[1] if (filled := _FILLS.search(part)) else None) for part in parts]
