-- What a launch writes: the rows of `access` for it. Where an unordered publish lets it find either of two pages, both.
-- * seq: Event of the launch.
-- * launch: The launch.
-- * stream: Its stream.
-- * ordinal: Its number within the stream.
-- * mode: write.
-- * page: The page; outside the pool when the entry is poison.
-- * life: The life that was meant.
-- * first: First position of the page.
-- * end: Position behind the last one.
-- * covers: valid: only those positions; page: the kernel loads the whole page.
-- * row: The row through which the page was found; null for explicit extents.
-- * generation: The row's generation.
-- * index: The row's entry.
-- * request: The request that had the row.
-- * source: row, extent, copy, clear, offload or load.
-- * certain: The launch must have found this page; false where only a lack of order lets it.
-- * actor: Always null, for a launch did it; `access` has what was done without one.
CREATE MACRO launch_writes(launch) AS TABLE
SELECT
    a._seq AS seq, a._launch AS launch, a._stream AS stream, a._ordinal AS ordinal, a._mode AS mode, a._page AS page,
    a._life AS life, a._first AS first, a._end AS "end", a._covers AS covers, a._row AS row,
    a._generation AS generation, a._index AS index, a._request AS request, a._source AS source,
    a._certain AS certain, a._actor AS actor
FROM (
    -- No name here stands in the way of a column that is given for the launch.
    SELECT * FROM (
        SELECT a.seq AS _seq, a.launch AS _launch, a.stream AS _stream, a.ordinal AS _ordinal, a.mode AS _mode,
            a.page AS _page, a.life AS _life, a.first AS _first, a.end AS _end, a.covers AS _covers, a.row AS _row,
            a.generation AS _generation, a.index AS _index, a.request AS _request, a.source AS _source,
            a.certain AS _certain, a.actor AS _actor
        FROM access AS a
    ) AS _a WHERE _a._launch = launch AND _a._mode = 'write'
) AS a ORDER BY a._row, a._index, a._page, a._certain DESC;
