"""The findings of a history, which of them is the verdict, and which of the others follow from it."""

from typing import NamedTuple

from tracert_analysis.load import DumpError
from tracert_analysis.report.facts import Resource
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Finding

ALL = "SELECT * FROM finding ORDER BY finding"

KERNELS = """
SELECT f.finding, late.kernel, early.kernel AS other_kernel FROM finding f
LEFT JOIN launch late ON late.launch = f.launch LEFT JOIN launch early ON early.launch = f.other_launch"""

# Launches that may have found a page in a row which none of their entries is meant to name.
HARMFUL = """
SELECT f.finding FROM finding f JOIN access a ON a.launch = f.launch
WHERE f.code = $code GROUP BY f.finding, a.page HAVING NOT bool_or(a.certain)"""

# The call that is missing belongs to a place in the code: behind a kernel on a stream, before another stream.
ALIKE = """
WITH loose AS (
    SELECT f.finding, early.kernel, early.stream, late.stream AS to_stream
    FROM finding f
    JOIN launch early ON early.launch = f.other_launch JOIN launch late ON late.launch = f.launch
    WHERE early.seq < late.seq AND early.stream <> late.stream
        AND late.clock[early.stream + 1] < early.ordinal
)
SELECT l.finding FROM loose l JOIN loose r USING (kernel, stream, to_stream) WHERE r.finding = $finding"""

REPEATED = "the same again"

SAME_ORDER = "the same order is missing"
"""How the reason begins why a finding has the verdict's cause."""

LISTED = 200
"""A fault can break a rule at every step from then on: that many findings are enough to see it."""


def findings(questions: Questions) -> tuple[list[Row], int, int]:
    """Rows of the view `finding`, first the verdict; the question's number; how many there are in all.

    DumpError when there is no telling: no finding must never be a failure to look.
    """
    told = questions.ask("rules that the history breaks, the earliest first", ALL)
    if questions.unanswered:
        raise DumpError(f"this history cannot be checked: {questions.unanswered[0]}")
    return told.rows[:LISTED], told.query, len(told.rows)


def alike(questions: Questions, rows: list[Row]) -> list[Row]:
    """The verdict and its repetitions: the same rule, broken by the same kernels on the same streams."""
    kernels = {row["finding"]: (row["kernel"], row["other_kernel"]) for row in questions.rows(KERNELS)}

    def place(row: Row) -> tuple[object, ...]:
        kernel, other = kernels[row["finding"]]
        if row["class"] == "mapping":
            # Who left an entry is no part of the mistake.
            return row["code"], row["stream"], kernel
        return row["code"], row["stream"], row["other_stream"], kernel, other

    return [row for row in rows if place(row) == place(rows[0])]


class Shown(NamedTuple):
    """Of the verdict and its repetitions the one that the report tells of, and why."""

    row: Row
    why: str | None
    """None when it is the verdict itself."""


def shown(questions: Questions, repetitions: list[Row]) -> Shown:
    """The first that visibly went wrong, else the first that could read foreign pages, else the verdict."""
    root = repetitions[0]
    observed = next((row for row in repetitions if row["confidence"] == "observed"), None)
    if observed is not None:
        return Shown(observed, None if observed is root else "where it visibly went wrong")
    if len(repetitions) > 1:
        code = root["code"]
        harmful = {row["finding"] for row in questions.rows(HARMFUL, code=code)}
        chosen = next((row for row in repetitions if row["finding"] in harmful), root)
        if chosen is not root:
            return Shown(chosen, "where the row still named pages that are not meant")
    return Shown(root, None)


def story(repetitions: list[Row], chosen: Shown, lacks_order: bool) -> str:
    """The verdict as a sentence, and another one when it is not the only one of its kind."""
    first = as_sentence(repetitions[0]["sentence"])
    more = len(repetitions) - 1
    if not more:
        return first
    what = "The same order is missing" if lacks_order else "The same rule is broken"
    times = f"{what} {more} more time{'s' if more > 1 else ''}"
    if chosen.why is None:
        return f"{first} {times}."
    return f"{first} {times}; {chosen.why}, {chosen.row['sentence']}".rstrip(".") + "."


def finding(row: Row, repetitions: list[Row], unordered: set[int]) -> Finding:
    """A row of the view as the report lists it; the first of `repetitions` is the verdict.

    `unordered`: findings that the verdict's missing call would have prevented.
    """
    return Finding(
        code=row["code"],
        name=row["name"],
        seq=row["seq"],
        category=row["class"],
        confidence=row["confidence"],
        sentence=as_sentence(row["sentence"]),
        resource=resource(row),
        launch=row["launch"],
        request=row["request"],
        follows=_why(row, repetitions, unordered),
    )


def as_sentence(clause: str | None) -> str:
    """The view's clause as a sentence; a holder keeps its small letter. A damaged event leaves it empty."""
    clause = clause or "the rule is broken, and the event does not say how"
    first = clause.split(" ", 1)[0]
    start = clause if ":" in first else clause[:1].upper() + clause[1:]
    return start if start.endswith(".") else f"{start}."


def resource(row: Row) -> Resource:
    """What the finding is about."""
    return Resource(
        kind=row["resource_kind"] or "none",
        id=row["resource_id"],
        life=row["life"],
        generation=row["generation"] if row["resource_kind"] == "row" else None,
    )


def _why(row: Row, repetitions: list[Row], unordered: set[int]) -> str | None:
    if row is repetitions[0]:
        return None
    if any(row is other for other in repetitions):
        return REPEATED
    if row["finding"] in unordered:
        return SAME_ORDER
    return next((why for root in repetitions if (why := follows(row, root))), None)


def unordered_alike(questions: Questions, root: Row) -> set[int]:
    """Findings that lack order between the verdict's streams, behind the same kernel."""
    told = questions.rows(ALIKE, finding=root["finding"])
    return {row["finding"] for row in told}


def follows(row: Row, root: Row) -> str | None:
    """Why a later finding is a consequence of the verdict; None when nothing ties them together."""
    if row["seq"] < root["seq"]:
        return None
    if row["launch"] is not None and row["launch"] == root["launch"]:
        return f"the same launch {row['launch']}"
    if row["row"] is not None and row["row"] == root["row"] and row["generation"] == root["generation"]:
        return f"row {row['row']} in the same generation"
    if row["resource_kind"] == root["resource_kind"] == "page" and row["resource_id"] == root["resource_id"]:
        return f"page {row['resource_id']} again"
    if row["request"] is not None and row["request"] == root["request"]:
        return f"the same request {row['request']}"
    return None
