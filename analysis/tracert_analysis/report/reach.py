"""What can have reached the launches that failed: pages that they touch, and what these were copied from.

Bytes are followed back through copies and the host tier. What launches computed of them no history has: who
stored what a launch reads may have handed on anything that it read itself.
"""

from collections import defaultdict
from functools import cached_property
from typing import NamedTuple

from tracert_analysis.report.failure import Failed
from tracert_analysis.report.questions import Questions, Row

FLOW_MAX = 200_000
"""Of more than that many pages of rows it isn't asked whose computation reached whom: it may have."""

# Launches named one by one reach the tables below `access`.
FAILED = """(VALUES {launches}) AS a (launch, "row")
    ON {of}.launch IN ({numbers}) AND {of}.launch = a.launch
    AND (a."row" < 0 OR {of}."row" IS NULL OR {of}."row" = a."row")"""

# Of pages only those that findings name, those into which something was copied, and those that a lack of
# order may have put in the place of others.
REACHED = """
CREATE OR REPLACE TEMP TABLE _reached AS
WITH RECURSIVE
    asked AS (
        SELECT resource_id AS page FROM finding WHERE resource_kind = 'page'
        UNION
        SELECT page FROM _moved
        UNION
        SELECT c.page FROM _doubt d JOIN row_content c ON d.other_content = c.content
        UNION
        SELECT c.page FROM row_content c JOIN launch p ON c.seq = p.seq
        WHERE p.staging IN (SELECT resource_id FROM finding WHERE code = 'TR103')
    ),
    reached AS (
        SELECT DISTINCT x.launch, x.page, x.life, x.first, x."end", x.seq, x.mode = 'read' AS loads,
            false AS copied
        FROM access x JOIN {failed_x}
        WHERE x.page IN (SELECT page FROM asked)
        UNION
        SELECT r.launch, m.source_page, m.source_life, m.source_first, m.source_first + m."end" - m.first,
            m.source_seq, true, true
        FROM reached r JOIN _moved m ON m.page = r.page AND m.life = r.life AND m.seq < r.seq
        WHERE m.source_page IS NOT NULL AND m.source_seq IS NOT NULL
    )
FROM reached"""

PAGES = "SELECT DISTINCT launch, page, life, CASE WHEN copied THEN seq END AS copied_seq FROM _reached"

# What the launch of a finding stored, by the finding's row or by pages; and what the earlier one did that may
# have read what the later one stores. A page is the same in whatever life it was named.
STORED = """
WITH
    stored AS (
        SELECT f.finding, f.seq, x.launch, x."row", x.page, x.life, x.seq AS at
        FROM finding f JOIN access x
            ON x.launch IN ({broke}) AND x.launch = f.launch AND x.mode = 'write' AND x.certain
            AND (f."row" IS NULL OR coalesce(x."row" = f."row", true))
        WHERE f.class IN ('order', 'lifetime', 'mapping', 'content')
        UNION
        SELECT f.finding, f.seq, x.launch, x."row", x.page, x.life, x.seq
        FROM finding f JOIN access x
            ON x.launch IN ({broke}) AND x.launch = f.other_launch AND x.mode = 'write' AND x.certain
        JOIN access o
            ON o.launch IN ({broke}) AND o.launch = f.other_launch AND o.mode = 'read'
            AND o.page = f.resource_id AND coalesce(x."row" = o."row", true)
        WHERE f.code IN ('TR101', 'TR202') AND f.resource_kind = 'page'
    ),
    failed AS (
        SELECT DISTINCT x.launch, x."row", x.page, x.life, x.seq
        FROM access x JOIN {failed_x}
        WHERE x.page IN (SELECT page FROM stored)
        UNION
        SELECT launch, NULL, page, life, seq FROM _reached WHERE copied
    )
SELECT DISTINCT s.finding, m.launch, s.launch AS writer
FROM stored s JOIN failed m ON m.page = s.page AND s.seq <= m.seq AND s.at <= m.seq
LEFT JOIN page_life p ON p.page = m.page AND p.life = m.life
WHERE (s.launch <> m.launch OR s."row" <> m."row")
    AND (m.life = s.life OR m.life > s.life AND p.alloc_seq < s.at)"""

