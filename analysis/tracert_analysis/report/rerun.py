"""How to run again what was recorded: the command and the schedule of the header, and the requests that came.

Neither the planted fault nor a scenario's name is read: a report says what the history says.
"""

from typing import Any

from tracert_analysis.report.questions import Questions
from tracert_analysis.report.report import Arrival, Reproduce

KEPT = 200
"""Of the requests that came the first so many are kept."""

ARRIVALS = f"""
SELECT request, id, seq, prompt_tokens, max_tokens, count(*) OVER () AS arrived
FROM event WHERE kind = 'arrive' ORDER BY seq LIMIT {KEPT}"""


def reproduce(questions: Questions, config: dict[str, Any]) -> Reproduce:
    """The command that serves like this again, empty where none was recorded, and who asked how much."""
    command, schedule = config.get("command"), config.get("schedule")
    told = questions.ask("requests in the order in which they came", ARRIVALS)
    return Reproduce(
        command if isinstance(command, str) else "",
        schedule if isinstance(schedule, str) else None,
        tuple(
            Arrival(row["request"], row["id"], row["seq"], row["prompt_tokens"], row["max_tokens"])
            for row in told.rows
            if row["request"] is not None
        ),
        told.rows[0]["arrived"] if told.rows else 0,
        told.query,
    )
