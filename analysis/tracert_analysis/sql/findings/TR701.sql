-- A launch's planned bytes fit the largest contiguous room of the workspace, and its scratch is freed when it ends.
WITH
    plans AS (
        SELECT seq, launch, bytes, capacity, room FROM _told_workspace
        WHERE kind = 'workspace_plan' AND launch IS NOT NULL AND bytes IS NOT NULL
    ),
    blocks AS (
        SELECT w.launch, w.stream, w.offset, w.bytes, w.alloc_seq, w.free_seq, l.seq, l.kernel, l.step
        FROM workspace AS w JOIN launch AS l USING (launch) WHERE l.seq > w.alloc_seq
    ),
    -- A launch that is refused leaves its number, but not its plan, to the next one.
    starved AS (
        SELECT l.seq, l.launch, l.stream, l.kernel, p.bytes, p.capacity, p.room
        FROM launch AS l ASOF JOIN plans AS p ON l.launch = p.launch AND l.seq > p.seq
        WHERE p.bytes > p.room
            -- It waited until there was room, and has it.
            AND coalesce((
                SELECT sum(b.bytes) FROM workspace AS b WHERE b.launch = l.launch AND b.alloc_seq > p.seq
            ) < p.bytes, true)
    ),
    starved_beside AS (
        SELECT s.seq, count(b.launch) AS blocks, coalesce(sum(b.bytes), 0)::UBIGINT AS live,
            arg_min(
                {
                    'launch': b.launch, 'stream': b.stream, 'kernel': b.kernel, 'step': b.step, 'offset': b.offset,
                    'bytes': b.bytes, 'seq': b.alloc_seq
                },
                b.alloc_seq
            ) AS oldest
        FROM starved AS s
        LEFT JOIN blocks AS b ON b.alloc_seq < s.seq AND (b.free_seq IS NULL OR b.free_seq > s.seq)
        GROUP BY s.seq
    ),
    -- The host settles a step, or a later one, only when it has learnt that the step's launches ended; what it gives
    -- back then is given back before it launches a later step.
    settled AS (
        -- Where transactions have the numbers of their launches: then the frontier came to be where the launch was.
        SELECT e.seq, l.step FROM _told_step AS e JOIN launch AS l ON e.transaction = l.launch
        LEFT JOIN _use AS u ON l.seq = u.seq
        WHERE e.kind = 'transaction' AND e.op = 'commit' AND l.step IS NOT NULL AND coalesce(
            e.row = u.row AND e.request = u.request AND e.frontier > u.start AND e.frontier <= u.end, u.seq IS NULL
        )
    ),
    over AS (
        SELECT b.launch, b.offset, b.alloc_seq, min(s.seq) AS settled_seq
        FROM blocks AS b JOIN settled AS s ON s.seq > b.seq AND s.step >= b.step
        GROUP BY ALL HAVING any_value(b.free_seq) IS NULL OR any_value(b.free_seq) > min(s.seq)
    ),
    outlived AS (
        SELECT b.*, o.settled_seq
        FROM over AS o JOIN blocks AS b USING (launch, "offset", alloc_seq)
        WHERE EXISTS (
            FROM launch AS l
            WHERE l.seq > o.settled_seq AND l.step > b.step AND coalesce(l.seq < b.free_seq, true)
        )
        UNION ALL
        SELECT b.*, w.last_seq FROM blocks AS b, _window AS w WHERE b.free_seq IS NULL AND w.orderly
    ),
    first_outlived AS (
        FROM outlived QUALIFY row_number() OVER (PARTITION BY launch, "offset", alloc_seq ORDER BY settled_seq) = 1
    ),
    broken AS (
        SELECT
            o.settled_seq AS seq, false AS waits, o.launch, o.stream, o.launch AS other_launch,
            o.stream AS other_stream, o.alloc_seq AS other_seq, o.offset,
            _launch_named(o.launch, o.kernel, n.name) || ', in step ' || o.step || ', took the workspace block of '
            || o.bytes || ' bytes at ' || o.offset || ' at event ' || o.alloc_seq
            || '; by event ' || o.settled_seq || ' the launch had ended'
            || CASE
                WHEN o.free_seq IS NULL
                    THEN ', and the block was not given back by then, nor by the last event, ' || z.last_seq
                ELSE ', and the block was given back only at event ' || o.free_seq
            END AS sentence
        FROM first_outlived AS o JOIN _stream AS n USING (stream), _window AS z
        UNION ALL
        SELECT
            s.seq, true, s.launch, s.stream, b.oldest.launch, b.oldest.stream, b.oldest.seq, b.oldest.offset,
            _launch_named(s.launch, s.kernel, n.name) || ' needs ' || s.bytes
            || ' bytes of the workspace in one piece, and the largest room is ' || s.room
            || CASE
                WHEN s.bytes > s.capacity THEN ': more than all of its ' || s.capacity
                WHEN s.bytes <= s.capacity - b.live
                    THEN ', though ' || (s.capacity - b.live) || ' of ' || s.capacity || ' are free'
                ELSE ' of ' || s.capacity
            END
            || CASE
                WHEN b.blocks > 0
                    THEN '; the oldest block that is live, ' || b.oldest.bytes || ' bytes at ' || b.oldest.offset
                        || ', was taken at event ' || b.oldest.seq || ' by launch ' || b.oldest.launch
                        || coalesce(' (' || b.oldest.kernel || ')', '') || coalesce(', in step ' || b.oldest.step, '')
                ELSE ''
            END
        FROM starved AS s JOIN starved_beside AS b USING (seq) JOIN _stream AS n USING (stream)
    )
SELECT
    'TR701' AS code,
    'workspace-exhausted' AS name,
    b.seq,
    'resource' AS class,
    _confidence(b.waits AND x.seq IS NOT NULL, w.holes) AS confidence,
    b.sentence AS sentence,
    'workspace' AS resource_kind,
    b.offset AS resource_id,
    NULL AS life,
    NULL AS row,
    NULL AS generation,
    t.request,
    b.launch,
    b.stream,
    b.other_launch,
    b.other_stream,
    b.other_seq
FROM broken AS b
JOIN launch AS l USING (launch)
CROSS JOIN _window AS w
LEFT JOIN _wrong AS x ON x.seq = l.seq AND x.symptom = 'error'
LEFT JOIN (
    SELECT transaction AS launch, any_value(request) AS request FROM _told_step
    WHERE kind = 'transaction' AND op = 'begin' GROUP BY transaction HAVING count(*) = 1
) AS t ON t.launch = b.launch
