"""What if a kernel's launches were enqueued on another stream? Every rule is checked again with that."""

from tracert_analysis.load import Dump
from tracert_analysis.report.again import EVENTS_MAX, NOT_CHECKED, Edited, checked_again
from tracert_analysis.report.edges import Move
from tracert_analysis.report.questions import Row, literal

# Launches of a stream are numbered anew, from the first number that the history has of it; fences stand where
# they stood.
PLACED = """
CREATE TABLE _placed AS
WITH
    launches AS (
        SELECT seq,
            CASE WHEN kernel = {kernel} AND stream = {stream} THEN {to_stream} ELSE stream END AS stream
        FROM main.launch
    ),
    bases AS (SELECT stream, greatest(min(ordinal), 1) - 1 AS ordinal FROM main.launch GROUP BY stream),
    numbered AS (
        SELECT l.seq, l.stream, coalesce(b.ordinal, 0) + row_number() OVER (
            PARTITION BY l.stream ORDER BY l.seq
        ) AS ordinal
        FROM launches AS l LEFT JOIN bases AS b USING (stream)
    )
FROM numbered
UNION ALL
SELECT f.seq, f.stream, coalesce(n.ordinal, least(f.ordinal, b.ordinal))
FROM main.event AS f ASOF LEFT JOIN numbered AS n ON f.stream = n.stream AND f.seq > n.seq
LEFT JOIN bases AS b ON f.stream = b.stream
WHERE f.kind = 'fence_record'"""

EVENTS = """
CREATE VIEW event AS
SELECT e.* REPLACE (coalesce(p.stream, e.stream) AS stream, coalesce(p.ordinal, e.ordinal) AS ordinal)
FROM main.event AS e LEFT JOIN _placed AS p ON e.seq = p.seq"""


def moved(dump: Dump, move: Move, root: Row) -> Edited:
    """What is left of the findings when the kernel's launches are moved.

    It repairs the verdict `root` where that is gone, and nothing is broken that was not.
    """
    if dump.evidence.events > EVENTS_MAX:
        return Edited(NOT_CHECKED, None)
    placed = PLACED.format(kernel=literal(move.kernel), stream=move.stream, to_stream=move.to_stream)
    left = checked_again(dump, (placed, EVENTS))
    return Edited(left.told(f"with {move.what},"), left.same(root) is None and not left.breaks)
