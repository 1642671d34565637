"""The one plain sentence of a report without a finding: what was checked, and what that means."""

from tracert_analysis.report.phrases import counted
from tracert_analysis.report.questions import Questions

COUNTS = """
SELECT
    (SELECT count(*) FROM event) AS events,
    (SELECT count(*) FROM launch) AS launches,
    (SELECT count(DISTINCT stream) FROM launch) AS streams,
    (SELECT count(*) FROM launch WHERE kind = 'publish') AS publishes,
    (SELECT count(*) FROM fence) AS fences,
    (SELECT count(DISTINCT page) FROM page_life) AS pages,
    (SELECT count(*) FROM page_life) AS lives,
    (SELECT count(*) FROM request) AS requests"""


def checked(questions: Questions) -> tuple[dict[str, int], int]:
    """How much of what was looked at, and the question's number."""
    told = questions.ask("how much was checked", COUNTS)
    return {name: int(count or 0) for name, count in (told.first or {}).items()}, told.query


def nothing_found(counts: dict[str, int], rules: int, failed: bool, partial: bool) -> str:
    """No rule is broken: says among how many things, and what remains open."""
    told = {name: counted(count, name) for name, count in counts.items()}
    looked = (
        f"{told['launches']} on {told['streams']}, {told['publishes']}, {told['fences']}, {told['lives']} of "
        f"{told['pages']}"
    )
    sentence = f"No rule is broken in what was recorded: {rules} rules were checked on {looked}."
    if failed:
        sentence += " The recorded history does not explain the error."
    if partial:
        sentence += " Part of the history is missing, so a cause may lie there."
    return sentence
