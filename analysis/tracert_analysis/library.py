"""The SQL library: which file comes when.

A file under `sql/` holds one table, view, macro or finding, with a comment above every public object and
column. Names that start with `_` are private. A finding is a query that returns no row when its rule holds;
its first comment line is the rule in a sentence. What is called a view may be stored: a dump never changes.
"""

import re
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple

import duckdb

from tracert_analysis.beside import meanwhile

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
DOUBT = ("_names", "_struck", "_doubtful", "_blemish")
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


class Among(NamedTuple):
    """Of these kinds of events one must have occurred, and then the query have a row."""

    kinds: tuple[str, ...]
    query: str


NEEDS: dict[str, str | tuple[str, ...] | Among] = {
    "_puzzling": ("host_write", "external_begin", "external_done"),
    "_held_apart": "FROM _twofold",
    "fence": ("fence_record",),
    "_kept": ("insert", "evict"),
    "_taken_up": Among(
        ("retire", "free"),
        """
        SELECT 1
        FROM holding AS h
        JOIN (FROM _page_event WHERE kind IN ('retire', 'free')) AS e
            ON h.page = e.page AND h.life = e.life AND h.from_seq > e.seq
        """,
    ),
    "_retired": ("retire",),
    "workspace": ("workspace_alloc",),
    "_tenancy": ("row_acquire", "keyframe_row"),
    "_two_tenants": ("row_acquire", "keyframe_row"),
    "_request": ("arrive", "preempt", "finish", "fail", "keyframe_row", "schedule", "row_acquire"),
    "_use": ("launch",),
    "row_content": ("publish", "keyframe_row"),
    "_moved": ("copy", "load"),
    "_saving": ("snapshot_save",),
    "_guarded": ("guard",),
    "_followed": ("guard",),
    "_in_place": """
        SELECT 1 FROM _told_launch
        WHERE kind = 'launch' AND class = 'rows' AND len(reads) > 0 AND len(writes) > 0
        UNION ALL
        SELECT 1 FROM _told_rest WHERE kind = 'external_begin' AND len(reads) > 0 AND len(writes) > 0
    """,
    # Of what rows alone read and write: who reads what it did not write itself, and who wrote late.
    "_doubtful": """
        SELECT 1 FROM _extent
        UNION ALL
        SELECT 1 FROM _moved
        UNION ALL
        SELECT 1 FROM _skip
        UNION ALL
        SELECT 1 FROM _reading AS r, _window AS w
        WHERE (r.front > 0 OR r.whole AND r.valid < w.page_size) AND NOT EXISTS (
            FROM _reading AS f WHERE f.page = r.page AND f.life = r.life AND f.full_seq <= r.first_seq
        )
        UNION ALL
        SELECT 1 FROM (
            SELECT min(first_seq) AS first_seq, max(max(last_seq) FILTER (mode = 'write')) OVER (
                PARTITION BY page ORDER BY life ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS dirty_seq
            FROM _touch WHERE mode <> 'walk' GROUP BY page, life
        ) WHERE dirty_seq > first_seq
    """,
    "_met": "SELECT 1 FROM _blemish UNION ALL SELECT 1 FROM _uncomputed",
    "_spared": "FROM _met WHERE kind IN ('stale', 'unwritten')",
    "_wiping": "FROM _met WHERE kind = 'wiped'",
    # Where one stream publishes and follows, it is ordered.
    "_unordered_publish": """
        SELECT 1 FROM _touch AS t JOIN row_content AS c USING (content)
        WHERE t.mode = 'walk' AND (c.stream IS NULL OR c.stream <> t.stream)
        UNION ALL
        SELECT 1 FROM row_content AS c
        JOIN row_content AS n ON c.row = n.row AND c.index = n.index AND c.until_seq = n.seq
        WHERE c.stream <> n.stream
    """,
    "_wrong": """
        SELECT 1 FROM launch WHERE state = 'running'
        UNION ALL
        SELECT 1 FROM _seen WHERE kind = 'nonfinite'
    """,
    "_span": "SELECT 1 FROM _touch UNION ALL SELECT 1 FROM _extent",
    "_loose": "SELECT 1 FROM _use UNION ALL SELECT 1 FROM _extent",
    "_suspect": "FROM _loose",
    "_near": "FROM _suspect",
    "_mapped": ("map",),
    # Entries that were followed beyond the time of one map.
    "_past_row": """
        SELECT 1 FROM _touch AS t
        SEMI JOIN _mapped AS r ON t.row = r.row
        ANTI JOIN _mapped AS m
            ON t.row = m.row AND t.generation = m.generation AND t.index = m.index
            AND m.from_seq < t.first_seq AND coalesce(m.until_seq > t.last_seq, true)
        WHERE t.mode = 'walk'
        UNION ALL
        SELECT 1 FROM _unpublished
        UNION ALL
        SELECT 1 FROM _followed WHERE walked > declared
    """,
    # Entries that were followed to another page than some map named.
    "_misplaced": """
        SELECT 1 FROM _touch AS t
        JOIN _mapped AS m ON t.row = m.row AND t.generation = m.generation AND t.index = m.index
        WHERE t.mode = 'walk' AND (t.page <> m.page OR t.life <> m.life)
    """,
    # Without a shared page nobody reads what another wrote.
    "_elsewhere": "SELECT 1 FROM _reading WHERE front > 0",
    "_foreign": "FROM _elsewhere",
    "_hit": ("match",),
    "_hit_read": "FROM _hit",
    "_hit_run": "FROM _hit_read",
    "_hit_open": "FROM _hit_read",
    "_hit_gap": "FROM _hit_open",
    "_row_guest": "FROM _told_launch WHERE kind = 'launch' AND class = 'rows'",
    "_kv_moved": "SELECT 1 FROM _row_guest AS g, _moved AS m WHERE g.page = m.page AND g.life = m.life",
    "_row_store": "FROM _row_guest",
    "_row_store_over": "FROM _row_store",
    "_slot_use": ("offload", "load"),
    "_slot_race": "FROM _slot_use",
    "_misloaded": "FROM _slot_use WHERE kind = 'load'",
    # Slots that were filled again between two pages of theirs.
    "_refilled": """
        SELECT 1 FROM _moved AS m JOIN page_life AS g ON m.page = g.page AND m.life = g.life
        JOIN page_life AS s ON m.source_page = s.page AND m.source_life = s.life
        WHERE m.slot IS NOT NULL AND g.owner <> s.owner
            AND g.owner LIKE 'request:%' AND s.owner LIKE 'request:%'
    """,
    "TR101": "SELECT 1 FROM _near UNION ALL SELECT 1 FROM _slot_race WHERE kind = 'load'",
    "TR102": "FROM _unordered_publish",
    "TR103": ("stage",),
    "TR104": """
        SELECT 1 FROM _extent WHERE source = 'clear'
        UNION ALL
        SELECT 1 FROM _met WHERE kind = 'wiped'
    """,
    # Of pages that nobody holds, sooner or later, or that nobody was granted.
    "TR201": """
        SELECT 1
        FROM (
            SELECT page, life, first_seq, last_seq FROM _touch WHERE mode <> 'walk'
            UNION ALL
            SELECT page, life, seq, seq FROM _extent WHERE source <> 'clear'
        ) AS t
        LEFT JOIN _unheld AS u ON t.page = u.page AND t.life = u.life
        WHERE t.life > 0
            AND (u.page IS NULL OR t.last_seq > u.from_seq AND coalesce(t.first_seq < u.until_seq, true))
    """,
    # Beside those of loose launches there is the clear of the whole arena, which counts as no extent.
    "TR202": """
        SELECT 1 FROM _loose
        UNION ALL
        SELECT 1 FROM _slot_race WHERE kind = 'offload'
        UNION ALL
        SELECT 1 FROM _told_launch AS e JOIN _act AS l ON l.seq > e.seq AND l.stream <> e.stream
        WHERE e.kind = 'clear' AND e.all AND l.clock[e.stream + 1] < e.ordinal
    """,
    "TR203": ("drop", "retire", "free"),
    # Holders that have something left when the next step begins, or at the end.
    "TR204": Among(
        ("finish", "fail", "preempt", "copy_done", "snapshot_release", "evict"),
        """
        SELECT 1
        FROM (
            SELECT seq, CASE kind
                WHEN 'copy_done' THEN 'transfer:' || transaction
                WHEN 'snapshot_release' THEN 'snapshot:' || snapshot
                WHEN 'evict' THEN 'prefix:' || node
                ELSE 'request:' || request
            END AS holder
            FROM _told_rest
            WHERE kind IN ('finish', 'fail', 'preempt', 'copy_done', 'snapshot_release', 'evict')
        ) AS e
        JOIN holding AS h ON e.holder = h.holder AND h.from_seq < e.seq
        ASOF LEFT JOIN (
            SELECT min(seq) AS seq FROM (
                SELECT seq, step FROM _told_step WHERE kind = 'schedule'
                UNION ALL
                SELECT seq, step FROM _told_launch WHERE kind = 'launch'
            ) WHERE step IS NOT NULL GROUP BY step
        ) AS s ON e.seq < s.seq
        WHERE h.until_seq IS NULL OR h.until_seq > s.seq
        """,
    ),
    # Two that hold a page at once, and may both write it; or a request that writes what it holds for reading.
    "TR205": """
        SELECT 1 FROM holding AS y JOIN holding AS x ON x.page = y.page AND x.life = y.life
        WHERE y.mode = 'write' AND x.mode = 'write' AND x.holder <> y.holder AND x.from_seq < y.from_seq
            AND coalesce(x.until_seq > y.from_seq, true)
        UNION ALL
        SELECT 1 FROM page_life AS p JOIN holding AS x ON x.page = p.page AND x.life < p.life
        WHERE x.from_seq < p.alloc_seq AND coalesce(x.until_seq > p.alloc_seq, true)
        UNION ALL
        SELECT 1 FROM _touch AS t
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        JOIN holding AS h ON h.page = t.page AND h.life = t.life AND h.holder = 'request:' || n.request
        WHERE t.mode = 'write' AND h.mode = 'read'
        UNION ALL
        SELECT 1 FROM _row_store
        UNION ALL
        SELECT 1 FROM _extent AS x JOIN _kept AS k ON x.page = k.page AND x.life = k.life AND x.seq > k.seq
        WHERE x.mode = 'write' AND x.source <> 'clear' AND k.kind = 'insert'
    """,
    "TR206": """
        SELECT 1 FROM (SELECT page FROM _touch UNION ALL SELECT page FROM _extent WHERE source <> 'clear')
        WHERE page IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%')
    """,
    "TR301": "FROM _met WHERE kind IN ('stale', 'mixed')",
    "TR302": "FROM _met WHERE kind IN ('unwritten', 'blank', 'untold')",
    "TR303": ("copy_plan",),
    "TR401": """
        SELECT 1 FROM _touch AS t, _window AS w WHERE t.page < 0 OR t.page >= w.kv_pages
        UNION ALL
        SELECT 1 FROM _guarded
    """,
    # Entries whose page the row's request did not hold all the while, from the first launch that followed on.
    "TR402": """
        SELECT 1 FROM _touch AS t
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        ANTI JOIN holding AS h
            ON t.page = h.page AND t.life = h.life AND h.holder = 'request:' || n.request
            AND h.from_seq <= t.first_seq AND coalesce(h.until_seq > t.last_seq, true)
        WHERE t.mode = 'walk'
        UNION ALL
        SELECT 1 FROM _misplaced
        UNION ALL
        SELECT 1 FROM _unpublished
        UNION ALL
        SELECT 1 FROM _guarded
    """,
    "TR403": "FROM _past_row",
    "TR501": """
        SELECT 1 FROM _told_rest WHERE kind = 'match'
        UNION ALL
        SELECT 1 FROM _misloaded
        UNION ALL
        SELECT 1 FROM _refilled
        UNION ALL
        SELECT 1 FROM _foreign
    """,
    "TR502": "SELECT 1 FROM _hit_run UNION ALL SELECT 1 FROM _hit_gap",
    "TR503": "FROM _hit",
    "TR601": ("verify",),
    # Room that is too small, or blocks that are kept beyond the first launch of a later step.
    "TR701": Among(
        ("workspace_plan", "workspace_alloc"),
        """
        SELECT 1 FROM _told_workspace WHERE kind = 'workspace_plan' AND bytes > room
        UNION ALL
        SELECT 1 FROM workspace AS b, _window AS w WHERE b.free_seq IS NULL AND w.orderly
        UNION ALL
        SELECT 1
        FROM (SELECT launch, coalesce(free_seq, 18446744073709551615) AS free_seq FROM workspace) AS b
        JOIN launch AS l ON b.launch = l.launch
        ASOF JOIN (SELECT seq, max(step) OVER (ORDER BY seq) AS step FROM launch) AS n ON b.free_seq > n.seq
        WHERE n.step > l.step
        """,
    ),
    "TR901": "FROM stream_state WHERE launched > finished",
    "TR902": ("nonfinite",),
}
"""Where this has no row, the table or the finding has none: planning its query takes longer than asking.

Names stand for kinds of events: one of them must have occurred.
"""
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
    needed = _Needed(connection)
    _find(connection, _broken(connection, [code for code in FINDINGS if needed.may_have_rows(code)]))


