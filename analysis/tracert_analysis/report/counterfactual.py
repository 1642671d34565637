"""Would the missing call have helped? Adds it to the history and checks every rule again.

The call belongs to a place in the code, not to one launch: a fence is added behind every launch of the
earlier act's kernel and stream, and a wait before the next launch of the later act's stream. A second schema
holds that history and everything that follows from it; the dump's own tables stay as they are.
"""

from tracert_analysis import library
from tracert_analysis.clocks import order_launches
from tracert_analysis.load import Dump
from tracert_analysis.provenance_table import fill_blemishes
from tracert_analysis.report.questions import Row
from tracert_analysis.touch_table import fill_touches

EVENTS_MAX = 300_000
"""Checking everything again takes as long as the first time; a report of a long history does without."""

SCHEMA = "counterfactual"

PLACES = """
CREATE TABLE _place AS
SELECT DISTINCT early.kernel, early.stream, late.stream AS to_stream
FROM main.finding f
JOIN main.launch early ON early.launch = f.other_launch
JOIN main.launch late ON late.launch = f.launch
WHERE early.seq < late.seq AND early.stream <> late.stream AND late.clock[early.stream + 1] < early.ordinal"""

# Between two events three numbers become free: for a fence behind the one and a wait before the other.
FENCES = """
CREATE TABLE _fence AS
SELECT (SELECT coalesce(max(fence), 0) FROM main.event) + row_number() OVER () AS fence,
    early.stream, early.ordinal, 4 * early.seq - 2 AS record_seq, late.stream AS to_stream,
    4 * late.seq - 4 AS wait_seq
FROM (SELECT * FROM main.launch JOIN _place USING (kernel, stream)) AS early
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


def counterfactual(dump: Dump, findings: list[Row]) -> str | None:
    """What is left of the findings when order is added wherever it lacked, as a sentence.

    None when no finding is a lack of order between two streams, or the history is long.
    """
    if not findings or dump.evidence.events > EVENTS_MAX:
        return None
    connection = dump.connection
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    try:
        connection.execute(f"USE {SCHEMA}")
        connection.execute(PLACES)
        places = connection.execute("SELECT count(*) FROM _place").fetchall()[0][0]
        if not places:
            return None
        for statement in (FENCES, ADDED, EVENTS):
            connection.execute(statement)
        connection.execute(library.text("tables", "_clocks"))
        order_launches(connection)
        library.create_state(connection)
        fill_touches(connection)
        fill_blemishes(connection)
        library.create_access(connection)
        left = [row[0] for row in connection.execute("SELECT code FROM finding").fetchall()]
        calls = connection.execute("SELECT count(*) FROM _fence").fetchall()[0][0]
    finally:
        connection.execute("USE main")
        connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")
    return _sentence(len(findings), left, calls)


def _sentence(before: int, left: list[str], calls: int) -> str:
    """What the second check found."""
    times = "once" if calls == 1 else f"in all {calls} places where this code runs"
    checked = f"with the call added to the recorded history ({times}) and every rule checked again"
    were = "the finding" if before == 1 else f"all {before} findings"
    if not left:
        return f"{checked}, {were} {'is' if before == 1 else 'are'} gone"
    codes = ", ".join(sorted(set(left)))
    return f"{checked}, {len(left)} of {before} findings {'is' if len(left) == 1 else 'are'} left: {codes}"
