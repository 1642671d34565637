-- A launch that reads a hit page is ordered after the launch that wrote it.
WITH
    -- The first launch on each stream that reads the page after the hit: through the request's row, or as a copy.
    readers AS (
        SELECT h.page, h.life, h.positions, h.seq AS hit_seq, h.request, t.row, t.generation, t.stream,
            t.first_seq AS seq
        FROM _hit AS h
        JOIN _touch AS t ON h.page = t.page AND h.life = t.life AND t.mode = 'read' AND t.first_seq > h.seq
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation AND n.request = h.request
        WHERE h.positions > 0
        UNION ALL
        SELECT h.page, h.life, h.positions, h.seq, h.request, NULL, NULL, x.stream, min(x.seq)
        FROM _hit AS h
        JOIN _extent AS x ON h.page = x.page AND h.life = x.life AND x.mode = 'read' AND x.seq > h.seq
        WHERE h.positions > 0 AND x.first < h.positions AND x.source IN ('copy', 'extent')
        GROUP BY ALL
    ),
    writers AS (
        SELECT page, life, stream, first_seq, last_seq, 0 AS first FROM _touch WHERE mode = 'write'
        UNION ALL
        SELECT page, life, stream, seq, seq, first FROM _extent WHERE mode = 'write' AND source <> 'clear'
    ),
    read_pages AS (SELECT DISTINCT page, life FROM readers),
    written AS (SELECT w.* FROM writers AS w SEMI JOIN read_pages AS r ON w.page = r.page AND w.life = r.life),
    unordered AS (
        SELECT r.*, early.seq AS writer_seq
        FROM readers AS r
        JOIN written AS w
            ON r.page = w.page AND r.life = w.life AND w.stream <> r.stream AND w.first_seq < r.seq
            AND w.first < r.positions
        JOIN _act AS late ON r.seq = late.seq
        JOIN _act AS early
            ON early.seq = CASE WHEN w.last_seq < r.seq THEN w.last_seq ELSE w.first_seq END
        WHERE late.clock[early.stream + 1] < early.ordinal
    ),
    unwritten AS (
        SELECT r.*, NULL AS writer_seq
        FROM readers AS r
        JOIN page_life AS p ON r.page = p.page AND r.life = p.life
        ANTI JOIN written AS w
            ON r.page = w.page AND r.life = w.life AND w.first < r.positions AND w.first_seq < r.seq
        WHERE p.alloc_seq < r.hit_seq
    ),
    broken AS (
        SELECT * FROM (FROM unordered UNION ALL FROM unwritten)
        QUALIFY row_number() OVER (PARTITION BY page, life ORDER BY seq, writer_seq DESC NULLS LAST, hit_seq DESC) = 1
    )
SELECT
    'TR502' AS code,
    'hit-before-write' AS name,
    b.seq,
    'order' AS class,
    _confidence(
        early.state <> 'finished' AND late.state IN ('running', 'finished') OR b.seq IN (SELECT seq FROM _wrong),
        w.holes
    ) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name) || ' reads page ' || b.page || '.' || b.life
    || ', which request ' || b.request || ' hit at event ' || b.hit_seq || ', and '
    || CASE
        WHEN early.launch IS NULL THEN 'no launch has written it'
        ELSE 'nothing orders it after ' || _launch_named(early.launch, early.kernel, early_name.name)
            || ', which writes it'
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    b.request,
    late.launch,
    late.on_stream AS stream,
    early.launch AS other_launch,
    early.on_stream AS other_stream,
    coalesce(early.seq, b.hit_seq) AS other_seq
FROM broken AS b
JOIN _act AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
LEFT JOIN _act AS early ON b.writer_seq = early.seq
LEFT JOIN _stream AS early_name ON early.stream = early_name.stream
CROSS JOIN _window AS w
