"""What macros say of a page before an event is what they say of a history that ends there.

And who wrote last, on which positions, is what `byte_write` has last.
"""

from copy import copy
from pathlib import Path

import duckdb
import pytest

from tests.analysis.findings.test_bytes import anything
from tests.analysis.history import History
from tests.analysis.serving import Serving
from tests.some import a_few

MACROS = ("last_owner", "last_writer", "last_fence", "page_bytes")


def served(seed: int) -> History:
    """Requests that grow, share a prefix and end, on two streams with fences."""
    history = History(page_size=4, kv_pages=16)
    serving = Serving(history, seed)
    serving.start()
    while history.seq < 500:
        serving.step()
    return history


def until(history: History, seq: int) -> History:
    """What had been recorded before the event."""
    shorter = copy(history)
    shorter.events = [event for event in history.events if event["seq"] < seq]
    shorter.seq = seq - 1
    return shorter


def told(
    connection: duckdb.DuckDBPyConnection, macro: str, pages: int, before: str
) -> list[tuple[object, ...]]:
    """What a macro says of every page. How far a launch came by the end, it says of no other moment."""
    without = "EXCLUDE (state)" if macro == "last_writer" else ""
    return connection.execute(
        f"""
        SELECT p.page, m.* {without} FROM (SELECT unnest(range({pages})) AS page) AS p,
            {macro}(p.page, before := {before}) AS m
        ORDER BY ALL
        """
    ).fetchall()


def last_writes(
    connection: duckdb.DuckDBPyConnection, before: int, *, macro: bool
) -> list[tuple[object, ...]]:
    """The last write of every page before the event: by the macro, or by `byte_write`."""
    if macro:
        query = f"""
            SELECT m.page, m.seq, m.first, m."end", m.class
            FROM (SELECT unnest(range(kv_pages)) AS page FROM kv_layout) AS p,
                last_writer(p.page, before := {before}) AS m
            ORDER BY ALL
        """
    else:
        query = f"""
            SELECT page, seq, min(first), max("end"), min(class) FROM (
                FROM byte_write WHERE seq < {before}
                QUALIFY rank() OVER (PARTITION BY page ORDER BY seq DESC) = 1
            ) WHERE page < (SELECT kv_pages FROM kv_layout) GROUP BY page, seq ORDER BY ALL
        """
    return connection.execute(query).fetchall()


@pytest.mark.parametrize("history", a_few(1, [served(1), served(2), *map(anything, range(6))]))
def test_before_an_event_is_the_end_of_a_shorter_history(tmp_path: Path, history: History) -> None:
    """Owner, writer, fence and bytes of every page, at a third and at two thirds."""
    pages = history.header["config"]["kv_pages"]
    whole = history.read(tmp_path).connection
    for third in (1, 2):
        seq = history.seq * third // 3
        assert last_writes(whole, seq, macro=True) == last_writes(whole, seq, macro=False)
        part = until(history, seq).read(tmp_path).connection
        for macro in MACROS:
            found = told(whole, macro, pages, str(seq))
            assert found == told(part, macro, pages, "NULL"), (macro, seq)
            if macro in ("last_writer", "page_bytes"):
                assert found != told(whole, macro, pages, "NULL"), (macro, seq)
