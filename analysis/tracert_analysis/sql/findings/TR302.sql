-- Bytes that a kernel covers were written or cleared at all.
SELECT
    'TR302' AS code,
    'uninitialised-read' AS name,
    m.seq,
    'content' AS class,
    _confidence(m.observed, w.holes OR w.strange) AS confidence,
    m.reader || ' covers ' || m.place
    || CASE
        WHEN m.via_seq IS NULL THEN ', which nothing has written or cleared since the device started'
        ELSE ', which ' || _launch_named(v.launch, v.kernel, n.name)
            || ' copied from where nothing had been written or cleared'
    END AS sentence,
    'page' AS resource_kind,
    m.page AS resource_id,
    m.life,
    m.row,
    m.generation,
    m.request,
    m.launch,
    m.stream,
    v.launch AS other_launch,
    v.stream AS other_stream,
    m.via_seq AS other_seq
FROM _met AS m
LEFT JOIN _act AS v ON m.via_seq = v.seq
LEFT JOIN _stream AS n ON v.stream = n.stream
CROSS JOIN _window AS w
WHERE m.kind = 'unwritten'