# What launches may have stored through another content of their row than program order gives: a publish that
# nothing orders, or what the host wrote to the staging buffer since.
ASTRAY = """
SELECT DISTINCT f.finding, r.launch, u.launch AS writer
FROM finding f
JOIN _doubt d ON f.code = 'TR102' AND f."row" = d."row" AND f.generation = d.generation
JOIN row_content c ON d.other_content = c.content
JOIN _reached r ON r.page = c.page AND r.life >= c.life
JOIN _use u ON u."row" = d."row" AND u.generation = d.generation AND u.stream = d.stream
    AND u.seq BETWEEN d.first_seq AND d.last_seq AND u.seq < r.seq
CROSS JOIN _window w
WHERE u."end" > u.start AND u.start < (c.index + 1) * w.page_size AND u."end" > c.index * w.page_size
UNION
SELECT DISTINCT f.finding, r.launch, u.launch
FROM finding f
JOIN launch p ON f.code = 'TR103' AND p.staging = f.resource_id AND p.seq > f.seq
JOIN row_content c ON c.seq = p.seq
JOIN _reached r ON r.page = c.page AND r.life >= c.life
JOIN _use u ON u."row" = f."row" AND u.generation = f.generation AND u.seq BETWEEN f.other_seq AND r.seq
    AND u.launch <> r.launch AND u."end" > u.start"""

# Positions that a launch met, which one that failed loads, and the pages to look for writes in.
MET = """
SELECT DISTINCT f.finding, r.launch, m.page, m.seq, r.seq AS loaded_seq,
    greatest(m.first, r.first)::BIGINT AS first, least(m."end", r."end")::BIGINT AS "end"
FROM finding f JOIN _met m
    ON f.code IN ('TR301', 'TR302') AND m.seq = f.seq AND m.page = f.resource_id AND m.life = f.life
JOIN _reached r ON r.page = m.page AND r.life = m.life AND r.loads AND r.seq >= m.seq
WHERE m.first < r."end" AND r.first < m."end" """

WRITES = """
SELECT page, seq, first::BIGINT AS first, "end"::BIGINT AS "end" FROM byte_write WHERE page IN ({pages})"""

# Launches that failed and themselves follow a row further than the host mapped it.
PAST = """
SELECT DISTINCT u.launch, u."row", u.generation
FROM _past_row p JOIN _use u
    ON u."row" = p."row" AND u.generation = p.generation AND u.stream = p.stream AND u.seq >= p.seq
    AND u.walked > p.index
JOIN {failed_u}
WHERE NOT EXISTS (
    FROM _mapped m WHERE m."row" = p."row" AND m.generation = p.generation AND m.index = p.index
        AND m.from_seq < u.seq AND coalesce(m.until_seq > u.seq, true)
)"""

# Which pages were read and written through which rows. Explicit extents are those of the launch's rows, and
# of the launch itself where it has none.
FLOW = """
SELECT DISTINCT ("row"::BIGINT << 32) + generation AS who, page, life, mode = 'write' AS writes
FROM _touch WHERE mode <> 'walk'
UNION
SELECT DISTINCT coalesce((u."row"::BIGINT << 32) + u.generation, -x.seq::BIGINT), x.page, x.life,
    x.mode = 'write'
FROM _extent x LEFT JOIN _use u ON u.seq = x.seq
UNION
SELECT -seq::BIGINT, page, life, true FROM _moved
UNION
SELECT -seq::BIGINT, source_page, source_life, false FROM _moved WHERE source_page IS NOT NULL
LIMIT {limit}"""

BEGINS = """
SELECT DISTINCT coalesce((u."row"::BIGINT << 32) + u.generation, -l.seq::BIGINT) AS who
FROM launch l LEFT JOIN _use u ON u.seq = l.seq JOIN (VALUES {launches}) AS a (launch, "row")
    ON l.launch = a.launch AND (a."row" < 0 OR u."row" IS NULL OR u."row" = a."row")"""

# Who broke a rule: by the finding's row, by the rows of its launches, or these themselves.
WHOSE = """
SELECT f.finding, coalesce((u."row"::BIGINT << 32) + u.generation, -l.seq::BIGINT) AS who
FROM finding f JOIN launch l ON l.launch IN (f.launch, f.other_launch)
LEFT JOIN _use u ON u.seq = l.seq
WHERE f."row" IS NULL OR coalesce(u."row" = f."row", true)
UNION
SELECT finding, ("row"::BIGINT << 32) + generation FROM finding
WHERE "row" IS NOT NULL AND generation IS NOT NULL
UNION
SELECT f.finding, (t."row"::BIGINT << 32) + t.generation
FROM finding f JOIN _tenancy t ON f.request = t.request"""


BROKE = """
SELECT DISTINCT unnest([launch, other_launch]) AS launch FROM finding
WHERE class IN ('order', 'lifetime', 'mapping', 'content')"""


class Copied(NamedTuple):
    """A page from which something was copied into what a launch that failed touches."""

    launch: int
    page: int
    life: int
    seq: int
    """Event at which it was read."""


