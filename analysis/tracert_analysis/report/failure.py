"""What failed, as far as a history has it.

That is a launch that was running when the device did, one that gave values which are not finite, one that
does not end, a request that was refused.

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

    def is_of_host(self, row: Row) -> bool:
        """Is it the last act before an exception, or about a page that a failed check of the state names?"""
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
        requests = ", ".join(map(str, sorted(self.requests))) or "NULL"
        return FAILED.format(device="true" if self._device else "false", requests=requests)

    @cached_property
    def requests(self) -> set[int]:
        """Those that symptoms are about, and those whose result was refused."""
        told = {
            row["request"] for row in self._rows if row["class"] == "symptom" and row["request"] is not None
        }
        details = (error.get("detail") for error in self._errors)
        numbers = (_number(detail.get("request")) for detail in details if isinstance(detail, dict))
        return told | {number for number in numbers if number is not None}

    @cached_property
    def _last_act(self) -> int | None:
        found: int | None = self._questions.rows(LAST_ACT)[0]["seq"]
        return found

    @cached_property
    def wants_room(self) -> bool:
        """Would pages that nobody gives back explain it?"""
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


def _read(row: Row) -> Row:
    detail = row["detail"]
    return {**row, "detail": json.loads(detail) if isinstance(detail, str) else detail}


def _is_of_device(error: dict[str, Any], reason: str) -> bool:
    """Did launches that were running fail with it? One that refuses a result ends a request only."""
    learnt = error.get("observed_at") or ("engine" if reason == "exception" else "")
    return learnt not in ("commit", "engine")


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63 else None
