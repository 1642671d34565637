-- What every launch touched: one row a launch, page, mode and extent. For rows of the block table, the pages that its
-- entries named in program order; and, with `certain` false, those that a publish without order may have left there.
CREATE VIEW access (
    -- Event of the launch, or of what the actor did.
    seq,
    -- The launch; null where an actor touched it without one.
    launch,
    -- Its stream.
    stream,
    -- Its number within the stream.
    ordinal,
    -- read or write.
    mode,
    -- The page; outside the pool when the entry is poison.
    page,
    -- The life that was meant.
    life,
    -- First position of the page.
    first,
    -- Position behind the last one.
    "end",
    -- valid: only those positions; page: the kernel loads the whole page.
    covers,
    -- The row through which the page was found; null for explicit extents.
    row,
    -- The row's generation.
    generation,
    -- The row's entry.
    index,
    -- The request that had the row.
    request,
    -- row, extent, copy, clear, offload or load.
    source,
    -- The launch must have found this page; false where only a lack of order lets it.
    certain,
    -- Who touched it without a launch: host, or external:NAME; null for a launch.
    actor
) AS
WITH
    reached AS (
        SELECT t.content, t.row, t.generation, t.stream, t.mode, t.first_seq, t.last_seq, true AS certain
        FROM _touch AS t WHERE t.mode <> 'walk'
        UNION ALL
        SELECT d.other_content, d.row, d.generation, d.stream, m.mode, d.first_seq, d.last_seq, false
        FROM _doubt AS d, (VALUES ('read'), ('write')) AS m (mode)
    )
SELECT
    u.seq, u.launch, u.stream, u.ordinal, r.mode, c.page, c.life,
    CASE
        WHEN r.mode = 'read' OR u.start < c.index * w.page_size THEN 0
        ELSE u.start - c.index * w.page_size
    END::BIGINT,
    CASE
        WHEN r.mode = 'read' AND u.covers = 'page' OR u.end >= (c.index + 1) * w.page_size THEN w.page_size
        ELSE u.end - c.index * w.page_size
    END::BIGINT,
    u.covers, u.row, u.generation, c.index, u.request, 'row', r.certain, NULL
FROM reached AS r
JOIN row_content AS c ON r.content = c.content
JOIN _use AS u
    ON r.row = u.row AND r.generation = u.generation AND r.stream = u.stream
    AND u.seq BETWEEN r.first_seq AND r.last_seq
CROSS JOIN _window AS w
WHERE CASE r.mode
    WHEN 'read' THEN u.depth > c.index
    ELSE u.end > u.start AND u.start < (c.index + 1) * w.page_size AND u.end > c.index * w.page_size
END
UNION ALL
SELECT
    x.seq, x.launch, CASE WHEN x.launch IS NOT NULL THEN x.stream END,
    CASE WHEN x.launch IS NOT NULL THEN x.ordinal END, x.mode, x.page, x.life, x.first::BIGINT,
    x.end::BIGINT, 'valid', NULL, NULL, NULL, NULL, x.source, true, x.actor
FROM _extent AS x
UNION ALL
SELECT
    e.seq, e.launch, e.stream, e.ordinal, 'write',
    unnest(range(least(coalesce(e.page_count, 0), coalesce(w.kv_pages, 0), 16777216)::BIGINT)), 0,
    0, w.page_size::BIGINT, 'page', NULL, NULL, NULL, NULL, 'clear', true, NULL
FROM _told_launch AS e, _window AS w
WHERE e.kind = 'clear' AND e.all AND e.launch IS NOT NULL AND e.stream IS NOT NULL AND e.ordinal IS NOT NULL;
