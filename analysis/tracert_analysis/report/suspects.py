"""Whose answers a race may have made wrong: requests whose launches read what raced, or what came of it."""

from collections.abc import Iterator

from tracert_analysis.report.phrases import LISTED
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.contrast import Contrast

RACES = ("TR101", "TR104", "TR202", "TR502")
"""Findings about two acts on a page that nothing orders."""

# What reads beside a write may have read either; what it copied has that, wherever it lies. A write that was
# to come first may have come last: who reads the page from then on may read that.
READERS = """
WITH raced AS (
    SELECT seq, other_seq, resource_id AS page, life FROM finding
    WHERE code = $code AND resource_kind = 'page' AND other_seq IS NOT NULL
),
touched AS (
    SELECT DISTINCT a.seq, a.page, a.life, a.mode, a.request FROM access a JOIN (
        SELECT page, seq FROM raced UNION SELECT page, other_seq FROM raced
    ) AS r ON a.page = r.page AND a.seq = r.seq
    WHERE a.certain
),
beside AS (
    SELECT DISTINCT t.* FROM touched t JOIN (
        SELECT page, seq, other_seq AS beside FROM raced UNION SELECT page, other_seq, seq FROM raced
    ) AS r ON t.page = r.page AND t.seq = r.seq
    JOIN touched w ON w.page = r.page AND w.seq = r.beside AND w.mode = 'write'
    WHERE t.mode = 'read'
),
copied AS (
    SELECT DISTINCT b.page, b.life, b.seq FROM byte_write b JOIN beside t
    ON b.source_page = t.page AND b.source_life = t.life AND b.source_seq = t.seq
),
late AS (
    SELECT r.page, r.life, r.seq FROM raced r JOIN touched t
    ON t.page = r.page AND t.seq = r.other_seq WHERE t.mode = 'write'
),
readers AS (
    SELECT 'raced' AS how, request, seq FROM beside
    UNION ALL
    SELECT 'copied', a.request, a.seq FROM copied c JOIN access a
    ON a.page = c.page AND a.life = c.life AND a.seq > c.seq WHERE a.mode = 'read' AND a.certain
    UNION ALL
    SELECT 'late', a.request, a.seq FROM late w JOIN access a
    ON a.page = w.page AND a.life = w.life AND a.seq > w.seq
    WHERE a.mode = 'read' AND a.certain
)
SELECT s.how, s.request, q.id, min(s.seq) AS seq FROM readers s LEFT JOIN request q USING (request)
WHERE s.request IS NOT NULL GROUP BY ALL ORDER BY seq, s.request"""

MET = """
SELECT f.request, any_value(q.id) AS id, min(f.seq) AS seq FROM finding f LEFT JOIN request q USING (request)
WHERE f.code = $code AND f.request IS NOT NULL GROUP BY f.request ORDER BY seq"""

HOW = {
    "raced": "read what may have been written while they did",
    "copied": "read a copy of what may have been written while it was copied",
    "late": "read a page that may have been written too late",
}


def suspects(questions: Questions, row: Row) -> Iterator[Contrast]:
    """Requests whose answers may be wrong; that there are none where nobody read what raced."""
    code = row["code"]
    if code in RACES:
        told = questions.ask("requests that read what raced, or what was copied of it", READERS, code=code)
        parts = [
            f"{_requests(found)} {text}, from seq {found[0]['seq']} on"
            for how, text in HOW.items()
            if (found := [item for item in told.rows if item["how"] == how])
        ]
        requests = {item["request"] for item in told.rows}
        text = "; ".join(parts) or "no request read what raced, nor what was copied of it"
        yield Contrast(text, len(requests), None, told.query, "suspect")
    elif code in ("TR301", "TR302", "TR102"):
        told = questions.ask("requests whose launches broke the rule", MET, code=code)
        if told.rows:
            what = "loaded such bytes"
            if code == "TR102":
                what = "may have followed a row before its publish had executed"
            text = f"{_requests(told.rows)} {what}"
            yield Contrast(text, len(told.rows), None, told.query, "suspect")


def _requests(rows: list[Row]) -> str:
    named = [f"{row['request']} ({row['id']})" if row["id"] else str(row["request"]) for row in rows[:LISTED]]
    rest = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"request{'s' if len(rows) > 1 else ''} {', '.join(named)}{rest}"
