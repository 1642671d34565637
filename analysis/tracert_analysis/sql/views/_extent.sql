-- Explicit extents: what a launch reads and writes by page, what a copy copies and a clear clears.
CREATE TABLE _extent (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, ordinal UBIGINT, mode VARCHAR, page UINTEGER, life UINTEGER,
    first UBIGINT, "end" UBIGINT, source VARCHAR
);

INSERT INTO _extent
WITH listed AS (
    SELECT seq, launch, stream, ordinal, 'read' AS mode, 'extent' AS source, unnest(reads) AS x
    FROM event WHERE kind = 'launch' AND len(reads) > 0
    UNION ALL
    SELECT seq, launch, stream, ordinal, 'write', 'extent', unnest(writes)
    FROM event WHERE kind = 'launch' AND len(writes) > 0
    UNION ALL
    SELECT seq, launch, stream, ordinal, 'read', 'copy', unnest(source)
    FROM event WHERE kind = 'copy' AND len(source) > 0
    UNION ALL
    SELECT seq, launch, stream, ordinal, 'write', kind::VARCHAR, unnest(target)
    FROM event WHERE kind IN ('copy', 'clear') AND len(target) > 0
    UNION ALL
    -- The host tier moves whole pages.
    SELECT e.seq, e.launch, e.stream, e.ordinal, CASE e.kind WHEN 'offload' THEN 'read' ELSE 'write' END,
        e.kind::VARCHAR, [e.entry[2], e.entry[3], 0, w.page_size]
    FROM (
        SELECT seq, launch, stream, ordinal, kind, unnest(entries) AS entry
        FROM event WHERE kind IN ('offload', 'load') AND len(entries) > 0
    ) AS e, _window AS w WHERE len(e.entry) = 3 AND w.page_size IS NOT NULL
)
SELECT seq, launch, stream, ordinal, mode, x[1], x[2], x[3], x[4], source FROM listed
WHERE len(x) = 4 AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
    AND list_min(x) >= 0 AND list_max(x) < 4294967296;
