-- Nobody writes a reserved page but padding that nobody reads.
WITH
    reserved AS (SELECT DISTINCT page FROM page_life WHERE owner LIKE 'reserved:%'),
    -- Through rows. One that nobody has, or has any more, pads the batch.
    spans AS (
        SELECT t.page, t.life, t.mode, t.stream, t.first_seq, t.last_seq, t.row, t.generation, t.index, n.request,
            n.until_seq
        FROM _touch AS t
        SEMI JOIN reserved AS r ON t.page = r.page
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        WHERE t.mode <> 'walk'
    ),
    -- Launches that write reserved pages, and touch no other: what they read is nobody's, either.
    idle AS (
        SELECT x.seq
        FROM _extent AS x SEMI JOIN (FROM _extent SEMI JOIN reserved USING (page)) AS y ON x.seq = y.seq
        WHERE x.source = 'extent'
        GROUP BY x.seq HAVING bool_or(x.mode = 'write') AND bool_and(x.page IN (SELECT page FROM reserved))
    ),
    readers AS (
        SELECT s.page, u.seq, 0 AS first,
            CASE u.covers
                WHEN 'page' THEN w.page_size
                ELSE least(u.end - s.index * w.page_size, w.page_size)
            END AS "end"
        FROM (FROM spans WHERE mode = 'read' AND request IS NOT NULL) AS s
        JOIN _use AS u
            ON s.row = u.row AND s.generation = u.generation AND s.stream = u.stream
            AND u.seq BETWEEN s.first_seq AND s.last_seq AND u.depth > s.index
        CROSS JOIN _window AS w
        WHERE coalesce(u.seq < s.until_seq, true)
            -- Where the host may mean the entry to name it, only what loads whole pages or writes there has it.
            AND (u.covers = 'page' OR u.start < least(u.end, (s.index + 1) * w.page_size) OR NOT EXISTS (
                FROM _placeholder AS m
                WHERE m.row = s.row AND m.generation = s.generation AND m.index = s.index AND m.page = s.page
                    AND m.from_seq < u.seq AND coalesce(m.until_seq > u.seq, true)
            ))
        UNION ALL
        SELECT x.page, x.seq, x.first, x.end FROM _extent AS x
        SEMI JOIN reserved AS r ON x.page = r.page ANTI JOIN idle AS i ON x.seq = i.seq
        WHERE x.mode = 'read'
    ),
    -- A request's row that names a reserved page is mapped wrongly, and TR402 tells of it.
    writers AS (
        SELECT s.page, s.life, u.seq, u.row, u.generation,
            greatest(u.start, s.index * w.page_size) - s.index * w.page_size AS first,
            least(u.end - s.index * w.page_size, w.page_size) AS "end"
        FROM (FROM spans SEMI JOIN readers USING (page) WHERE mode = 'write') AS s
        JOIN _use AS u
            ON s.row = u.row AND s.generation = u.generation AND s.stream = u.stream
            AND u.seq BETWEEN s.first_seq AND s.last_seq
        CROSS JOIN _window AS w
        WHERE (s.request IS NULL OR u.seq > s.until_seq) AND u.end > u.start
            AND u.start < (s.index + 1) * w.page_size AND u.end > s.index * w.page_size
        UNION ALL
        SELECT x.page, x.life, x.seq, NULL, NULL, x.first, x.end
        FROM _extent AS x SEMI JOIN readers AS r ON x.page = r.page
        WHERE x.mode = 'write' AND x.source <> 'clear'
    ),
    -- Zeros are what a reserved page should have.
    cleared AS (
        SELECT x.page, x.seq, x.first, x.end FROM _extent AS x SEMI JOIN reserved AS r ON x.page = r.page
        WHERE x.source = 'clear'
        UNION ALL
        SELECT r.page, e.seq, 0, w.page_size FROM _told_launch AS e, reserved AS r, _window AS w
        WHERE e.kind = 'clear' AND e.all
    ),
    broken AS (
        SELECT w.page, w.life, w.seq, w.row, w.generation, r.seq AS reader_seq
        FROM writers AS w JOIN readers AS r
            ON w.page = r.page AND w.seq < r.seq AND w.first < r.end AND r.first < w.end
        WHERE NOT EXISTS (
            FROM cleared AS c
            WHERE c.page = w.page AND c.seq > w.seq AND c.seq < r.seq
                AND c.first <= greatest(w.first, r.first) AND c.end >= least(w.end, r.end)
        )
        QUALIFY row_number() OVER (PARTITION BY w.page ORDER BY w.seq, r.seq) = 1
    )
SELECT
    'TR206' AS code,
    'reserved-write' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(b.reader_seq IN (SELECT seq FROM _wrong), w.holes) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name) || ' writes page ' || b.page || ', which is reserved, and '
    || _launch_named(reader.launch, reader.kernel, reader_name.name) || ' reads it' AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    NULL AS request,
    late.launch,
    late.on_stream AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    b.reader_seq AS other_seq
FROM broken AS b
JOIN _act AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
JOIN _act AS reader ON b.reader_seq = reader.seq
JOIN _stream AS reader_name ON reader.stream = reader_name.stream
CROSS JOIN _window AS w
