"""What was new about a launch: traits that few launches of its kernel before it had, alone or together.

A hint, not a finding: the first of a kind is not wrong. It points at the path that had not run before.
"""

from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Act, Novelty

RARE = 0.1
"""New is what at most this part of the launches before it had."""
EVER_NEW = (
    "first page",
    "last page",
    "tenancy",
    "tenants that its row has had, at least",
    "pages of the pool in use, at least",
)
"""Traits that are new at some time whatever happens, such as what only grows: the least of hints."""

TRAITS = "SELECT * FROM what_was_new($launch)"


def novelties(questions: Questions, act: Act | None) -> tuple[Novelty, ...]:
    """Rare traits of a launch, the rarest first, and sets that it alone had; none of the first launch."""
    if act is None:
        return ()
    told = questions.ask(f"what was new about launch {act.launch}", TRAITS, launch=act.launch)
    rare = [row for row in told.rows if row["earlier"] and row["support"] <= RARE * row["earlier"]]
    return tuple(_novelty(row, told.query) for row in rare)


def _novelty(row: Row, query: int) -> Novelty:
    support, earlier, trait, value = row["support"], row["earlier"], row["trait"], row["value"]
    if row["alone"] is None:
        ever_new = trait in EVER_NEW
        return Novelty(f"{trait} {value}", support, earlier, query, trait, value, ever_new=ever_new)
    alone = tuple(row["alone"])
    what = f"{value}, together ({' and '.join(map(str, alone))} alone)"
    grows = any(name in str(value) for name in EVER_NEW if name.endswith(", at least"))
    return Novelty(what, support, earlier, query, None, value, alone, ever_new=grows)
