"""What follows from the events alone: clocks, holders, launches, what they touched. In the order of need."""

import duckdb

from tracert_analysis import library
from tracert_analysis.beside import meanwhile
from tracert_analysis.clocks import order_launches, order_others
from tracert_analysis.planning import plan_for
from tracert_analysis.touch_table import fill_touches


def fold(connection: duckdb.DuckDBPyConnection) -> None:
    """All tables of `library.HELD` and `library.STATE`, filled; clocks' `TooManyStreams` as there."""
    others = order_others(connection)
    plan_for(connection)
    with meanwhile(connection, lambda aside: order_launches(aside, others)):
        library.create_held(connection)
    with meanwhile(connection, fill_touches):
        library.create_state(connection)
