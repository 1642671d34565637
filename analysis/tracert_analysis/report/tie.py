"""How a finding is tied to what failed: only what is tied can be its cause.

By the launch itself, by a page in its life, by a row in its generation, or by what the finding's own launch
stored. One whose act came in order after what failed is not its cause, whatever they share; nor is a page
that is kept, unless pages ran out.
"""

from enum import IntEnum
from functools import cached_property

from tracert_analysis.report.consequence import ENDINGS, PREFIX
from tracert_analysis.report.failure import Failed, Failure
from tracert_analysis.report.questions import Questions, Row

BEGINNINGS = ("TR104", "TR202")
"""What lacks is order after the life before: who still uses that one is hit."""

ROWS = """
SELECT DISTINCT u.launch, u."row", u.generation FROM _use u JOIN (VALUES {launches}) AS a (launch, "row")
    ON u.launch = a.launch AND (a."row" < 0 OR u."row" = a."row")"""

# Only pages that findings name.
PAGES = """
SELECT DISTINCT x.launch, x.page, x.life FROM access x JOIN (VALUES {launches}) AS a (launch, "row")
    ON x.launch = a.launch AND (a."row" < 0 OR x."row" IS NULL OR x."row" = a."row")
WHERE x.page IN (SELECT resource_id FROM finding WHERE resource_kind = 'page')"""

# Acts that came in order after what failed.
LATER = """
SELECT f.finding, l.launch FROM finding f JOIN launch l ON l.launch IN ({numbers}) AND l.seq < f.seq
LEFT JOIN _act t ON t.seq = f.seq
WHERE CASE WHEN t.seq IS NULL THEN coalesce(l.learnt_seq < f.seq, false)
    ELSE t.stream = l.stream OR coalesce(t.clock[l.stream + 1] >= l.ordinal, false) END"""

# What the launch of a finding stored, by the finding's row or by pages, that a launch which failed touches.
STORED = """
SELECT DISTINCT f.finding
FROM finding f JOIN access x
    ON x.launch = f.launch AND x.mode = 'write' AND (f."row" IS NULL OR coalesce(x."row" = f."row", true))
JOIN access m ON m.page = x.page AND m.life = x.life
JOIN (VALUES {launches}) AS a (launch, "row")
    ON m.launch = a.launch AND (a."row" < 0 OR m."row" IS NULL OR m."row" = a."row")
WHERE f.class IN ('order', 'lifetime', 'mapping', 'content') AND f.seq <= m.seq
    AND (f.launch <> m.launch OR x."row" <> m."row")"""

# Clears whose zeros what failed reads, wherever copies took them.
WIPED = """
SELECT DISTINCT f.finding
FROM finding f JOIN _met w ON w.clear_seq = f.seq AND w.clear_page = f.resource_id AND w.clear_life = f.life
JOIN access m ON m.page = w.page AND m.life = w.life AND m.seq >= w.seq
JOIN (VALUES {launches}) AS a (launch, "row")
    ON m.launch = a.launch AND (a."row" < 0 OR m."row" IS NULL OR m."row" = a."row")
WHERE f.code = 'TR104' AND w.kind = 'wiped'"""

# The lives that pages had when rules about them were broken.
THEN = """
SELECT f.finding, max(p.life) AS life FROM finding f
JOIN page_life p ON f.resource_kind = 'page' AND p.page = f.resource_id AND p.alloc_seq < f.seq
GROUP BY f.finding"""


class Tie(IntEnum):
    """How closely; the greater, the closer."""

    NONE = 0
    STORED = 1
    """What failed touches what the finding's launch stored: what that was, no history has."""
    SHARED = 2
    """They have a launch, a page, a row or a request in common."""


