-- Nobody writes a reserved page but padding that nobody reads.
WITH
    reserved AS (SELECT DISTINCT page FROM page_life WHERE owner LIKE 'reserved:%'),
    touched AS (
        -- A request's row that names a reserved page is mapped wrongly, and TR402 tells of it.
        SELECT t.page, t.life, t.mode, t.stream, t.first_seq, t.last_seq, t.row, t.generation
        FROM _touch AS t
        SEMI JOIN reserved AS r ON t.page = r.page
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        WHERE t.mode = 'read' OR t.mode = 'write' AND n.request IS NULL
        UNION ALL
        -- Zeros are what a reserved page should have.
        SELECT x.page, x.life, x.mode, x.stream, x.seq, x.seq, NULL, NULL
        FROM _extent AS x SEMI JOIN reserved AS r ON x.page = r.page WHERE x.source <> 'clear'
    ),
    broken AS (
        SELECT w.page, w.life, w.first_seq AS seq, w.row, w.generation, min(r.last_seq) AS reader_seq
        FROM touched AS w JOIN touched AS r USING (page)
        WHERE w.mode = 'write' AND r.mode = 'read' AND r.last_seq > w.first_seq
        GROUP BY w.page, w.life, w.first_seq, w.row, w.generation
        QUALIFY row_number() OVER (PARTITION BY w.page ORDER BY w.first_seq) = 1
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
