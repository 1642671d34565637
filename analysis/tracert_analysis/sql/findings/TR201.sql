-- A launch touches only lives of pages that are held when it is launched.
WITH
    touched AS (
        SELECT t.page, t.life, t.mode, t.row, t.generation, t.index, t.stream, t.first_seq, t.last_seq
        FROM _touch AS t, _window AS w
        WHERE t.mode <> 'walk' AND t.page >= 0 AND t.page < coalesce(w.kv_pages, 4294967296) AND t.life > 0
        UNION ALL
        -- Clearing what nobody holds is right.
        SELECT page, life, mode, NULL, NULL, NULL, stream, seq, seq FROM _extent WHERE source <> 'clear' AND life > 0
    ),
    lives AS (
        SELECT t.*, p.alloc_seq, p.unheld_seq, p.free_seq, p.retire_seq, p.owner, p.known_from
        FROM touched AS t
        LEFT JOIN page_life AS p ON t.page = p.page AND t.life = p.life
        CROSS JOIN _window AS w
        WHERE p.known_from IS NOT NULL AND (t.last_seq > p.unheld_seq OR t.first_seq < p.alloc_seq)
            OR p.page IS NULL AND w.complete
    ),
    broken AS (
        SELECT
            l.*,
            CASE
                WHEN l.known_from IS NULL OR l.first_seq < l.alloc_seq OR l.first_seq > l.unheld_seq THEN l.first_seq
                ELSE (
                    SELECT min(u.seq) FROM _use AS u, _window AS w
                    WHERE u.row = l.row AND u.generation = l.generation AND u.stream = l.stream
                        AND u.seq > l.unheld_seq AND u.seq <= l.last_seq
                        AND CASE l.mode
                            WHEN 'read' THEN u.depth > l.index
                            ELSE u.start < (l.index + 1) * w.page_size AND u.end > l.index * w.page_size
                                AND u.end > u.start
                        END
                )
            END AS seq
        FROM lives AS l
        QUALIFY row_number() OVER (PARTITION BY l.page, l.life ORDER BY seq, l.mode DESC) = 1
    )
SELECT
    'TR201' AS code,
    'use-after-free' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(b.seq IN (SELECT seq FROM _wrong), false) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name)
    || CASE b.mode WHEN 'write' THEN ' writes page ' ELSE ' reads page ' END || b.page || '.' || b.life
    || CASE WHEN b.row IS NULL THEN '' ELSE ' through row ' || b.row END
    || CASE
        WHEN b.known_from IS NULL THEN ', a life that was never granted'
        WHEN b.seq < b.alloc_seq THEN ', before that life was granted at event ' || b.alloc_seq
        ELSE ', which nobody has held since event ' || b.unheld_seq || '; it was granted to '
            || coalesce(b.owner, 'an unknown holder')
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    t.request,
    late.launch,
    late.stream,
    NULL AS other_launch,
    NULL AS other_stream,
    coalesce(b.unheld_seq, b.alloc_seq) AS other_seq
FROM broken AS b
JOIN launch AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
LEFT JOIN _tenancy AS t ON b.row = t.row AND b.generation = t.generation
