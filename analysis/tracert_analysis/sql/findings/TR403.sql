-- A launch walks no further than the row is mapped.
WITH
    broken AS (
        SELECT * FROM _past_row
        QUALIFY row_number() OVER (PARTITION BY row, generation ORDER BY seq, index) = 1
    ),
    mapped AS (
        SELECT b.row, b.generation, count(*) AS entries, max(m.index) AS last_index
        FROM broken AS b
        JOIN _mapped AS m
            ON b.row = m.row AND b.generation = m.generation AND m.from_seq < b.seq
            AND coalesce(m.until_seq > b.seq, true)
        GROUP BY b.row, b.generation
    )
SELECT
    'TR403' AS code,
    'walked-past-row' AS name,
    b.seq,
    'mapping' AS class,
    _confidence(
        _seen_wrong(b.seq, b.row, NULL) OR f.walked > b.index
        OR EXISTS (FROM guard_entry AS g WHERE g.seq = b.seq AND g.row = b.row AND g.index = b.index),
        w.holes
    ) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name) || ' follows entry ' || b.index || ' of row ' || b.row
    || ' for request ' || b.request || ', which maps '
    || CASE m.entries WHEN 1 THEN '1 entry' ELSE coalesce(m.entries, 0) || ' entries' END || ' there'
    || CASE WHEN m.last_index > b.index THEN ', and not that one: ' ELSE ': ' END
    || CASE
        WHEN c.page IS NULL AND w.complete THEN 'nothing was ever published in it'
        WHEN c.page IS NULL THEN 'nothing is known to have been published in it'
        WHEN c.page < 0 OR c.page >= w.kv_pages THEN 'it names ' || c.page || ', which is no page of the pool'
        ELSE 'it names page ' || c.page || '.' || c.life
    END
    || CASE
        WHEN c.generation = b.generation OR c.generation IS NULL THEN ''
        WHEN c.seq < own.from_seq THEN ', left by generation ' || c.generation
            || coalesce(' of request ' || former.request, '')
        ELSE coalesce('. ' || o.why, '')
    END
    || CASE
        WHEN f.declared <= b.index THEN '. The kernel itself followed ' || f.walked
            || CASE f.walked WHEN 1 THEN ' entry' ELSE ' entries' END || ' of it, and its launch was to follow '
            || f.declared
        ELSE ''
    END AS sentence,
    'row' AS resource_kind,
    b.row AS resource_id,
    NULL AS life,
    b.row,
    b.generation,
    b.request,
    late.launch,
    late.stream,
    early.launch AS other_launch,
    early.stream AS other_stream,
    c.seq AS other_seq
FROM broken AS b
JOIN launch AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
LEFT JOIN mapped AS m ON b.row = m.row AND b.generation = m.generation
LEFT JOIN row_content AS c ON b.content = c.content
LEFT JOIN launch AS early ON c.seq = early.seq
LEFT JOIN _tenancy AS former ON c.row = former.row AND c.generation = former.generation
LEFT JOIN _tenancy AS own ON b.row = own.row AND b.generation = own.generation
LEFT JOIN _other_tenant AS o ON b.content = o.content AND b.generation = o.generation
LEFT JOIN (
    SELECT seq, row, generation, max(walked) AS walked, min(declared) AS declared FROM _followed
    GROUP BY seq, row, generation
) AS f ON b.seq = f.seq AND b.row = f.row AND b.generation = f.generation
CROSS JOIN _window AS w
