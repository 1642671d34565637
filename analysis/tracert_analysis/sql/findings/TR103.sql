-- A staging buffer is not written again before the host knows that the publish which reads it has executed.
WITH
    -- Order of the host: what it had learned when it wrote the buffer.
    written AS (
        SELECT e.seq, e.staging, h.clock
        FROM (FROM _told_fence WHERE kind = 'stage' AND staging IS NOT NULL) AS e
        ASOF LEFT JOIN _host AS h ON e.seq >= h.from_seq
    ),
    copied AS (
        SELECT staging, stream, seq, ordinal FROM launch WHERE kind = 'publish' AND staging IS NOT NULL
    ),
    asked AS (
        SELECT w.seq, w.staging, c.stream, coalesce(w.clock[c.stream + 1], 0) AS known
        FROM written AS w JOIN (SELECT DISTINCT staging, stream FROM copied) AS c USING (staging)
    ),
    broken AS (
        -- Where the last copy of a stream is known to be done, all before it are.
        SELECT a.seq, a.staging, c.seq AS publish_seq
        FROM asked AS a ASOF JOIN copied AS c
            ON a.staging = c.staging AND a.stream = c.stream AND a.seq > c.seq
        WHERE a.known < c.ordinal
        QUALIFY row_number() OVER (PARTITION BY a.staging ORDER BY a.seq, c.seq DESC) = 1
    )
SELECT
    'TR103' AS code,
    'staging-reuse' AS name,
    b.seq,
    'order' AS class,
    -- What has not executed by the end of the history reads what was written since.
    _confidence(early.state = 'waiting', w.holes) AS confidence,
    'the host writes staging buffer ' || b.staging || ' again before it knows that '
    || _launch_named(early.launch, early.kernel, early_name.name) || ' has executed, which copies it to row '
    || early.row AS sentence,
    'staging' AS resource_kind,
    b.staging AS resource_id,
    NULL AS life,
    early.row,
    early.generation,
    t.request,
    NULL AS launch,
    NULL AS stream,
    early.launch AS other_launch,
    early.stream AS other_stream,
    early.seq AS other_seq
FROM broken AS b
JOIN launch AS early ON b.publish_seq = early.seq
JOIN _stream AS early_name ON early.stream = early_name.stream
LEFT JOIN _tenancy AS t ON early.row = t.row AND early.generation = t.generation
CROSS JOIN _window AS w
