"""What was new about a launch: traits that few launches of its kernel before it had, alone or together.

A hint, not a finding: the first of a kind is not wrong. It points at the path that had not run before.
"""

from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Act, Novelty

RARE = 0.1
"""New is what at most this part of the launches before it had."""
LISTED = 10
"""So many traits are told, the rarest; and beside them so many sets of traits:"""
SETS = 3

TRAITS = "SELECT * FROM what_was_new($launch)"


def novelties(questions: Questions, act: Act | None) -> tuple[Novelty, ...]:
    """Rare traits of a launch, the rarest first, and what it alone had together; none of the first one."""
    if act is None:
        return ()
    told = questions.ask(f"what was new about launch {act.launch}", TRAITS, launch=act.launch)
    rare = [row for row in told.rows if row["earlier"] and row["support"] <= RARE * row["earlier"]]
    sets = [row for row in rare if row["alone"] is not None][:SETS]
    traits = [row for row in rare if row["alone"] is None][:LISTED]
    return tuple(
        Novelty(_named(row), row["support"], row["earlier"], told.query)
        for row in rare
        if row in sets or row in traits
    )


def _named(row: Row) -> str:
    if row["alone"] is None:
        return f"{row['trait']} {row['value']}"
    return f"{row['value']}, together ({' and '.join(map(str, row['alone']))} alone)"
