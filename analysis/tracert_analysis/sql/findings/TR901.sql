-- A launched kernel passes within the deadline. A symptom: what it waits for is another finding, where that is told.
WITH
    -- When the host gave up waiting, and what told it so. Where a supervisor gave up on a silent engine, only a launch
    -- that had started speaks for the device's fault: the engine itself may have stopped between two calls.
    given_up AS (
        SELECT min(e.seq) AS seq, 'error' AS how FROM _told_rest AS e
        WHERE e.kind = 'error' AND (e.name ILIKE '%timeout%' OR e.name ILIKE '%hang%')
        HAVING count(*) > 0
        UNION ALL
        SELECT w.last_seq, CASE WHEN h.reason = 'hang' THEN 'silence' ELSE 'error' END
        FROM header AS h, _window AS w
        WHERE h.reason = 'hang' OR h.error ->> 'name' ILIKE '%timeout%' OR h.error ->> 'name' ILIKE '%hang%'
    ),
    -- The oldest launch of each stream that has not ended, by the progress words.
    heads AS (
        SELECT l.*, p.started >= l.ordinal AS running
        FROM stream_state AS p JOIN launch AS l ON p.stream = l.stream AND l.ordinal = p.finished + 1
        WHERE p.launched > p.finished
    ),
    -- What else the history tells of time: something still happened when a launch had been there for too long.
    clock AS (
        SELECT max(e.t) AS t, (SELECT TRY_CAST(h.config ->> 'hang_seconds' AS DOUBLE) FROM header AS h) AS seconds
        FROM event AS e
    ),
    late AS (
        SELECT h.*, g.seq AS at_seq, g.how, h.t + c.seconds * 1e9 <= c.t AS over, (c.t - h.t) / 1e9 AS waited
        FROM heads AS h CROSS JOIN clock AS c
        LEFT JOIN (SELECT min(seq) AS seq, min(how) AS how FROM given_up) AS g ON true
        WHERE h.running AND h.t + c.seconds * 1e9 <= c.t OR g.how = 'error' OR g.how = 'silence' AND h.running
    ),
    -- A launch that runs keeps those that wait; where none runs, the oldest one stands for all.
    stuck AS (
        SELECT * FROM late
        QUALIFY running OR NOT bool_or(running) OVER () AND row_number() OVER (ORDER BY seq) = 1
    ),
    -- What a waiting launch waits for: the last fence before it that had not passed.
    awaited AS (
        SELECT s.seq, f.fence, f.stream, f.ordinal
        FROM stuck AS s
        JOIN fence AS f ON f.wait_stream = s.stream AND f.wait_seq < s.seq
        JOIN stream_state AS p ON f.stream = p.stream AND p.finished < f.ordinal
        WHERE NOT s.running
        QUALIFY row_number() OVER (PARTITION BY s.seq ORDER BY f.wait_seq DESC) = 1
    )
SELECT
    'TR901' AS code,
    'no-progress' AS name,
    coalesce(s.at_seq, w.last_seq) AS seq,
    'symptom' AS class,
    _confidence(s.at_seq IS NOT NULL, w.holes) AS confidence,
    _launch_named(s.launch, s.kernel, n.name)
    || CASE WHEN s.running THEN ' has started and not ended' ELSE ' has not started' END
    || CASE
        WHEN s.how = 'error' THEN ' when the host gave up waiting'
        WHEN s.how = 'silence' THEN ' when the engine was given up as silent'
        ELSE ', ' || round(s.waited, 1) || ' s after it was launched'
    END
    || coalesce('; it waits for fence ' || a.fence || ', recorded after '
        || coalesce(_launch_named(x.launch, x.kernel, xn.name), 'a launch') || ', which has not ended', '') AS sentence,
    'stream' AS resource_kind,
    s.stream AS resource_id,
    NULL AS life,
    s.row,
    s.generation,
    t.request,
    s.launch,
    s.stream,
    NULL AS other_launch,
    NULL AS other_stream,
    s.seq AS other_seq
FROM stuck AS s
CROSS JOIN _window AS w
JOIN _stream AS n ON s.stream = n.stream
LEFT JOIN awaited AS a ON s.seq = a.seq
LEFT JOIN launch AS x ON a.stream = x.stream AND a.ordinal = x.ordinal
LEFT JOIN _stream AS xn ON x.stream = xn.stream
LEFT JOIN _tenancy AS t ON s.row = t.row AND s.generation = t.generation
