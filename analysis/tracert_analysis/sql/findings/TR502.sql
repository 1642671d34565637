-- A launch that reads a hit page is ordered after the launch that wrote it.
WITH
    -- What the read reads of the positions that were hit: through a row no more than it had by then.
    asked AS (
        SELECT r.* REPLACE (
            CASE u.covers
                WHEN 'valid' THEN least(r.end, greatest(u.end, r.index * w.page_size) - r.index * w.page_size)
                ELSE r.end
            END AS "end"
        ), l.clock
        FROM _hit_read AS r JOIN _act AS l ON r.seq = l.seq
        LEFT JOIN _use AS u ON r.seq = u.seq AND r.row = u.row AND r.generation = u.generation
        CROSS JOIN _window AS w
    ),
    -- Runs of writes through a row whose last one is not ordered before the read: an earlier one may be the one that
    -- wrote what is read.
    runs AS (
        SELECT r.*, t.row AS from_row, t.generation AS from_generation, t.index AS from_index, t.stream AS from_stream,
            t.first_seq, t.last_seq
        FROM asked AS r
        JOIN _touch AS t
            ON r.page = t.page AND r.life = t.life AND t.mode = 'write' AND t.stream <> r.stream
            AND t.first_seq < r.seq
        JOIN launch AS x ON t.last_seq = x.seq
        WHERE x.seq > r.seq OR r.clock[t.stream + 1] < x.ordinal
    ),
    unordered AS (
        SELECT r.* EXCLUDE (from_row, from_generation, from_index, from_stream, first_seq, last_seq),
            u.seq AS writer_seq
        FROM runs AS r
        JOIN _use AS u
            ON r.from_row = u.row AND r.from_generation = u.generation AND r.from_stream = u.stream
            AND u.seq BETWEEN r.first_seq AND r.last_seq AND u.seq < r.seq
        CROSS JOIN _window AS w
        WHERE r.clock[u.stream + 1] < u.ordinal AND u.start < u.end
            AND u.start < r.from_index * w.page_size + r.end AND u.end > r.from_index * w.page_size + r.first
        UNION ALL
        SELECT r.*, x.seq
        FROM asked AS r
        JOIN _extent AS x
            ON r.page = x.page AND r.life = x.life AND x.mode = 'write' AND x.source <> 'clear'
            AND x.stream <> r.stream AND x.seq < r.seq AND x.first < r.end AND r.first < x.end
        WHERE r.clock[x.stream + 1] < x.ordinal
    ),
    unwritten AS (
        SELECT r.*, NULL AS writer_seq, g.first AS gap_first, least(g.end, r.end) AS gap_end
        FROM asked AS r JOIN _hit_gap AS g ON r.page = g.page AND r.life = g.life AND r.seq = g.seq
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
        early.state <> 'finished' AND late.state IN ('running', 'finished') OR _seen_wrong(b.seq, b.row, b.page),
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
