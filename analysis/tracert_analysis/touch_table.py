"""Takes uses and contents of rows out of the tables, and puts what is touched back as tables.

`_touch`: a content of an entry, the stream and mode in which launches touched it, the first and the last
of them. `_reading`: of those that read, how much of the page they had written themselves. `_unpublished`:
entries that launches followed though nothing was ever published in them. `_skip`: positions that launches
of a row started behind, and none had computed.
"""

import duckdb
import numpy as np
import numpy.typing as npt

from tracert_analysis.skipped import skips
from tracert_analysis.touch import FOREVER, Contents, Missing, Mode, Own, Pairs, Spans, Touches, Uses


def fill_touches(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill `_touch`, `_reading`, `_unpublished` and `_skip` from `_use` and `row_content`."""
    uses = Uses(
        *_fetch(connection, f"SELECT {', '.join(_USE)} FROM _use ORDER BY row, generation, stream, seq")
    )
    if not len(uses.seq):
        return
    contents = Contents(
        *_fetch(
            connection,
            f"""
            SELECT row, generation, index, seq, coalesce(until_seq, {FOREVER})
            FROM row_content ORDER BY content
            """,
        )
    )
    page_size = connection.execute("SELECT page_size FROM _window").fetchall()[0][0]
    touches = Touches(uses, contents)
    pairs, missing = touches.pairs()
    modes: list[Mode] = ["walk", "read"] if page_size is None else ["walk", "read", "write"]
    for mode in modes:
        spans = touches.spans(pairs, mode, page_size or 1)
        _insert(connection, mode, uses, pairs, spans)
        if mode == "read" and page_size is not None:
            _insert_readings(connection, uses, pairs, spans, touches.own(pairs, spans, page_size))
    _insert_missing(connection, uses, touches.heads, missing)
    _insert_skips(connection, uses)


_USE = (
    "seq",
    "row",
    "generation",
    "stream",
    "start",
    '"end"',
    "walked",
    "depth",
    "(covers = 'page')::BIGINT",
)


def _fetch(connection: duckdb.DuckDBPyConnection, query: str) -> list[npt.NDArray[np.int64]]:
    columns = connection.execute(query).fetchnumpy()
    return [np.asarray(values).astype(np.int64) for values in columns.values()]


def _insert(
    connection: duckdb.DuckDBPyConnection, mode: Mode, uses: Uses, pairs: Pairs, spans: Spans
) -> None:
    found = {
        # Contents are numbered from 1, in the order in which they were fetched.
        "content": pairs.content[spans.pair] + 1,
        "generation": uses.generation[spans.first],
        "stream": uses.stream[spans.first],
        "first_seq": uses.seq[spans.first],
        "last_seq": uses.seq[spans.last],
    }
    connection.register("_found", found)
    connection.execute(
        f"""
        INSERT INTO _touch BY NAME
        SELECT f.* REPLACE (f.first_seq::UBIGINT AS first_seq), '{mode}' AS mode,
            c.row, c.index, c.page, c.life, c.generation AS published_generation
        FROM _found AS f JOIN row_content AS c USING (content)
        """
    )
    connection.unregister("_found")


def _insert_readings(
    connection: duckdb.DuckDBPyConnection, uses: Uses, pairs: Pairs, spans: Spans, own: Own
) -> None:
    found = {
        "content": pairs.content[spans.pair] + 1,
        "generation": uses.generation[spans.first],
        "stream": uses.stream[spans.first],
        "first_seq": uses.seq[spans.first],
        **own._asdict(),
    }
    connection.register("_found", found)
    connection.execute(
        f"""
        INSERT INTO _reading
        SELECT c.page, c.life, c.row, c.index, f.generation, f.stream, f.first_seq, f.front, f.valid,
            f.whole > 0, CASE WHEN f.full < {FOREVER} THEN f.full END
        FROM _found AS f JOIN row_content AS c USING (content), _window AS w
        WHERE c.page >= 0 AND c.page < coalesce(w.kv_pages, 4294967296) AND c.life > 0 AND c.life < 4294967296
        """
    )
    connection.unregister("_found")


def _insert_missing(
    connection: duckdb.DuckDBPyConnection, uses: Uses, heads: npt.NDArray[np.int64], missing: Missing
) -> None:
    head = heads[missing.group]
    found = {
        "row": uses.row[head],
        "generation": uses.generation[head],
        "stream": uses.stream[head],
        "index": missing.entry,
        "seq": missing.seq,
        "before_seq": missing.before,
    }
    connection.register("_found", found)
    connection.execute("INSERT INTO _unpublished BY NAME SELECT * FROM _found")
    connection.unregister("_found")


def _insert_skips(connection: duckdb.DuckDBPyConnection, uses: Uses) -> None:
    use, before, first, end = skips(uses)
    if not len(use):
        return
    found = {
        "row": uses.row[use],
        "generation": uses.generation[use],
        "stream": uses.stream[use],
        "seq": uses.seq[use],
        "first": first,
        "end": end,
        "before_seq": uses.seq[before],
    }
    connection.register("_found", found)
    connection.execute("INSERT INTO _skip BY NAME SELECT * FROM _found")
    connection.unregister("_found")
