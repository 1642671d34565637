-- A clear is ordered after every access of the life before and before every write or load of the life it prepares.
WITH
    clears AS (
        SELECT x.page, x.life, x.first, x.end, l.seq, l.launch, l.stream, l.ordinal, l.clock
        FROM _extent AS x JOIN _act AS l ON x.seq = l.seq WHERE x.source = 'clear' AND x.life > 0
    ),
    touched AS (
        SELECT page, life, stream, min(first_seq) AS first_seq, max(last_seq) AS last_seq
        FROM _span GROUP BY page, life, stream
    ),
    -- Lives that are cleared when nobody holds them any more: that prepares the next.
    ahead AS (
        SELECT c.* FROM clears AS c
        WHERE EXISTS (
            FROM _unheld AS u
            WHERE u.page = c.page AND u.life = c.life AND u.from_seq < c.seq AND coalesce(c.seq < u.until_seq, true)
        )
    ),
    next_life AS (
        SELECT c.page, c.seq, c.stream, c.ordinal, c.life, min(t.life) AS next
        FROM ahead AS c JOIN touched AS t ON t.page = c.page AND t.life > c.life GROUP BY ALL
    ),
    -- Zeros of a clear that somebody met in the page itself, or wherever copies took them.
    met AS (
        SELECT m.*, m.clear_first + m.end - m.first AS clear_end, coalesce(m.via_seq, m.origin_seq) AS early_seq
        FROM _met AS m
        WHERE m.kind = 'wiped' AND coalesce(m.via_seq, m.origin_seq) IS NOT NULL
            -- What a rejected draft left is worth nothing to whom no row leads there.
            AND NOT (m.row IS NULL AND EXISTS (
                FROM _told_rest AS v
                JOIN _touch AS t ON v.row = t.row AND t.mode = 'write'
                JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation AND v.request = n.request
                CROSS JOIN _window AS w
                WHERE v.kind = 'verify' AND v.seq > m.origin_seq AND v.seq < m.clear_seq
                    AND t.page = m.origin_page AND t.life = m.origin_life
                    AND m.origin_seq BETWEEN t.first_seq AND t.last_seq
                    AND v.frontier <= t.index * w.page_size + m.clear_first
            ))
        QUALIFY row_number() OVER (
            PARTITION BY m.clear_page, m.clear_life, m.clear_seq ORDER BY m.observed DESC, m.seq, m.page, m.life
        ) = 1
    ),
    broken AS (
        -- The life before may still be touched.
        SELECT
            'before' AS reason, c.page, c.life, c.first, c.end, c.seq, c.seq AS late_seq, t.last_seq AS early_seq,
            t.life AS other_life, NULL AS mode, NULL AS row, NULL AS generation
        FROM clears AS c
        ASOF JOIN (SELECT DISTINCT page, life FROM touched) AS p ON c.page = p.page AND c.life > p.life
        JOIN touched AS t ON t.page = p.page AND t.life = p.life
        JOIN _act AS l ON t.last_seq = l.seq
        WHERE t.stream <> c.stream AND t.last_seq < c.seq AND c.clock[t.stream + 1] < l.ordinal
        UNION ALL
        -- The life itself is touched without order: by what the clear comes after, or what comes after the clear.
        SELECT
            CASE WHEN y.clears THEN 'late' ELSE 'early' END, y.page, y.life, greatest(x.first, y.first),
            least(x.end, y.end), y.seq, y.seq, x.seq, y.life, CASE WHEN y.clears THEN x.mode ELSE y.mode END,
            CASE WHEN y.clears THEN x.row ELSE y.row END, CASE WHEN y.clears THEN x.generation ELSE y.generation END
        FROM _loose AS o
        JOIN _near AS y ON o.seq = y.seq
        JOIN _act AS l ON y.seq = l.seq
        JOIN _near AS x
            ON x.page = y.page AND x.life = y.life AND x.seq < y.seq AND x.stream = o.other_stream
            AND x.first < y.end AND y.first < x.end AND (x.clears OR y.clears)
        WHERE l.clock[x.stream + 1] < x.ordinal
        UNION ALL
        -- The next life is, though the clear prepares it.
        SELECT
            'next', n.page, t.life, 0, w.page_size, t.first_seq, t.first_seq, n.seq, n.life, NULL, NULL, NULL
        FROM next_life AS n
        JOIN touched AS t ON t.page = n.page AND t.life = n.next
        JOIN _act AS l ON t.first_seq = l.seq
        CROSS JOIN _window AS w
        WHERE t.stream <> n.stream AND t.first_seq > n.seq AND l.clock[n.stream + 1] < n.ordinal
        UNION ALL
        -- The clear is ordered, but behind what it wipes.
        SELECT
            CASE WHEN x.reaches THEN 'reaches' ELSE 'wiped' END, m.clear_page, m.clear_life, m.clear_first, m.clear_end,
            m.clear_seq, m.clear_seq, m.early_seq, m.clear_life, NULL, m.row, m.generation
        FROM met AS m
        LEFT JOIN _wiping AS x
            ON m.clear_page = x.page AND m.clear_life = x.life AND m.clear_seq = x.clear_seq
    ),
    first_broken AS (
        SELECT * FROM broken
        QUALIFY row_number() OVER (
            PARTITION BY page, life
            -- Who writes and reads in one act is told to write.
            ORDER BY seq, reason IN ('wiped', 'reaches'), early_seq DESC, mode = 'write' DESC, row, generation, first
        ) = 1
    )
