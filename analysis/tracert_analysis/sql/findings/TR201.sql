-- A launch touches only lives of pages that are held when it is launched.
WITH
    touched AS (
        SELECT t.page, t.life, t.mode, t.row, t.generation, t.index, t.stream, t.first_seq, t.last_seq, t.content
        FROM _touch AS t
        -- What lies behind the end of a mapped row is TR403's.
        ANTI JOIN _past_row AS x
            ON x.fresh AND t.content = x.content AND t.generation = x.generation AND t.stream = x.stream
        -- What the host meant to stand there is another page: TR402's.
        ANTI JOIN _misplaced AS y ON t.content = y.content AND t.generation = y.generation AND t.stream = y.stream
        CROSS JOIN _window AS w
        WHERE t.mode <> 'walk' AND t.page >= 0 AND t.page < coalesce(w.kv_pages, 4294967296) AND t.life > 0
        UNION ALL
        -- Clearing what nobody holds is right.
        SELECT page, life, mode, NULL, NULL, NULL, stream, seq, seq, NULL FROM _extent
        WHERE source <> 'clear' AND life > 0
    ),
    -- Touches that reach into a time when nobody held the life, or of a life that nobody was ever granted.
    overlapping AS (
        SELECT t.*, u.from_seq, coalesce(u.until_seq, t.last_seq + 1) AS until_seq
        FROM touched AS t JOIN _unheld AS u ON t.page = u.page AND t.life = u.life
        WHERE t.last_seq > u.from_seq AND coalesce(t.first_seq < u.until_seq, true)
        UNION ALL
        SELECT t.*, 0, t.last_seq + 1
        FROM touched AS t ANTI JOIN page_life AS p ON t.page = p.page AND t.life = p.life
        SEMI JOIN _window AS w ON w.complete
    ),
    dated AS (
        SELECT
            o.*,
            CASE
                WHEN o.first_seq > o.from_seq THEN o.first_seq
                ELSE (
                    SELECT min(u.seq) FROM _use AS u, _window AS w
                    WHERE u.row = o.row AND u.generation = o.generation AND u.stream = o.stream
                        AND u.seq > o.from_seq AND u.seq < o.until_seq AND u.seq <= o.last_seq
                        AND CASE o.mode
                            WHEN 'read' THEN u.depth > o.index
                            ELSE u.start < (o.index + 1) * w.page_size AND u.end > o.index * w.page_size
                                AND u.end > u.start
                        END
                )
            END AS seq
        FROM overlapping AS o
    ),
    broken AS (
        SELECT d.*, p.owner, p.alloc_seq, p.known_from
        FROM dated AS d LEFT JOIN page_life AS p ON d.page = p.page AND d.life = p.life
        WHERE d.seq IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY d.page, d.life ORDER BY d.seq, d.from_seq, d.mode DESC) = 1
    )
SELECT
    'TR201' AS code,
    'use-after-free' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(_seen_wrong(b.seq, b.row, b.page), w.holes) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name)
    || CASE b.mode WHEN 'write' THEN ' writes page ' ELSE ' reads page ' END || b.page || '.' || b.life
    || CASE WHEN b.row IS NULL THEN '' ELSE ' through row ' || b.row END
    || CASE
        WHEN b.known_from IS NULL THEN ', a life that was never granted'
        WHEN b.seq < b.alloc_seq THEN ', before that life was granted at event ' || b.alloc_seq
        ELSE ', which nobody has held since event ' || b.from_seq || '; it was granted '
            || coalesce('to ' || b.owner, 'before the history')
    END || coalesce('. ' || o.why, '') AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    t.request,
    late.launch,
    late.on_stream AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    coalesce(nullif(b.from_seq, 0), b.alloc_seq) AS other_seq
FROM broken AS b
JOIN _act AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
LEFT JOIN _other_tenant AS o ON b.content = o.content AND b.generation = o.generation
LEFT JOIN _tenancy AS t ON b.row = t.row AND b.generation = t.generation
CROSS JOIN _window AS w
