"""Acts that are added to a history: behind each of its events three numbers become free for them.

`_added` has the acts, `_fence` the fences among them, and the statement that `with_added` gives makes the
history that has them, too.
"""

COUNTED = "CASE WHEN e.ordinal < 1e18 THEN 2 * e.ordinal END AS ordinal"
"""Ordinals are doubled, where a launch is added: it takes the free one before another."""

RECORDED = """
SELECT record_seq AS seq, 'fence_record' AS kind, fence, stream, ordinal FROM _fence"""


def with_added(replaced: str = "", joined: str = "") -> str:
    """Makes the view `event`: every event of the dump, `e`, and what is added.

    `replaced`: columns that change, `joined`: what they are read from beside `e`.
    """
    return f"""
CREATE VIEW event AS
SELECT e.* REPLACE (
    4 * e.seq - 3 AS seq,
    CASE WHEN e.record_seq BETWEEN 1 AND 1e18 THEN 4 * e.record_seq - 3 WHEN e.record_seq >= 0 THEN 0
    END AS record_seq{replaced and ","}
    {replaced}
) FROM main.event AS e {joined}
UNION ALL BY NAME FROM _added"""


def adding(*acts: str) -> str:
    """Makes the table `_added`, of queries that name the columns which their acts have."""
    return "CREATE TABLE _added AS FROM main.event LIMIT 0;" + ";".join(
        f"\nINSERT INTO _added BY NAME {act}" for act in acts
    )


def fences(pairs: str) -> str:
    """Makes the table `_fence`: one a row of the query `pairs`, recorded behind the launch of event `behind`.

    That launch has `stream` and `ordinal`; what waits for it comes just before event `before`.
    """
    return f"""
CREATE TABLE _fence AS
SELECT p.*, 4 * p.behind - 2 AS record_seq, 4 * p.before - 4 AS before_seq,
    (SELECT coalesce(max(fence) FILTER (fence < 1e18), 0) FROM main.event) + row_number() OVER () AS fence
FROM ({pairs}) AS p"""


WAITED = adding(
    RECORDED,
    "SELECT before_seq AS seq, 'fence_wait' AS kind, fence, to_stream AS stream, record_seq FROM _fence",
)
"""A stream, `to_stream`, waits for each fence."""

LEARNT = adding(RECORDED, "SELECT before_seq AS seq, 'fence_passed' AS kind, fence FROM _fence")
"""The host waits for each fence."""


def clears(pages: str) -> str:
    """Makes the table `_added` of clears of whole pages.

    `pages`: a query of `page`, `life` and `seq`, the launch before which the page is cleared, on its stream.
    """
    return adding(f"""
SELECT 4 * l.seq - 4 AS seq, 'clear' AS kind,
    (SELECT max(launch) FROM main.launch) + row_number() OVER (ORDER BY l.seq) AS launch, l.stream,
    2 * l.ordinal - 1 AS ordinal, 'clear_pages' AS kernel, u.target
FROM (
    SELECT s.seq, list([s.page, s.life, 0, w.page_size::BIGINT]) AS target
    FROM ({pages}) AS s, main._window AS w GROUP BY s.seq
) AS u JOIN main.launch AS l ON l.seq = u.seq""")