SELECT
    'TR104' AS code,
    'unordered-clear' AS name,
    b.seq,
    'order' AS class,
    _confidence(
        _overtook(late.state, early.state) OR coalesce(m.observed, false)
        OR _seen_wrong(b.seq, b.row, b.page),
        w.holes
    ) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name)
    || CASE
        WHEN b.reason IN ('before', 'late', 'wiped', 'reaches') THEN ' clears '
        WHEN b.reason = 'next' THEN ' is the first to touch '
        WHEN b.mode = 'write' THEN ' writes ' ELSE ' reads '
    END
    || CASE b.reason
        WHEN 'next' THEN ''
        WHEN 'reaches' THEN _positions(x.first, x.end) || ' of '
        ELSE _positions(b.first, b.end) || ' of '
    END
    || 'page ' || b.page || '.' || b.life
    || CASE WHEN b.reason IN ('wiped', 'reaches') THEN ' after ' ELSE ', and nothing orders it after ' END
    || _launch_named(early.launch, early.kernel, early_name.name)
    || CASE b.reason
        WHEN 'before' THEN ', which touches page ' || b.page || '.' || b.other_life
        WHEN 'next' THEN ', which clears the page for it'
        WHEN 'early' THEN ', which clears them'
        WHEN 'late' THEN CASE b.mode WHEN 'write' THEN ', which writes them' ELSE ', which reads them' END
        WHEN 'reaches'
            THEN ', and reaches into what that put there: ' || coalesce(m.reader, 'a launch') || ' takes '
                || _positions(m.first, m.end) || ' for valid and reads zeros'
        ELSE ', which put them there: ' || coalesce(m.reader, 'a launch') || ' reads zeros in their place'
    END
    || CASE
        WHEN b.reason NOT IN ('wiped', 'reaches') OR (m.page, m.life) = (b.page, b.life) THEN ''
        ELSE ', in page ' || m.page || '.' || m.life
            || coalesce(', to which ' || _launch_named(z.launch, z.kernel, zn.name) || ' brought them', '')
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    t.request,
    late.launch,
    late.on_stream AS stream,
    early.launch AS other_launch,
    early.on_stream AS other_stream,
    b.early_seq AS other_seq
FROM first_broken AS b
JOIN _act AS late ON b.late_seq = late.seq
JOIN _act AS early ON b.early_seq = early.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
JOIN _stream AS early_name ON early.stream = early_name.stream
-- Who met what a clear wiped by the order of the calls tells that it did, where nothing orders it.
LEFT JOIN met AS m
    ON b.reason IN ('wiped', 'reaches', 'late') AND m.clear_page = b.page AND m.clear_life = b.life
    AND m.clear_seq = b.seq
LEFT JOIN _act AS z ON m.zeros_seq = z.seq
LEFT JOIN _stream AS zn ON z.stream = zn.stream
LEFT JOIN _wiping AS x ON b.reason = 'reaches' AND x.page = b.page AND x.life = b.life AND x.clear_seq = b.seq
LEFT JOIN _tenancy AS t ON b.row = t.row AND b.generation = t.generation
CROSS JOIN _window AS w
