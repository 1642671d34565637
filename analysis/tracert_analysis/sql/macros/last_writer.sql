-- The launch that wrote a page last, in program order, or the actor that did without one. One row; from the last facts
-- of the page where the history doesn't tell. `page_bytes(page)` says it for each position.
-- * page: The page.
-- * life: The life in which it was written; 0 for the clear of the whole arena.
-- * launch: The launch; null where an actor wrote without one.
-- * seq: Event of the launch, or of what the actor did.
-- * stream: Its stream.
-- * ordinal: Its number within the stream.
-- * kernel: Name of its kernel.
-- * row: The row through which it found the page; null for explicit extents.
-- * request: The request that had the row.
-- * state: finished, running or waiting at the end.
-- * source: history, or page_state where only the last facts are known.
-- * first: First position that it wrote; null from page_state.
-- * end: Position behind the last one; null from page_state.
-- * class: What it put there: kv, rows, zero, copy or host; null from page_state.
-- * actor: host or external:NAME, where no launch wrote it; null for a launch.
CREATE MACRO last_writer(page) AS TABLE
WITH
    written AS (
        SELECT s.page, s.life, s.last_seq AS seq FROM _span AS s WHERE s.page = page AND s.mode = 'write'
        UNION ALL
        SELECT page, 0, e.seq FROM event AS e WHERE e.kind = 'clear' AND e.all AND page < e.page_count
    ),
    latest AS (SELECT w.page, w.life, w.seq FROM written AS w ORDER BY w.seq DESC LIMIT 1),
    told AS (
        SELECT
            w.page, w.life, l.launch, l.seq, l.on_stream AS stream,
            CASE WHEN l.launch IS NOT NULL THEN l.ordinal END AS ordinal,
            CASE WHEN l.launch IS NOT NULL THEN l.kernel END AS kernel, t.row, n.request, l.state,
            'history' AS source,
            (SELECT min(b.first) FROM byte_write AS b WHERE b.page = page AND b.seq = w.seq) AS first,
            (SELECT max(b.end) FROM byte_write AS b WHERE b.page = page AND b.seq = w.seq) AS "end",
            (SELECT min(b.class) FROM byte_write AS b WHERE b.page = page AND b.seq = w.seq) AS class,
            o.actor
        FROM latest AS w
        JOIN _act AS l ON w.seq = l.seq
        LEFT JOIN _outside AS o ON w.seq = o.seq
        LEFT JOIN _touch AS t
            ON w.page = t.page AND w.life = t.life AND t.mode = 'write' AND t.stream = l.stream AND t.last_seq = w.seq
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        LIMIT 1
    ),
    state AS (
        SELECT
            s.page, s.writer_life, s.writer, s.writer_seq, s.writer_stream, NULL, NULL, NULL, NULL, NULL,
            'page_state' AS source, NULL, NULL, NULL, NULL
        FROM page_state AS s
        WHERE s.page = page AND s.writer IS NOT NULL AND NOT EXISTS (FROM told)
    )
FROM told UNION ALL FROM state;
