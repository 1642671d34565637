"""The findings of a history, which of them is the verdict, and which of the others follow from it."""

from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Finding, Resource

ALL = "SELECT * FROM finding"

LISTED = 200
"""A fault can break a rule at every step from then on: that many findings are enough to see it."""


def findings(questions: Questions) -> tuple[list[Row], int, int]:
    """Rows of the view `finding`, first the verdict; the question's number; how many there are in all."""
    told = questions.ask("rules that the history breaks, the earliest first", ALL)
    return told.rows[:LISTED], told.query, len(told.rows)


def finding(row: Row, root: Row) -> Finding:
    """A row of the view as the report lists it; `root` is the verdict's."""
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
        follows=None if row is root else follows(row, root),
    )


def as_sentence(clause: str) -> str:
    """The view's clause as a sentence; a holder keeps its small letter."""
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
