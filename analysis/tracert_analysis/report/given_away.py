"""What if nobody had touched a row that was no longer theirs? Leaves that out, and checks every rule again.

A publish for a tenancy of a row counts as late, and so does a launch's use of it, once the row was given back
and given to another. Poison that is published when a row is given back comes before that, and stays.
"""

from tracert_analysis.load import Dump
from tracert_analysis.report.again import checked_again, of_dump, schema, what_is_left

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
WHERE f.finding = 1 AND f.code IN ('TR201', 'TR401', 'TR402', 'TR403') AND (
    EXISTS (FROM ({USES}) AS u WHERE u.seq = f.seq AND u."row" = f."row" AND u.generation = f.generation)
    OR EXISTS (
        FROM main.finding AS o JOIN ({PUBLISHES}) AS p ON o.other_launch = p.launch
        WHERE o.class = 'mapping' AND o.seq = f.seq AND o."row" = f."row" AND o.generation = f.generation
    )
)"""

COUNTS = f"SELECT (SELECT count(*) FROM ({PUBLISHES})), (SELECT count(*) FROM ({USES}))"

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


def given_away(dump: Dump, broken: int) -> str | None:
    """What is left of so many findings without late acts, as a sentence; None when the verdict met none."""
    own = schema(dump)
    if not dump.connection.execute(of_dump(MET, own)).fetchall()[0][0]:
        return None
    publishes, uses = dump.connection.execute(of_dump(COUNTS, own)).fetchall()[0]
    told = [
        f"{count} {one if count == 1 else several} of a row"
        for count, one, several in ((publishes, "publish", "publishes"), (uses, "use", "uses"))
        if count
    ]
    left = checked_again(dump, (LEFT_OUT,))
    return (
        f"without the {' and '.join(told)} that came after the row was given to another, and every rule "
        f"checked again, {what_is_left(broken, left)}"
    )