def create_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """What users and reports ask all of it with; findings do without."""
    _create(connection, "views", ASKED)
    _create(connection, "macros", MACROS)


class _Needed:
    """What a history has of that which `NEEDS` names."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def may_have_rows(self, name: str) -> bool:
        """False where the query of that name would find nothing."""
        needs = NEEDS.get(name)
        if needs is None:
            return True
        if isinstance(needs, str):
            return self._has_rows(needs)
        if isinstance(needs, Among):
            return not self._kinds.isdisjoint(needs.kinds) and self._has_rows(needs.query)
        return not self._kinds.isdisjoint(needs)

    def _has_rows(self, query: str) -> bool:
        return _first(self._connection, f"{query} LIMIT 1") is not None

    @cached_property
    def _kinds(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT kind::VARCHAR FROM _seen").fetchall()}


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
    return _first(connection, f"{asked}\nSELECT 1 FROM broken LIMIT 1") is not None


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
    needed = _Needed(connection)
    for name in names:
        for written, filled in _statements(folder, name):
            if filled is None or needed.may_have_rows(filled):
                connection.execute(_parsed(connection, written))


@cache
def _statements(folder: str, name: str) -> list[tuple[str, str | None]]:
    """The statements of a file, each with the table that it fills, if it does."""
    # As its author parts them: to let DuckDB do it takes longer.
    parts = text(folder, name).split(";\n\n")
    return [(part, filled[1] if (filled := _FILLS.search(part)) else None) for part in parts]


def _first(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...] | None:
    return connection.execute(_parsed(connection, query)).fetchone()


def _parsed(connection: duckdb.DuckDBPyConnection, written: str) -> duckdb.Statement:
    """The statement, parsed once a process: for the whole library that takes 50 ms."""
    kept = _kept()
    if written not in kept:
        (kept[written],) = connection.extract_statements(written)
    return kept[written]


@cache
def _kept() -> dict[str, duckdb.Statement]:
    return {}
