"""Checks every rule once more, on the recorded history with something changed.

A second schema holds that history and everything that follows from it; the dump's own tables stay as they
are.
"""

from collections.abc import Callable, Sequence

from tracert_analysis import library
from tracert_analysis.clocks import order_launches
from tracert_analysis.families import spread
from tracert_analysis.load import Dump
from tracert_analysis.provenance_table import fill_blemishes
from tracert_analysis.touch_table import fill_touches

EVENTS_MAX = 300_000
"""Checking everything again takes as long as the first time; a report of a long history does without."""

CHECKED = "rule checked again"
"""What every sentence has that tells of an edited history, and none that says why there is none."""

SCHEMA = "counterfactual"

LEFT = "SELECT code FROM finding WHERE class <> 'symptom'"


def checked_again(
    dump: Dump, statements: Sequence[str], looked: Callable[[], None] | None = None
) -> list[str]:
    """The codes of the findings that are left when `statements` have made another `event` in an empty schema.

    They name the dump's own tables as `main.event`. Symptoms don't count: what was seen stays in the history.
    `looked` is called where the tables that the statements made are still there.
    """
    connection = dump.connection
    own = schema(dump)
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    try:
        # What is the same in every history, such as types, is found in the dump's own schema.
        connection.execute(f"SET search_path = '{SCHEMA},{own}'")
        for statement in statements:
            connection.execute(of_dump(statement, own))
        if looked is not None:
            looked()
        library.create_tables(connection, ("_told", "_clocks"))
        spread(connection, "event")
        order_launches(connection)
        library.create_state(connection)
        # What kernels saw, they saw in the history that happened.
        connection.execute("DELETE FROM _guarded")
        connection.execute("DELETE FROM _followed")
        fill_touches(connection)
        fill_blemishes(connection)
        library.create_access(connection)
        return [row[0] for row in connection.execute(LEFT).fetchall()]
    finally:
        connection.execute(f"USE {own}")
        connection.execute(f"DROP SCHEMA {SCHEMA} CASCADE")


def schema(dump: Dump) -> str:
    """Where the dump's own tables are: `main`, or a rank's schema."""
    return str(dump.connection.execute("SELECT current_schema()").fetchall()[0][0])


def of_dump(statement: str, own: str) -> str:
    """The statement with `main.` for the schema `own`."""
    return statement.replace("main.", f"{own}.")


def what_is_left(before: int, left: list[str]) -> str:
    """What the second check found, of so many findings `before`."""
    if not left:
        return f"{'the finding is' if before == 1 else f'all {before} findings are'} gone"
    codes = ", ".join(sorted(set(left)))
    if len(left) > before:
        return f"{len(left)} findings are there instead of {before}: {codes}"
    return f"{len(left)} of {before} findings {'is' if len(left) == 1 else 'are'} left: {codes}"
