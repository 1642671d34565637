"""How to run again what was recorded: the command and the schedule, as the header's configuration has them.

Neither the planted fault nor a scenario's name is read: a report says what the history says.
"""

from typing import Any

from tracert_analysis.report.report import Reproduce


def reproduce(config: dict[str, Any]) -> Reproduce:
    """The command that serves like this again, empty where none was recorded; the requests are the user's."""
    command, schedule = config.get("command"), config.get("schedule")
    return Reproduce(
        command if isinstance(command, str) else "", schedule if isinstance(schedule, str) else None
    )
