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
    a.seq, a.launch, a.stream, a.ordinal, a.mode, a.page, a.life, a.first, a.end, a.covers, a.row, a.generation,
    a.index, a.request, a.source, a.certain, a.actor
FROM access AS a WHERE a.launch = launch AND a.mode = 'write' ORDER BY a.row, a.index, a.page, a.certain DESC;