class Ties:
    """How findings are tied to what failed; each part is looked up when it is asked for."""

    def __init__(self, questions: Questions, failure: Failure) -> None:
        self._questions = questions
        self._failure = failure
        self._known: dict[int, Tie] = {}

    def of(self, row: Row) -> Tie:
        """How the finding, a row of the view `finding`, is tied to what failed."""
        number = row["finding"]
        if number not in self._known:
            self._known[number] = self._of(row)
        return self._known[number]

    def _of(self, row: Row) -> Tie:
        if row["class"] == "symptom":
            return Tie.SHARED
        if row["code"] == "TR204":
            return Tie.SHARED if self._failure.wants_room else Tie.NONE
        if self._shares_launch(row):
            return Tie.SHARED
        if row["class"] == "resource":
            return Tie.NONE
        if self._shares_place(row) or self._shares_request(row) or self._failure.is_of_host(row):
            return Tie.SHARED
        if row["code"] == "TR104" and row["finding"] in self._wiped:
            return Tie.SHARED
        return Tie.STORED if row["finding"] in self._stored else Tie.NONE

    def _shares_launch(self, row: Row) -> bool:
        launches = self._failure.launches
        if any(row["launch"] is not None and _is_of(row, failed) for failed in launches):
            return True
        return row["class"] in ("order", "lifetime", "resource") and any(
            row["other_launch"] == failed.launch and not self._is_later(row, failed) for failed in launches
        )

    def _shares_request(self, row: Row) -> bool:
        concerns = row["code"] in PREFIX or row["class"] == "content"
        return concerns and row["request"] in self._failure.requests

    def _shares_place(self, row: Row) -> bool:
        """A row or a page, with a launch that does not come before the finding's act."""
        tenancy, page = (row["row"], row["generation"]), row["resource_id"]
        lives = self._lives(row) if row["resource_kind"] == "page" else set()
        for failed in self._failure.launches:
            if self._is_later(row, failed):
                continue
            if row["row"] is not None and (failed.launch, *tenancy) in self._tenancies:
                return True
            if any((failed.launch, page, life) in self._pages for life in lives):
                return True
        return False

    def _lives(self, row: Row) -> set[int]:
        """Lives of the finding's page that it can have harmed."""
        if row["life"] is None:
            return set()
        lives = {row["life"], self._then.get(row["finding"], row["life"])}
        if row["code"] in ENDINGS:
            lives.add(row["life"] + 1)
        if row["code"] in BEGINNINGS:
            lives.add(row["life"] - 1)
        return lives

    def _is_later(self, row: Row, failed: Failed) -> bool:
        return row["seq"] > failed.seq and (row["finding"], failed.launch) in self._later

    def _with_launches(self, sql: str) -> list[Row]:
        if not self._failure.launches:
            return []
        pairs = sorted({(one.launch, -1 if one.row is None else one.row) for one in self._failure.launches})
        numbers = ", ".join(str(launch) for launch in sorted({launch for launch, _ in pairs}))
        listed = ", ".join(f"({launch}, {row})" for launch, row in pairs)
        return self._questions.rows(sql.format(launches=listed, numbers=numbers))

    @cached_property
    def _tenancies(self) -> set[tuple[int, int, int]]:
        return {(row["launch"], row["row"], row["generation"]) for row in self._with_launches(ROWS)}

    @cached_property
    def _pages(self) -> set[tuple[int, int, int]]:
        return {(row["launch"], row["page"], row["life"]) for row in self._with_launches(PAGES)}

    @cached_property
    def _later(self) -> set[tuple[int, int]]:
        return {(row["finding"], row["launch"]) for row in self._with_launches(LATER)}

    @cached_property
    def _stored(self) -> set[int]:
        return {row["finding"] for row in self._with_launches(STORED)}

    @cached_property
    def _wiped(self) -> set[int]:
        return {row["finding"] for row in self._with_launches(WIPED)}

    @cached_property
    def _then(self) -> dict[int, int]:
        return {row["finding"]: row["life"] for row in self._questions.rows(THEN)}


def _is_of(row: Row, failed: Failed) -> bool:
    """Is the finding of that launch, and not of another row than the one that went wrong?"""
    return row["launch"] == failed.launch and (
        failed.row is None or row["row"] is None or row["row"] == failed.row
    )
