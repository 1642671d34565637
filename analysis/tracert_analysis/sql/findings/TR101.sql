-- Within a life of a page, two accesses of the same positions, one of them writing, are ordered.
WITH
    broken AS (
        SELECT
            y.page, y.life, y.seq, x.seq AS other_seq, x.mode AS other_mode, y.mode, y.row, y.generation,
            greatest(x.first, y.first) AS first, least(x.end, y.end) AS "end", NULL AS request, NULL AS slot
        FROM _loose AS o
        JOIN _near AS y ON o.seq = y.seq
        JOIN _act AS l ON y.seq = l.seq
        JOIN _near AS x
            ON x.page = y.page AND x.life = y.life AND x.seq < y.seq AND x.stream = o.other_stream
            AND x.first < y.end AND y.first < x.end AND (x.mode = 'write' OR y.mode = 'write')
        -- Clears have a rule of their own, TR104.
        WHERE l.clock[x.stream + 1] < x.ordinal AND NOT x.clears AND NOT y.clears
        -- Of what one launch does, what it reads comes first.
        QUALIFY row_number() OVER (
            PARTITION BY y.page, y.life
            ORDER BY y.seq, x.seq DESC, y.mode, x.mode DESC, y.first, y.end, x.first, x.end, y.row, y.generation
        ) = 1
        UNION ALL
        -- So are the copy that fills a slot of the host tier, and the one that brings it back.
        SELECT page, life, seq, other_seq, 'write', 'read', NULL, NULL, NULL, NULL, request, slot
        FROM _slot_race WHERE kind = 'load'
    )
SELECT
    'TR101' AS code,
    'unordered-access' AS name,
    b.seq,
    'order' AS class,
    _confidence(_overtook(late.state, early.state) OR _seen_wrong(b.seq, b.row, b.page), w.holes) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name)
    || CASE WHEN b.slot IS NOT NULL THEN ' loads slot ' || b.slot || ' of the host tier into'
        ELSE CASE b.mode WHEN 'write' THEN ' writes' ELSE ' reads' END
            || CASE
                WHEN b.end - b.first = 1 THEN ' position ' || b.first
                ELSE ' positions ' || b.first || ' to ' || (b.end - 1)
            END || ' of' END
    || ' page ' || b.page || '.' || b.life || ', and nothing orders it after '
    || _launch_named(early.launch, early.kernel, early_name.name)
    || CASE WHEN b.slot IS NOT NULL THEN ', which fills the slot'
        ELSE CASE b.other_mode WHEN 'write' THEN ', which writes ' ELSE ', which reads ' END
            || CASE WHEN b.end - b.first = 1 THEN 'it' ELSE 'them' END END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    coalesce(t.request, b.request) AS request,
    late.launch,
    late.on_stream AS stream,
    early.launch AS other_launch,
    early.on_stream AS other_stream,
    b.other_seq
FROM broken AS b
JOIN _act AS late ON b.seq = late.seq
JOIN _act AS early ON b.other_seq = early.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
JOIN _stream AS early_name ON early.stream = early_name.stream
LEFT JOIN _tenancy AS t ON b.row = t.row AND b.generation = t.generation
CROSS JOIN _window AS w
