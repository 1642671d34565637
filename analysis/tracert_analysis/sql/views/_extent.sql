-- Explicit extents: what a launch reads and writes by page, what a copy copies and a clear clears; and what writers
-- without a stream touch: those have an `actor` in the place of a launch.
CREATE TABLE _extent (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, ordinal UBIGINT, mode VARCHAR, page UINTEGER, life UINTEGER,
    first UBIGINT, "end" UBIGINT, source VARCHAR, actor VARCHAR
);

INSERT INTO _extent
WITH listed AS (
    SELECT seq, launch, stream, ordinal, 'read' AS mode, 'extent' AS source, unnest(reads) AS x
    FROM _told_launch WHERE kind = 'launch' AND len(reads) > 0
    UNION ALL
    SELECT seq, launch, stream, ordinal, 'write', 'extent', unnest(writes)
    FROM _told_launch WHERE kind = 'launch' AND len(writes) > 0
    UNION ALL
    SELECT o.seq, NULL, o.stream, o.ordinal, 'read', 'extent', unnest(e.reads)
    FROM _outside AS o JOIN _told_rest AS e ON o.seq = e.seq WHERE len(e.reads) > 0
    UNION ALL
    SELECT o.seq, NULL, o.stream, o.ordinal, 'write', 'extent', unnest(e.writes)
    FROM _outside AS o JOIN _told_rest AS e ON o.seq = e.seq WHERE len(e.writes) > 0
    UNION ALL
    SELECT seq, launch, stream, ordinal, 'read', 'copy', unnest(source)
    FROM _told_launch WHERE kind = 'copy' AND len(source) > 0
    UNION ALL
    SELECT seq, launch, stream, ordinal, 'write', kind::VARCHAR, unnest(target)
    FROM _told_launch WHERE kind IN ('copy', 'clear') AND len(target) > 0
    UNION ALL
    -- The host tier moves whole pages.
    SELECT e.seq, e.launch, e.stream, e.ordinal, CASE e.kind WHEN 'offload' THEN 'read' ELSE 'write' END,
        e.kind::VARCHAR, [e.entry[2], e.entry[3], 0, w.page_size]
    FROM (
        SELECT seq, launch, stream, ordinal, kind, unnest(entries) AS entry
        FROM _told_launch WHERE kind IN ('offload', 'load') AND len(entries) > 0
    ) AS e, _window AS w WHERE len(e.entry) = 3 AND w.page_size IS NOT NULL
)
SELECT l.seq, l.launch, l.stream, l.ordinal, l.mode, l.x[1], l.x[2], l.x[3], l.x[4], l.source, o.actor
FROM listed AS l LEFT JOIN _outside AS o USING (seq)
WHERE len(l.x) = 4 AND (l.launch IS NOT NULL OR o.seq IS NOT NULL) AND l.stream IS NOT NULL AND l.ordinal IS NOT NULL
    AND list_min(l.x) >= 0 AND list_max(l.x) < 4294967296;
