"""What failed, and which findings are tied to it: only these can be its cause.

What failed is a launch that was running when the device did, one that gave values which are not finite, one
that does not end, a request that was refused. A finding is tied to it by the launch itself, by a page in its
life, by a row in its generation, or by what its own launch stored. One whose act came in order after what
failed is not its cause, whatever they share; nor is a page that is kept, unless pages ran out.

A process that was killed from outside has not failed, and neither has one that ended in good order: then
there is nothing that a finding would have to explain, and the earliest is the verdict.
"""

import json
import re
from functools import cached_property
from typing import Any, NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.questions import Questions, Row

ROOM = re.compile(r"out.?of.?(memory|pages)|memory.?allocation|no.?(free.?)?(room|pages?)\b", re.IGNORECASE)
"""Errors that pages which nobody gives back explain."""

PREFIX = ("TR501", "TR503")
"""A cache gave a request what it must not: all that the request does with it follows."""
ENDINGS = ("TR201", "TR203", "TR205", "TR303", "TR503")
"""A life ended too early, or is not the only one: whoever gets the page next is hit."""
BEGINNINGS = ("TR104", "TR202")
"""What lacks is order after the life before: who still uses that one is hit."""

ERRORS = """
SELECT name, message, stream, observed_at, detail FROM event
WHERE kind = 'error' AND NOT _from_outside(name) ORDER BY seq LIMIT 100"""

FROM_OUTSIDE = "SELECT _from_outside(error ->> 'name') AS told FROM header"

# The rows are those in which something went wrong; null stands for all of the launch.
FAILED = """
SELECT DISTINCT l.launch, l.seq, f."row", f.why
FROM (
    SELECT launch, NULL AS "row", 'was running' AS why FROM launch WHERE state = 'running' AND {device}
    UNION ALL
    SELECT launch, "row", 'gave a value that is not finite' FROM event
    WHERE kind = 'nonfinite' AND launch IS NOT NULL
    UNION ALL
    SELECT launch, NULL, 'does not end' FROM finding WHERE code = 'TR901' AND launch IS NOT NULL
    UNION ALL
    SELECT max_by(launch, seq), max_by("row", seq), 'gave what was refused' FROM _use
    WHERE request IN ({requests}) GROUP BY request
) AS f JOIN launch l USING (launch) ORDER BY l.seq LIMIT 1000"""

# Where no launch is known to have failed: all that the host had not yet seen to end.
UNSEEN = """
SELECT launch, seq, NULL AS "row", 'may have failed' AS why FROM launch
WHERE learnt_seq IS NULL AND state IS DISTINCT FROM 'waiting' AND coalesce(stream = $stream, true)
ORDER BY seq DESC LIMIT 32"""

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

# The lives that pages had when rules about them were broken.
THEN = """
SELECT f.finding, max(p.life) AS life FROM finding f
JOIN page_life p ON f.resource_kind = 'page' AND p.page = f.resource_id AND p.alloc_seq < f.seq
GROUP BY f.finding"""

LAST_ACT = """
SELECT max(seq) AS seq FROM event
WHERE kind <> 'error'
    AND seq < (SELECT min(seq) FROM event WHERE kind = 'error' AND observed_at = 'engine')"""

# Nothing runs, a request waits, and the pages that are free would not hold its prompt.
STARVED = """
SELECT count(*) AS waiting FROM request r, _window w,
    (SELECT count(*) AS pages FROM page_life WHERE known_from IS NOT NULL AND unheld_seq IS NULL) AS h
WHERE r.status = 'waiting' AND NOT EXISTS (FROM launch WHERE state IN ('running', 'waiting'))
    AND (w.kv_pages::BIGINT - h.pages) * w.page_size::BIGINT < greatest(r.prompt_tokens, 1)"""


class Failed(NamedTuple):
    """A launch at which the failure shows."""

    launch: int
    seq: int
    row: int | None
    """The row in which it shows; None for all of the launch's."""
    why: str
    """What went wrong, to go on from the launch's name."""


