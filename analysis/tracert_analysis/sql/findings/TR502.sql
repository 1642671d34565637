-- A launch that reads a hit page is ordered after the launch that wrote it.
WITH
    loose AS (
        SELECT r.page, r.life, r.first, r.end, r.hit_seq, r.request, r.node, r.cached_seq, r.offered, r.row,
            r.generation, r.index, r.seq, u.seq AS writer_seq,
            greatest(u.start, r.from_index * w.page_size) - r.from_index * w.page_size AS from_first,
            NULL AS gap_first, NULL AS gap_end
        FROM _hit_run AS r
        JOIN _use AS u
            ON r.from_row = u.row AND r.from_generation = u.generation AND r.from_stream = u.stream
            AND u.seq BETWEEN r.first_seq AND r.last_seq AND u.seq < r.seq
        CROSS JOIN _window AS w
        WHERE r.clock[u.stream + 1] < u.ordinal AND u.start < u.end
            AND u.start < r.from_index * w.page_size + r.end AND u.end > r.from_index * w.page_size + r.first
        UNION ALL BY NAME
        SELECT * EXCLUDE (stream, from_row, from_generation, from_index, from_stream, first_seq, last_seq, clock),
            first_seq AS writer_seq
        FROM _hit_run WHERE from_row IS NULL
        UNION ALL BY NAME
        SELECT r.* EXCLUDE (stream), g.first AS from_first, g.first AS gap_first, least(g.end, r.end) AS gap_end
        FROM _hit_read AS r JOIN _hit_gap AS g ON r.page = g.page AND r.life = g.life AND r.seq = g.seq
        WHERE r.first <= g.first AND r.end > g.first AND NOT (SELECT blind FROM _tells)
    ),
    -- Through a row is read no more of the positions that were hit than the row had by then.
    read_of AS (
        SELECT o.*
        FROM loose AS o LEFT JOIN _use AS u ON o.seq = u.seq AND o.row = u.row AND o.generation = u.generation
        CROSS JOIN _window AS w
        WHERE coalesce(u.covers <> 'valid' OR o.from_first + o.index * w.page_size < u.end, true)
    ),
    broken AS (
        SELECT * FROM read_of
        QUALIFY row_number() OVER (PARTITION BY page, life ORDER BY seq, writer_seq DESC NULLS LAST, hit_seq DESC) = 1
    )
SELECT
    'TR502' AS code,
    'hit-before-write' AS name,
    b.seq,
    'order' AS class,
    _confidence(_overtook(late.state, early.state) OR _seen_wrong(b.seq, b.row, b.page), w.holes) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name) || ' reads page ' || b.page || '.' || b.life
    || ', which request ' || b.request || ' hit at event ' || b.hit_seq || ', and '
    || CASE
        WHEN b.gap_first = b.first AND b.gap_end = b.end THEN 'no launch has written it'
        WHEN b.gap_end IS NOT NULL THEN 'no launch has written '
            || _positions(b.gap_first, b.gap_end)
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
