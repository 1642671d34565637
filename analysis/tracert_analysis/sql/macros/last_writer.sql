-- The launch that wrote a page last, in program order, or the actor that did without one: at the end, or `before` an
-- event. One row; at the end from the last facts of the page where the history doesn't tell. `page_bytes(page)` says it
-- for each position.
-- * page: The page.
-- * life: The life in which it was written; 0 for the clear of the whole arena.
-- * launch: The launch; null where an actor wrote without one.
-- * seq: Event of the launch, or of what the actor did.
-- * stream: Its stream.
-- * ordinal: Its number within the stream.
-- * kernel: Name of its kernel.
-- * row: The row through which it found the page; null for explicit extents.
-- * request: The request that had the row; null where several had.
-- * state: finished, running or waiting at the end.
-- * source: history, or page_state where only the last facts are known.
-- * first: First position that it wrote; null from page_state.
-- * end: Position behind the last one; null from page_state.
-- * class: What it put there: kv, rows, zero, copy or host; null from page_state.
-- * actor: host or external:NAME, where no launch wrote it; null for a launch.
CREATE MACRO last_writer(page, before := NULL) AS TABLE
SELECT
    w._page AS page, w._life AS life, w._launch AS launch, w._seq AS seq, w._stream AS stream, w._ordinal AS ordinal,
    w._kernel AS kernel, w._row AS row, w._request AS request, w._state AS state, w._source AS source,
    w._first AS first, w._end AS "end", w._class AS class, w._actor AS actor
FROM (
    SELECT * FROM (
        SELECT l.page AS _page, l.life AS _life, l.launch AS _launch, l.seq AS _seq, l.stream AS _stream,
            l.ordinal AS _ordinal, l.kernel AS _kernel, l.row AS _row, l.request AS _request, l.state AS _state,
            l.source AS _source, l.first AS _first, l.end AS _end, l.class AS _class, l.actor AS _actor
        FROM _last_writes(before) AS l
    ) AS _l WHERE _l._page = page
) AS w;
