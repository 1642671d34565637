"""Work on a dump's tables on a second connection, so that two cores have something to do."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import duckdb


def beside(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection that sees the same tables under the same names."""
    path = connection.execute("SELECT current_setting('search_path')").fetchall()[0][0]
    other = connection.cursor()
    other.execute(f"SET search_path = '{path}'")
    return other


@contextmanager
def meanwhile(
    connection: duckdb.DuckDBPyConnection, work: Callable[[duckdb.DuckDBPyConnection], None]
) -> Iterator[None]:
    """Do `work` while the body runs, and be done with both at its end. What `work` raises is raised there.

    Neither may read what the other fills. Where the database has one thread, `work` comes after the body.
    """
    if connection.execute("SELECT current_setting('threads')").fetchall()[0][0] == 1:
        yield
        work(connection)
        return
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work, beside(connection))
        yield
        done.result()
