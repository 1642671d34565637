-- A launch that uses a row is ordered after the row's last publish, and before the next.
WITH
    broken AS (
        SELECT *
        FROM _unordered_publish
        -- One finding a tenancy of a row: the first event, and the latest of the publishes that it should follow.
        QUALIFY row_number() OVER (
            PARTITION BY row, generation ORDER BY seq, reason = 'republish', early_seq DESC, index
        ) = 1
    )
SELECT
    'TR102' AS code,
    'unordered-publish' AS name,
    b.seq,
    'order' AS class,
    _confidence(
        _overtook(late.state, early.state)
        OR EXISTS (
            FROM _wrong AS x
            WHERE x.stream = b.stream AND b.reason = 'publish' AND coalesce(x.row = b.row, true) AND CASE x.symptom
                -- The device failed in the very launch that broke the order; numbers go wrong later, too.
                WHEN 'error' THEN x.seq = b.seq
                ELSE x.seq BETWEEN b.first_seq AND b.last_seq
            END
        )
        -- A guarded kernel found in the row what had not been published in it.
        OR EXISTS (
            FROM guard_entry AS g
            WHERE g.differs AND g.row = b.row AND g.generation = b.generation AND g.stream = b.stream
                AND g.seq BETWEEN b.first_seq AND b.last_seq
        ),
        w.holes
    ) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name)
    || CASE b.reason WHEN 'publish' THEN ' follows row ' ELSE ' publishes row ' END || b.row
    || CASE b.reason WHEN 'publish' THEN '' ELSE ' again' END
    || ', and nothing orders it after ' || _launch_named(early.launch, early.kernel, early_name.name)
    || CASE b.reason WHEN 'overwrite' THEN ', which follows the row' ELSE ', which published the row' END AS sentence,
    'row' AS resource_kind,
    b.row AS resource_id,
    NULL AS life,
    b.row,
    b.generation,
    t.request,
    late.launch,
    late.stream,
    early.launch AS other_launch,
    early.stream AS other_stream,
    early.seq AS other_seq
FROM broken AS b
JOIN launch AS late ON b.late_seq = late.seq
JOIN launch AS early ON b.early_seq = early.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
JOIN _stream AS early_name ON early.stream = early_name.stream
LEFT JOIN _tenancy AS t ON b.row = t.row AND b.generation = t.generation
CROSS JOIN _window AS w
