"""The findings of a history, which of them is the verdict, and which of those like it is told of."""

from typing import NamedTuple

import duckdb

from tracert_analysis.load import DumpError
from tracert_analysis.report.causes import Causes
from tracert_analysis.report.consequence import kept_room
from tracert_analysis.report.facts import Resource
from tracert_analysis.report.failure import Failure
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Finding

ALL = "SELECT * FROM finding ORDER BY finding"

TOTAL = "SELECT count(*) AS findings FROM finding"

# Of many the first, and of those behind them the first in which something visibly went wrong.
SOME = """
SELECT * FROM finding WHERE finding <= $listed OR finding IN (
    SELECT finding FROM finding WHERE finding > $listed AND (confidence = 'observed' OR class = 'symptom')
    ORDER BY finding LIMIT $listed
) ORDER BY finding"""

# Launches that may have found a page in a row which none of their entries is meant to name.
HARMFUL = """
SELECT f.finding FROM finding f JOIN access a ON a.launch = f.launch
WHERE f.code = $code GROUP BY f.finding, a.page HAVING NOT bool_or(a.certain)"""

LISTED = 200
"""A fault can break a rule at every step from then on: that many findings are enough to see it; of those
behind them so many more in which something visibly went wrong."""
BESIDE = 3
"""Of what stands beside the verdict so much is named in its sentence."""


class Found(NamedTuple):
    """Rows of the view `finding`, the earliest first."""

    rows: list[Row]
    """Those that a report lists."""
    query: int
    """The question's number."""
    total: int
    """How many there are."""


def findings(questions: Questions) -> Found:
    """The findings of the history.

    DumpError when there is no telling: no finding must never be a failure to look.
    """
    try:
        total = int(questions.rows(TOTAL)[0]["findings"])
    except duckdb.Error:
        # The question below tells why.
        total = 0
    about = "rules that the history breaks, the earliest first"
    told = questions.ask(about, ALL) if total <= LISTED else questions.ask(about, SOME, listed=LISTED)
    if questions.unanswered:
        raise DumpError(f"this history cannot be checked: {questions.unanswered[0]}")
    return Found(told.rows, told.query, total)


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


def story(causes: Causes, chosen: Shown, lacks_order: bool) -> str:
    """What the report tells of as a sentence, and what broke the rule first, where that is another."""
    repetitions = causes.repetitions()
    first = as_sentence(repetitions[0]["sentence"])
    if causes.times == 1:
        return first
    what = "the same rule is broken"
    if lacks_order:
        kernels = None not in (repetitions[0]["launch"], repetitions[0]["other_launch"])
        what = "the same order is missing" + (" between these kernels" if kernels else "")
    times = f"{causes.times:,} times that {what}"
    if chosen.why is None:
        return f"{first} It is the first of {times}."
    seen = "it visibly went wrong" if chosen.row["confidence"] == "observed" else "it could do harm"
    at = f"event {chosen.row['seq']}"
    if kept_room(chosen.row, repetitions[0]):
        told = f"{first} With that block still live {seen} at {at}, which is told below"
        return f"{told}: {chosen.row['sentence']}".rstrip(".") + "."
    number = causes.number(chosen.row)
    told = f"{as_sentence(chosen.row['sentence'])} There {seen}: it is number {number:,} ({at}) of {times}"
    before = f"the first was at event {repetitions[0]['seq']}"
    return f"{told}; {before}: {repetitions[0]['sentence']}".rstrip(".") + "."


def unexplained(causes: Causes, failure: Failure | None) -> str:
    """That the verdict does not explain what failed, or may not, as a sentence; empty where it does."""
    explains = causes.explains()
    others = any(row["class"] != "symptom" for cluster in causes.alone() for row in cluster)
    if failure is None or explains or (causes.root["class"] == "symptom" and not others):
        return ""
    if explains is None and failure.launches:
        failure.ask()
        return (
            f" Whether this explains {failure.name} is not known: by a page, a row or a launch nothing ties "
            f"it to {failure.told}, and what others computed of it may have come there."
        )
    if explains is None:
        return f" Whether this explains {failure.name} is not known: no launch is known at which it shows."
    failure.ask()
    if causes.root["class"] == "symptom":
        return " No rule that the history breaks beside it is tied to it."
    return (
        f" This does not explain {failure.name}: no rule that the history breaks is tied to {failure.told}, "
        "by a page, a row or a launch."
    )


def beside(causes: Causes, confidence: str) -> str:
    """What the verdict does not explain, as a sentence to go on with; empty where it explains all."""
    apart = causes.independent()
    alone = [cluster for cluster in causes.alone() if cluster not in apart]
    told = ""
    if alone:
        told = f" Not seen to follow from this: {_named(alone)}"
        seen = next((row for cluster in alone for row in cluster if row["confidence"] == "observed"), None)
        if seen is not None and confidence != "observed" and seen["class"] != "symptom":
            told += f"; what visibly went wrong is told of by {seen['code']} at seq {seen['seq']}"
        told += "."
    if apart:
        told += f" Also broken, independent of this failure: {_named(apart)}."
    return told


def _named(clusters: list[list[Row]]) -> str:
    named = [
        f"{cluster[0]['code']} {cluster[0]['name']} at seq {cluster[0]['seq']}"
        for cluster in clusters[:BESIDE]
    ]
    return ", ".join(named) + (f" and {len(clusters) - BESIDE} more" if len(clusters) > BESIDE else "")


def finding(row: Row, follows: str | None, independent: bool = False) -> Finding:
    """A row of the view as the report lists it; `follows` says why it is a consequence, if it is.

    `independent`: it has nothing to do with what failed.
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
        follows=follows,
        independent=independent,
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
