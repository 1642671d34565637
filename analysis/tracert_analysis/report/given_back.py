"""What if the workspace's blocks had been given back? Room is reckoned anew, and every rule checked again.

A block that outlives its launch is given back where the host settled the launch's step. Where none does,
and a launch finds no room, the oldest block that is live is given back before that launch is planned. What
was placed later stays where it was: only who is in the way is changed.
"""

from tracert_analysis.load import Dump
from tracert_analysis.report.added import adding, with_added
from tracert_analysis.report.again import Edited, checked_again, rows
from tracert_analysis.report.questions import Row

# Blocks that findings call kept: in these the launch and the one that is in the way are the same.
KEPT = """
SELECT w.launch, w.stream, w."offset", w.bytes, w.capacity, w.alloc_seq, w.free_seq, min(f.seq) AS due
FROM main.finding AS f
JOIN main.workspace AS w ON w.launch = f.launch AND w."offset" = f.resource_id AND w.alloc_seq = f.other_seq
WHERE f.code = 'TR701' AND f.launch = f.other_launch GROUP BY ALL"""

# The oldest block that is live when a launch is planned which finds no room.
OLDEST = """
SELECT w.launch, w.stream, w."offset", w.bytes, w.capacity, w.alloc_seq, w.free_seq, (
        SELECT max(p.seq) FROM main.event AS p
        WHERE p.kind = 'workspace_plan' AND p.launch = f.launch AND p.seq < f.seq
    ) AS due
FROM main.finding AS f
JOIN main.workspace AS w
    ON w.launch = f.other_launch AND w."offset" = f.resource_id AND w.alloc_seq = f.other_seq
WHERE f.finding = $verdict AND f.code = 'TR701' AND f.launch <> f.other_launch"""

FREED = "CREATE TABLE _freed AS {blocks}"

# Per plan that a block given back would have changed, the longest piece free beside what was live then, with
# all of it and without what is given back. Kept only where the former is what the runtime itself told.
ROOMS = """
CREATE TABLE _room AS
WITH
    plans AS (
        SELECT DISTINCT p.seq, p.launch, p.room, p.capacity::BIGINT AS capacity
        FROM main.event AS p JOIN _freed AS f ON p.seq >= f.due AND coalesce(p.seq < f.free_seq, true)
        WHERE p.kind = 'workspace_plan' AND p.room IS NOT NULL AND p.capacity IS NOT NULL
    ),
    beside AS (
        SELECT p.seq, w."offset"::BIGINT AS first, w."offset"::BIGINT + w.bytes::BIGINT AS "end", EXISTS (
                FROM _freed AS f WHERE f.alloc_seq = w.alloc_seq AND f.due <= p.seq
            ) AS freed
        FROM plans AS p JOIN main.workspace AS w ON w.alloc_seq < p.seq AND coalesce(w.free_seq > p.seq, true)
    ),
    gaps AS (
        SELECT seq, false AS without, first, "end" FROM beside
        UNION ALL
        SELECT seq, true, first, "end" FROM beside WHERE NOT freed
        UNION ALL
        SELECT p.seq, b.without, p.capacity, p.capacity
        FROM plans AS p, (VALUES (false), (true)) AS b (without)
    ),
    longest AS (
        SELECT seq, without, max(gap) AS room FROM (
            SELECT seq, without, first - coalesce(max("end") OVER (
                    PARTITION BY seq, without ORDER BY first, "end"
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), 0) AS gap
            FROM gaps
        ) GROUP BY seq, without
    )
SELECT p.seq, p.launch, l.room::UBIGINT AS room
FROM plans AS p
JOIN longest AS l ON l.seq = p.seq AND l.without
JOIN longest AS t ON t.seq = p.seq AND NOT t.without
WHERE t.room = p.room"""

ADDED = adding("""
SELECT 4 * due - 4 AS seq, 'workspace_free' AS kind, launch, stream, "offset", bytes, capacity FROM _freed""")

EVENTS = with_added("coalesce(r.room, e.room) AS room", "LEFT JOIN _room AS r ON e.seq = r.seq")

# The launch that finds no room first, and its plan.
STARVED = """
SELECT f.launch, p.bytes, p.capacity FROM main.finding AS f
JOIN main.event AS p ON p.kind = 'workspace_plan' AND p.launch = f.launch AND p.seq < f.seq
WHERE f.code = 'TR701' AND f.launch IS DISTINCT FROM f.other_launch ORDER BY f.seq, p.seq DESC LIMIT 1"""


def given_back(dump: Dump, root: Row) -> Edited | None:
    """What is left of the findings when blocks are given back; None where none could be."""
    number = root["finding"]
    starved = next(iter(rows(dump, STARVED)), None)
    kept, blocks = rows(dump, KEPT), KEPT
    if not kept:
        kept, blocks = [row for row in rows(dump, OLDEST, number) if row["due"] is not None], OLDEST
    if starved and starved["bytes"] > starved["capacity"] and root["launch"] == starved["launch"]:
        return Edited(
            f"no block given back would have helped: launch {starved['launch']} planned {starved['bytes']} "
            f"bytes, and the whole workspace has {starved['capacity']}",
            None,
        )
    if not kept:
        return None
    rooms: list[Row] = []
    taken = blocks.replace("$verdict", f"{number:d}")
    statements = (FREED.format(blocks=taken), ROOMS, ADDED, EVENTS)
    left = checked_again(dump, statements, lambda: rooms.extend(rows(dump, "FROM _room")))
    found = next((row for row in reversed(rooms) if starved and row["launch"] == starved["launch"]), None)
    told = (
        f"; launch {found['launch']} then finds {found['room']} bytes in one piece for its {starved['bytes']}"
        if found is not None and starved is not None
        else ""
    )
    sentence = left.told(f"with {_what(kept, blocks)}") + told
    gone = left.same(root) is None
    return Edited(sentence, gone, left=left, helps=("kept" if blocks is KEPT else "oldest",) if gone else ())


def _what(kept: list[Row], blocks: str) -> str:
    block = min(kept, key=lambda row: row["alloc_seq"])
    named = f"the {block['bytes']} bytes at {block['offset']}"
    if blocks is OLDEST:
        return f"{named} of launch {block['launch']} given back before event {block['due']},"
    if len(kept) > 1:
        return f"all {len(kept)} blocks that were kept given back when their launches had ended,"
    return f"{named} given back when launch {block['launch']} had ended, before event {block['due']},"