class Failure:
    """What failed, as far as the history has it; each part is looked up when it is asked for."""

    def __init__(self, questions: Questions, reason: str, errors: list[Row], rows: list[Row]) -> None:
        """`errors` of the history, and the header's as the last; `rows` of the view `finding`."""
        self._questions = questions
        self._reason = reason
        self._errors = errors
        self._rows = rows
        self._device = [error for error in errors if _is_of_device(error, reason)]

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        if self._reason == "hang":
            return "the hang"
        if self._device:
            return "the failure of the device"
        host = next((e for e in reversed(self._errors) if e.get("observed_at") != "commit"), None)
        if host is not None:
            return f"what ended the engine ({host.get('name') or host.get('code')})"
        return "what went wrong"

    @cached_property
    def launches(self) -> tuple[Failed, ...]:
        """Where it shows, in the order of events; at most 1,000."""
        found = self._questions.rows(self._failed)
        if not found and self._device:
            found = self._questions.rows(UNSEEN, stream=_number(self._device[-1].get("stream")))
        return tuple(Failed(row["launch"], row["seq"], row["row"], row["why"]) for row in found)

    @property
    def told(self) -> str:
        """The launches at which it shows, for a sentence; empty where none is known."""
        if not self.launches:
            return ""
        first = self.launches[-1]
        more = len({failed.launch for failed in self.launches}) - 1
        return f"launch {first.launch}, which {first.why}" + (f", and {more} more" if more else "")

    def ask(self) -> int:
        """Keep the question of what failed among those of the report; its number."""
        return self._questions.ask("at which launches the failure shows", self._failed).query

    def is_tied(self, row: Row) -> bool:
        """Does the finding share a launch, a page, a row or what was stored with what failed?"""
        if row["class"] == "symptom":
            return True
        if row["code"] == "TR204":
            return self._wants_room
        if any(row["launch"] is not None and _is_of(row, failed) for failed in self.launches):
            return True
        if row["class"] in ("order", "lifetime", "resource") and any(
            row["other_launch"] == failed.launch and not self._is_later(row, failed)
            for failed in self.launches
        ):
            return True
        if row["class"] == "resource":
            return False
        return (
            self._shares(row)
            or (row["request"] in self._requests and (row["code"] in PREFIX or row["class"] == "content"))
            or self._is_of_host(row)
            or row["finding"] in self._stored
        )

    def _shares(self, row: Row) -> bool:
        """A row or a page, with a launch that does not come before the finding's act."""
        tenancy, page = (row["row"], row["generation"]), row["resource_id"]
        lives = self._lives(row) if row["resource_kind"] == "page" else set()
        for failed in self.launches:
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

    def _is_of_host(self, row: Row) -> bool:
        """The last act before an exception, or a page that a failed check of the host's state names."""
        if row["launch"] is None and self._last_act is not None and row["seq"] == self._last_act:
            return True
        if row["resource_kind"] != "page" or row["resource_id"] is None:
            return False
        named = re.compile(rf"\bpages? (\d+, )*{row['resource_id']:d}\b")
        return any(
            error.get("name") == "InvariantError" and named.search(str(error.get("message") or ""))
            for error in self._errors
        )

    @property
    def _failed(self) -> str:
        requests = ", ".join(map(str, sorted(self._requests))) or "NULL"
        return FAILED.format(device="true" if self._device else "false", requests=requests)

    @cached_property
    def _requests(self) -> set[int]:
        told = {
            row["request"] for row in self._rows if row["class"] == "symptom" and row["request"] is not None
        }
        details = (error.get("detail") for error in self._errors)
        numbers = (_number(detail.get("request")) for detail in details if isinstance(detail, dict))
        return told | {number for number in numbers if number is not None}

    def _with_launches(self, sql: str) -> list[Row]:
        if not self.launches:
            return []
        pairs = sorted({(one.launch, -1 if one.row is None else one.row) for one in self.launches})
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
    def _then(self) -> dict[int, int]:
        return {row["finding"]: row["life"] for row in self._questions.rows(THEN)}

    @cached_property
    def _last_act(self) -> int | None:
        found: int | None = self._questions.rows(LAST_ACT)[0]["seq"]
        return found

    @cached_property
    def _wants_room(self) -> bool:
        if any(ROOM.search(f"{error.get('name')} {error.get('message')}") for error in self._errors):
            return True
        return self._reason == "hang" and self._questions.rows(STARVED)[0]["waiting"] > 0


def failure(questions: Questions, dump: Dump, rows: list[Row]) -> Failure | None:
    """What failed, by the header, by errors in the history and by symptoms. None where nothing did."""
    reason = str(dump.header.get("reason") or "")
    header = dump.header.get("error")
    errors = [_read(row) for row in questions.rows(ERRORS)]
    if isinstance(header, dict) and not questions.rows(FROM_OUTSIDE)[0]["told"]:
        errors.append(header)
    told = bool(errors) or reason in ("device-error", "exception", "hang")
    if not told and not any(row["class"] == "symptom" for row in rows):
        return None
    return Failure(questions, reason, errors, rows)


def _is_of(row: Row, failed: Failed) -> bool:
    """Is the finding of that launch, and not of another row than the one that went wrong?"""
    return row["launch"] == failed.launch and (
        failed.row is None or row["row"] is None or row["row"] == failed.row
    )


def _read(row: Row) -> Row:
    detail = row["detail"]
    return {**row, "detail": json.loads(detail) if isinstance(detail, str) else detail}


def _is_of_device(error: dict[str, Any], reason: str) -> bool:
    """Did launches that were running fail with it? One that refuses a result ends a request only."""
    learnt = error.get("observed_at") or ("engine" if reason == "exception" else "")
    return learnt not in ("commit", "engine")


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None
