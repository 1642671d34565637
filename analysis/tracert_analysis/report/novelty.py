"""What was new about a launch: traits that few launches before it had, with counts.

A hint, not a finding: the first of a kind is not wrong. It points at the path that had not run before.
"""

from tracert_analysis.report.questions import Questions
from tracert_analysis.report.report import Act, Novelty

RARE = 0.1
"""New is what at most this part of the launches before it had."""

TRAITS = "SELECT * FROM what_was_new($launch)"


def novelties(questions: Questions, act: Act | None) -> tuple[Novelty, ...]:
    """Rare traits of a launch, the rarest first; none of the first launch there is."""
    if act is None:
        return ()
    told = questions.ask(f"what was new about launch {act.launch}", TRAITS, launch=act.launch)
    return tuple(
        Novelty(f"{row['trait']} {row['value']}", row["support"], row["earlier"], told.query)
        for row in told.rows
        if row["earlier"] and row["support"] <= RARE * row["earlier"]
    )
