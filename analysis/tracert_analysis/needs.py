"""What a history must have, for a table or a finding of the SQL library to have rows."""

from functools import cached_property
from typing import NamedTuple

import duckdb

from tracert_analysis.parsed import first


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


class Needed:
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
        return first(self._connection, f"{query} LIMIT 1") is not None

    @cached_property
    def _kinds(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT kind::VARCHAR FROM _seen").fetchall()}
