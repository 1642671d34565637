"""The place in the code that broke a rule, as far as a history tells: kernels and streams."""

from tracert_analysis.report.questions import Questions, Row

# `place` is the one in the code that broke the rule: who left an entry of a row is no part of the mistake,
# and what stands in positions that nobody computed is chance, and with it the code.
KERNELS = """
SELECT *, CASE
    WHEN class = 'mapping' THEN [code, stream::VARCHAR, kernel]
    WHEN skipped THEN ['skipped', stream::VARCHAR, kernel]
    ELSE [code, stream::VARCHAR, other_stream::VARCHAR, kernel, other_kernel]
END AS place
FROM (
    SELECT f.finding, f.code, f.class, f.stream, f.other_stream, late.kernel, early.kernel AS other_kernel,
        early.seq < late.seq AND early.stream <> late.stream
            AND late.clock[early.stream + 1] < early.ordinal AS loose,
        f.code IN ('TR301', 'TR302') AND EXISTS (
            FROM _met m
            WHERE m.before_seq IS NOT NULL AND m.seq = f.seq AND m.page = f.resource_id AND m.life = f.life
        ) AS skipped
    FROM finding f
    LEFT JOIN launch late ON late.launch = f.launch LEFT JOIN launch early ON early.launch = f.other_launch
)"""

# How many findings have the place of the verdict, and how many of these do not come behind a finding.
TIMES = f"""
SELECT count(DISTINCT finding) AS times, count(DISTINCT finding) FILTER (finding <= $finding) AS number
FROM ({KERNELS}) WHERE place IN (SELECT place FROM ({KERNELS}) WHERE finding = $root)"""


class Places:
    """Where the rules of a history's findings were broken."""

    def __init__(self, questions: Questions, rows: list[Row]) -> None:
        """`rows` of the view `finding`: of these `of` and `order` can be asked."""
        listed = ", ".join(str(row["finding"]) for row in rows) or "NULL"
        self._questions = questions
        self._kernels = {
            row["finding"]: row for row in questions.rows(f"FROM ({KERNELS}) WHERE finding IN ({listed})")
        }

    def of(self, row: Row) -> tuple[object, ...]:
        """The place in the code that broke the rule."""
        return tuple(self._kernels[row["finding"]]["place"])

    def order(self, row: Row) -> tuple[object, ...] | None:
        """The place in the code where a call is missing: behind a kernel on a stream, before another."""
        kernels = self._kernels[row["finding"]]
        return (kernels["other_kernel"], row["other_stream"], row["stream"]) if kernels["loose"] else None

    def times(self, root: Row) -> int:
        """How often the rule is broken where `root` breaks it, in the whole history."""
        return max(int(self._count(root, root)["times"]), 1)

    def number(self, row: Row, root: Row) -> int:
        """Which time of these `row` is, from 1."""
        return max(int(self._count(row, root)["number"]), 1)

    def _count(self, row: Row, root: Row) -> Row:
        return self._questions.rows(TIMES, finding=row["finding"], root=root["finding"])[0]