class Reach:
    """What can have reached the launches that failed; each part is looked up when it is asked for."""

    def __init__(self, questions: Questions, launches: tuple[Failed, ...]) -> None:
        self._questions = questions
        self._launches = launches

    @cached_property
    def pages(self) -> set[tuple[int, int, int]]:
        """Launch, page and life: what the launches touch themselves."""
        return {(row["launch"], row["page"], row["life"]) for row in self._paged if row["copied_seq"] is None}

    @cached_property
    def copied(self) -> dict[tuple[int, int], list[Copied]]:
        """By page and life: what was copied into that, over however many pages."""
        found = defaultdict(list)
        for row in self._paged:
            if row["copied_seq"] is not None:
                found[row["page"], row["life"]].append(
                    Copied(row["launch"], row["page"], row["life"], row["copied_seq"])
                )
        return found

    @cached_property
    def stored(self) -> dict[int, dict[int, int]]:
        """By finding and launch that failed: whose launch stored what that one touches."""
        return _by_finding(self._asked(STORED))

    @cached_property
    def astray(self) -> dict[int, dict[int, int]]:
        """By finding and launch that failed: whose launch may have stored there, by a row without order."""
        return _by_finding(self._asked(ASTRAY))

    @cached_property
    def still(self) -> set[tuple[int, int]]:
        """Finding and launch that failed: it loads bytes that the finding's launch met, as they were."""
        met = self._asked(MET)
        pages = ", ".join(str(page) for page in sorted({row["page"] for row in met}))
        writes = defaultdict(list)
        for write in self._questions.rows(WRITES.format(pages=pages)) if met else []:
            writes[write["page"]].append(write)
        return {(row["finding"], row["launch"]) for row in met if _stand(row, writes[row["page"]])}

    @cached_property
    def past(self) -> set[tuple[int, int, int]]:
        """Launch, row and generation: it follows that row further than it is mapped."""
        return {(row["launch"], row["row"], row["generation"]) for row in self._asked(PAST)}

    def may(self, finding: int, pages: set[tuple[int, int]]) -> bool:
        """May it have reached a launch that failed, through what others computed of it?

        `pages`: those that the finding can have harmed, with their lives.
        """
        if self._lineage is None:
            return True
        whose, came = self._lineage
        return not pages.isdisjoint(came) or not self._whose[finding].isdisjoint(whose)

    @cached_property
    def _lineage(self) -> tuple[set[int], set[tuple[int, int]]] | None:
        """Who computed anything that came there, and in which pages; None: too much to follow."""
        flow = self._questions.rows(FLOW.format(limit=FLOW_MAX + 1))
        if len(flow) > FLOW_MAX:
            return None
        read, writers = defaultdict(list), defaultdict(list)
        for row in flow:
            page = row["page"], row["life"]
            if row["writes"]:
                writers[page].append(row["who"])
            else:
                read[row["who"]].append(page)
        # What the launches that failed touch in any way.
        whose = {row["who"] for row in self._asked(BEGINS)}
        came: set[tuple[int, int]] = set()
        waiting = list(whose)
        while waiting:
            for page in read[waiting.pop()]:
                if page not in came:
                    came.add(page)
                    new = set(writers[page]) - whose
                    whose |= new
                    waiting += new
        return whose, came

    @cached_property
    def _whose(self) -> dict[int, set[int]]:
        found = defaultdict(set)
        for row in self._questions.rows(WHOSE):
            found[row["finding"]].add(row["who"])
        return found

    @cached_property
    def _paged(self) -> list[Row]:
        return self._asked(PAGES)

    @cached_property
    def _ready(self) -> bool:
        """Are there launches that failed, and is what they touch at hand?"""
        if self._launches:
            self._questions.rows(self._filled(REACHED))
        return bool(self._launches)

    @cached_property
    def _broke(self) -> list[str]:
        """The launches of findings."""
        found = (row["launch"] for row in self._questions.rows(BROKE))
        return sorted(str(launch) for launch in found if launch is not None) or ["NULL"]

    def _filled(self, sql: str) -> str:
        pairs = sorted({(one.launch, -1 if one.row is None else one.row) for one in self._launches})
        launches = ", ".join(f"({launch}, {row})" for launch, row in pairs)
        numbers = ", ".join(str(launch) for launch in sorted({launch for launch, _ in pairs}))
        failed = {f"failed_{of}": FAILED.format(launches=launches, numbers=numbers, of=of) for of in "xu"}
        return sql.format(
            **failed, launches=launches, broke=", ".join(self._broke) if "{broke}" in sql else ""
        )

    def _asked(self, sql: str) -> list[Row]:
        return self._questions.rows(self._filled(sql)) if self._ready else []


def _by_finding(rows: list[Row]) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for row in rows:
        found[row["finding"]][row["launch"]] = row["writer"]
    return found


def _stand(met: Row, writes: list[Row]) -> bool:
    """Does one of the positions that were met have these bytes still, where they are loaded?"""
    over = [one for one in writes if met["seq"] < one["seq"] < met["loaded_seq"]]
    return any(
        not any(one["first"] <= position < one["end"] for one in over)
        for position in range(met["first"], met["end"])
    )
