"""Would the missing call have helped? Adds it to the history and checks every rule again.

The call belongs to a place in the code, not to one launch: a fence is added behind every launch of the
earlier act's kernel and stream, and a wait before the next launch of the later act's stream. Where bytes are
wrong, it is a clear before the first use of the page, or a kernel that loads no more than is valid.
"""

from tracert_analysis.load import Dump
from tracert_analysis.report.again import EVENTS_MAX, checked_again, what_is_left
from tracert_analysis.report.questions import Row

BYTES = ("TR301", "TR302")
"""Findings that a clear would have prevented."""

PLACES = """
SELECT DISTINCT early.kernel, early.stream, late.stream AS to_stream
FROM main.finding f
JOIN main.launch early ON early.launch = f.other_launch
JOIN main.launch late ON late.launch = f.launch
WHERE early.seq < late.seq AND early.stream <> late.stream AND late.clock[early.stream + 1] < early.ordinal"""

# What other findings lack is no answer to the verdict.
VERDICT = f"SELECT count(*) FROM ({PLACES} AND f.finding = $finding)"

# Between two events three numbers become free: for a fence behind the one and a wait before the other.
FENCES = f"""
CREATE TABLE _fence AS
SELECT (SELECT coalesce(max(fence), 0) FROM main.event) + row_number() OVER () AS fence,
    early.stream, early.ordinal, 4 * early.seq - 2 AS record_seq, late.stream AS to_stream,
    4 * late.seq - 4 AS wait_seq
FROM (SELECT * FROM main.launch JOIN ({PLACES}) USING (kernel, stream)) AS early
ASOF JOIN main.launch AS late ON early.to_stream = late.stream AND early.seq < late.seq"""

ADDED = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT record_seq AS seq, 'fence_record' AS kind, fence, stream, ordinal FROM _fence;
INSERT INTO _added BY NAME
SELECT wait_seq AS seq, 'fence_wait' AS kind, fence, to_stream AS stream, record_seq FROM _fence"""

EVENTS = """
CREATE VIEW event AS
SELECT * REPLACE (
    4 * seq - 3 AS seq,
    CASE WHEN record_seq > 0 THEN 4 * record_seq - 3 ELSE record_seq END AS record_seq
) FROM main.event
UNION ALL BY NAME FROM _added"""

CALLS = f"""
SELECT count(*) FROM (SELECT * FROM main.launch JOIN ({PLACES}) USING (kernel, stream)) AS early
ASOF JOIN main.launch AS late ON early.to_stream = late.stream AND early.seq < late.seq"""

# A clear of each page that a finding names, just before the first launch that uses it in that life, and on
# its stream. Ordinals are doubled: the clear takes the free one before that launch.
CLEARS = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT 4 * l.seq - 4 AS seq, 'clear' AS kind,
    (SELECT max(launch) FROM main.launch) + row_number() OVER (ORDER BY l.seq) AS launch, l.stream,
    2 * l.ordinal - 1 AS ordinal, 'clear_pages' AS kernel, u.target
FROM (
    SELECT s.seq, list([s.page, s.life, 0, w.page_size::BIGINT]) AS target
    FROM (
        SELECT f.resource_id AS page, f.life::BIGINT AS life, min(s.first_seq) AS seq
        FROM main.finding f JOIN main._span s ON s.page = f.resource_id AND s.life = f.life
        WHERE f.code IN ('TR301', 'TR302') GROUP BY f.resource_id, f.life
    ) AS s, main._window AS w GROUP BY s.seq
) AS u JOIN main.launch AS l ON l.seq = u.seq"""

CLEARED = """
CREATE VIEW event AS
SELECT * REPLACE (
    4 * seq - 3 AS seq, 2 * ordinal AS ordinal,
    CASE WHEN record_seq > 0 THEN 4 * record_seq - 3 ELSE record_seq END AS record_seq
) FROM main.event
UNION ALL BY NAME FROM _added"""

NARROWED = """
CREATE VIEW event AS
SELECT e.* REPLACE (list_transform(e.uses, lambda u: {
    'row': u."row", 'generation': u.generation, 'start': u.start, 'end': u."end",
    'walked': least(u.walked, ceil(u."end" / w.page_size)::UINTEGER), 'covers': 'valid'
}) AS uses) FROM main.event AS e, main._window AS w"""

BROKEN = "SELECT count(*) FROM main.finding WHERE class <> 'symptom'"

WHOLE = "SELECT count(*) FROM main._use WHERE covers = 'page'"


def counterfactual(dump: Dump, findings: list[Row]) -> str | None:
    """What is left of the findings when what lacked is added, as a sentence.

    None when the verdict is no lack of order between two streams or of a clear, or the history is long.
    """
    if not findings or dump.evidence.events > EVENTS_MAX:
        return None
    broken = dump.connection.execute(BROKEN).fetchall()[0][0]
    if findings[0]["code"] in BYTES:
        return _bytes(dump, broken)
    if not dump.connection.execute(VERDICT, {"finding": findings[0]["finding"]}).fetchall()[0][0]:
        return None
    calls = dump.connection.execute(CALLS).fetchall()[0][0]
    left = checked_again(dump, (FENCES, ADDED, EVENTS))
    times = "once" if calls == 1 else f"in all {calls} places where this code runs"
    return (
        f"with the call added to the recorded history ({times}) and every rule checked again, "
        f"{what_is_left(broken, left)}"
    )


def _bytes(dump: Dump, before: int) -> str:
    left = checked_again(dump, (CLEARS, CLEARED))
    sentence = (
        "with a clear of the page added to the recorded history before its first use, and every rule checked "
        f"again, {what_is_left(before, left)}"
    )
    if not dump.connection.execute(WHOLE).fetchall()[0][0]:
        return sentence
    narrowed = checked_again(dump, (NARROWED,))
    return f"{sentence}; with kernels that load valid positions only, {what_is_left(before, narrowed)}"
