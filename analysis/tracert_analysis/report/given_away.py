"""Rows that changed hands: what mends it, and what if nobody had touched a row that was no longer theirs?

The latter leaves that out, and checks every rule again.

A publish for a tenancy of a row counts as late, and so does a launch's use of it, once the row was given back
and given to another. Poison that is published when a row is given back comes before that, and stays.
"""

from tracert_analysis.load import Dump
from tracert_analysis.report.again import Edited, checked_again, count, rows
from tracert_analysis.report.questions import Questions, Row

CODES = ("TR201", "TR401", "TR402", "TR403")

# What the verdict's launch met in the row that another tenancy had put there.
OTHERS = """
SELECT o.what, o.why FROM _other_tenant o JOIN row_content c ON c.content = o.content
WHERE c."row" = $row AND o.generation = $generation AND c.seq < $seq AND coalesce(c.until_seq > $seq, true)
    AND ($page IS NULL OR c.page = $page AND c.life = $life)
ORDER BY c."index" LIMIT 1"""

FIXES = {
    "both": ("Give a row away only when it was given back: one list of free rows, and each row in it once.",),
    "used late": (
        "Take a request out of what is still to be launched before its row is given back.",
        "Let a launch that is prepared ask whether each handle is its row's present generation.",
    ),
    "published": (
        "Let a publish ask whether its handle is the row's present generation, and drop it when it is not.",
        "Take what still waits to be published back when the row is given back.",
    ),
}
"""What mends it, by what the launch met; what an earlier tenant left has the general fixes of its finding."""

LATE = """
SELECT "row", generation, next_seq FROM (
    SELECT "row", generation, until_seq,
        lead(from_seq) OVER (PARTITION BY "row" ORDER BY from_seq) AS next_seq
    FROM main._tenancy
) WHERE until_seq < next_seq"""

PUBLISHES = f"""
SELECT p.seq, p.launch FROM main.launch AS p JOIN ({LATE}) AS x USING ("row", generation)
WHERE p.kind = 'publish' AND p.seq > x.next_seq"""

USES = f"""
SELECT u.seq, u.launch, u."row", u.generation FROM main._use AS u JOIN ({LATE}) AS x USING ("row", generation)
WHERE u.seq > x.next_seq"""

# The verdict's launch met in the row what was published too late, or is itself too late.
MET = f"""
SELECT count(*) FROM main.finding AS f
WHERE f.finding = $verdict AND f.code IN ('TR201', 'TR401', 'TR402', 'TR403') AND (
    EXISTS (FROM ({USES}) AS u WHERE u.seq = f.seq AND u."row" = f."row" AND u.generation = f.generation)
    OR EXISTS (
        FROM main.finding AS o JOIN ({PUBLISHES}) AS p ON o.other_launch = p.launch
        WHERE o.class = 'mapping' AND o.seq = f.seq AND o."row" = f."row" AND o.generation = f.generation
    )
)"""

COUNTS = f"SELECT (SELECT count(*) FROM ({PUBLISHES})) AS publishes, (SELECT count(*) FROM ({USES})) AS uses"

LEFT_OUT = f"""
CREATE TABLE _late_use AS
SELECT seq, list({{'row': "row", 'generation': generation}}) AS late FROM ({USES}) GROUP BY seq;
CREATE VIEW event AS
SELECT e.* REPLACE (CASE
    WHEN x.late IS NULL THEN e.uses
    ELSE list_filter(
        e.uses, lambda u: NOT list_contains(x.late, {{'row': u."row", 'generation': u.generation}})
    )
END AS uses)
FROM (FROM main.event AS a ANTI JOIN ({PUBLISHES}) AS p USING (seq)) AS e
LEFT JOIN _late_use AS x ON e.seq = x.seq"""


def fixes(questions: Questions, root: Row) -> tuple[str, ...]:
    """What mends it where the verdict's launch met what another tenancy of its row did; empty otherwise."""
    if root["code"] not in CODES or root["row"] is None:
        return ()
    is_page = root["resource_kind"] == "page"
    met = questions.rows(
        OTHERS,
        row=root["row"],
        generation=root["generation"],
        seq=root["seq"],
        page=root["resource_id"] if is_page else None,
        life=root["life"] if is_page else None,
    )
    return FIXES.get(met[0]["what"], ()) if met else ()


def given_away(dump: Dump, root: Row) -> Edited | None:
    """What is left of the findings without late acts; None when the verdict met none."""
    if not count(dump, MET, root):
        return None
    late = rows(dump, COUNTS)[0]
    told = [
        f"{late[name]} {one if late[name] == 1 else name} of a row"
        for name, one in (("publishes", "publish"), ("uses", "use"))
        if late[name]
    ]
    left = checked_again(dump, (LEFT_OUT,))
    what = f"without the {' and '.join(told)} that came after the row was given to another,"
    return Edited(left.told(what), left.same(root) is None, left=left)
