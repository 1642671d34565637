"""How a finding is tied to what failed: only what is tied can be its cause.

By the launch itself, by a page in its life, by a row in its generation, or by what the finding's own launch
stored. One whose act came in order after what failed is not its cause, whatever they share; nor is a page
that is kept, unless pages ran out.
"""

from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from tracert_analysis.report.consequence import BYTES, ENDINGS, PREFIX
from tracert_analysis.report.failure import Failed, Failure
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.reach import Reach

BEGINNINGS = ("TR104", "TR202")
"""What lacks is order after the life before: who still uses that one is hit."""

ROWS = """
SELECT DISTINCT u.launch, u."row", u.generation FROM _use u JOIN (VALUES {launches}) AS a (launch, "row")
    ON u.launch = a.launch AND (a."row" < 0 OR u."row" = a."row")"""

# Acts that came in order after what failed.
LATER = """
SELECT f.finding, l.launch FROM finding f JOIN launch l ON l.launch IN ({numbers}) AND l.seq < f.seq
LEFT JOIN _act t ON t.seq = f.seq
WHERE CASE WHEN t.seq IS NULL THEN coalesce(l.learnt_seq < f.seq, false)
    ELSE t.stream = l.stream OR coalesce(t.clock[l.stream + 1] >= l.ordinal, false) END"""

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


class Way(NamedTuple):
    """By what a finding is tied to a launch that failed."""

    tie: Tie
    why: str
    """A clause."""


class Ties:
    """How findings are tied to what failed; each part is looked up when it is asked for."""

    def __init__(self, questions: Questions, failure: Failure) -> None:
        self._questions = questions
        self._failure = failure
        self._reach = Reach(questions, failure.launches)
        self._known: dict[int, Tie] = {}

    def of(self, row: Row) -> Tie:
        """How the finding, a row of the view `finding`, is tied to what failed."""
        number = row["finding"]
        if number not in self._known:
            self._known[number] = self._of(row)
        return self._known[number]

    def why(self, row: Row, symptom: Row) -> str | None:
        """By what it is tied to where that symptom shows, as a clause; None where it is not."""
        if row["class"] == "symptom" or row["code"] == "TR204":
            return None
        ways = (
            self._way(row, failed)
            for failed in self._failure.launches
            if failed.launch == symptom["launch"]
            and (failed.row is None or symptom["row"] is None or failed.row == symptom["row"])
        )
        found = max((way for way in ways if way is not None), default=None, key=lambda way: way.tie)
        if found is not None:
            return found.why
        if self._shares_request(row) and row["request"] == symptom["request"]:
            return f"the same request {row['request']}"
        return None

    def may_be(self, row: Row) -> bool:
        """Where it is not tied: may it have reached what failed, through what others computed of it?"""
        if row["class"] in ("symptom", "resource") or row["code"] == "TR204" or not self._failure.launches:
            return False
        if all(self._is_later(row, failed) for failed in self._failure.launches):
            return False
        pages: set[tuple[int, int]] = set()
        if row["resource_kind"] == "page":
            pages = {(row["resource_id"], life) for life in self._lives(row)}
        return self._reach.may(row["finding"], pages)

    def _of(self, row: Row) -> Tie:
        if row["class"] == "symptom":
            return Tie.SHARED
        if row["code"] == "TR204":
            return Tie.SHARED if self._failure.wants_room else Tie.NONE
        if row["class"] != "resource" and (self._shares_request(row) or self._failure.is_of_host(row)):
            return Tie.SHARED
        ways = (self._way(row, failed) for failed in self._failure.launches)
        return max((way.tie for way in ways if way is not None), default=Tie.NONE)

    def _way(self, row: Row, failed: Failed) -> Way | None:
        """By what it is tied to that launch, the closest first."""
        if self._is_its_own(row, failed):
            return Way(Tie.SHARED, f"the same launch {failed.launch}")
        if row["class"] == "resource":
            return None
        shared = self._shared(row, failed)
        if shared is not None:
            return Way(Tie.SHARED, shared)
        name = f"launch {failed.launch}"
        writer = self._reach.stored[row["finding"]].get(failed.launch)
        if writer is not None:
            return Way(Tie.STORED, f"{name} uses what launch {writer} stored")
        writer = self._reach.astray[row["finding"]].get(failed.launch)
        if writer is not None:
            return Way(Tie.STORED, f"{name} uses a page in which launch {writer} may have stored")
        return None

    def _is_its_own(self, row: Row, failed: Failed) -> bool:
        if row["launch"] is not None and _is_of(row, failed):
            return True
        return (
            row["class"] in ("order", "lifetime", "resource")
            and row["other_launch"] == failed.launch
            and not self._is_later(row, failed)
        )

    def _shares_request(self, row: Row) -> bool:
        return row["code"] in PREFIX and row["request"] in self._failure.requests

    def _shared(self, row: Row, failed: Failed) -> str | None:
        """A row or a page that both have, with a launch that does not come before the finding's act."""
        if self._is_later(row, failed):
            return None
        name = f"launch {failed.launch}"
        if row["code"] in BYTES:
            # What was computed over since is no longer there.
            still = (row["finding"], failed.launch) in self._reach.still
            return f"{name} loads the same bytes of page {row['resource_id']}" if still else None
        tenancy = (failed.launch, row["row"], row["generation"])
        rows = self._reach.past if row["code"] == "TR403" else self._tenancies
        if row["row"] is not None and tenancy in rows:
            return f"row {row['row']} in the same generation"
        for life in sorted(self._lives(row)) if row["resource_kind"] == "page" else ():
            page = (row["resource_id"], life)
            if (failed.launch, *page) in self._reach.pages:
                return f"{name} uses page {page[0]}.{life}"
            # A race with the copy itself, or what came before it.
            if any(
                one.launch == failed.launch and (row["seq"] <= one.seq or row["other_seq"] == one.seq)
                for one in self._reach.copied.get(page, ())
            ):
                return f"{name} uses what was copied from page {page[0]}.{life}"
        return None

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
    def _later(self) -> set[tuple[int, int]]:
        return {(row["finding"], row["launch"]) for row in self._with_launches(LATER)}

    @cached_property
    def _then(self) -> dict[int, int]:
        return {row["finding"]: row["life"] for row in self._questions.rows(THEN)}


def _is_of(row: Row, failed: Failed) -> bool:
    """Is the finding of that launch, and not of another row than the one that went wrong?"""
    return row["launch"] == failed.launch and (
        failed.row is None or row["row"] is None or row["row"] == failed.row
    )
