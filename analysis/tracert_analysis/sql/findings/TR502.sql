-- A launch that reads a hit page is ordered after the launch that wrote it.
WITH
    writers AS (
        SELECT page, life, stream, first_seq, last_seq, 0 AS first FROM _touch WHERE mode = 'write'
        UNION ALL
        SELECT page, life, stream, seq, seq, first FROM _extent WHERE mode = 'write' AND source <> 'clear'
    ),
    read_pages AS (SELECT DISTINCT page, life FROM _hit_read),
    written AS (SELECT w.* FROM writers AS w SEMI JOIN read_pages AS r ON w.page = r.page AND w.life = r.life),
    unordered AS (
        SELECT r.*, early.seq AS writer_seq
        FROM _hit_read AS r
        JOIN written AS w
            ON r.page = w.page AND r.life = w.life AND w.stream <> r.stream AND w.first_seq < r.seq
            AND w.first < r.end
        JOIN _act AS late ON r.seq = late.seq
        JOIN _act AS early
            ON early.seq = CASE WHEN w.last_seq < r.seq THEN w.last_seq ELSE w.first_seq END
        WHERE late.clock[early.stream + 1] < early.ordinal
    ),
    unwritten AS (
        SELECT r.*, NULL AS writer_seq, g.first AS gap_first, least(g.end, r.end) AS gap_end
        FROM _hit_read AS r JOIN _hit_gap AS g ON r.page = g.page AND r.life = g.life AND r.seq = g.seq
        WHERE r.first <= g.first AND r.end > g.first
    ),
    broken AS (
        SELECT * FROM (FROM unordered UNION ALL BY NAME FROM unwritten)
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
        WHEN b.gap_first = b.first AND b.gap_end = b.end THEN 'no launch has written it'
        WHEN b.gap_end IS NOT NULL THEN 'no launch has written '
            || CASE WHEN b.gap_end - b.gap_first = 1 THEN 'position ' || b.gap_first
                ELSE 'positions ' || b.gap_first || ' to ' || (b.gap_end - 1) END
            || ' of it'
            || coalesce('; prefix ' || b.node || ' was given ' || b.offered || ' of its positions at event '
                || b.cached_seq, '')
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
