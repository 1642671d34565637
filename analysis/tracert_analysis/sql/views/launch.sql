-- Every submission of work on a stream, with what is ordered before it.
CREATE TABLE launch (
    -- Event that recorded it.
    seq UBIGINT,
    -- When it was enqueued: nanoseconds of the monotonic clock.
    t UBIGINT,
    -- launch, publish, copy, clear, offload or load.
    kind VARCHAR,
    -- Its number, counted over the device.
    launch UBIGINT,
    -- The stream it was enqueued on.
    stream USMALLINT,
    -- Its number within the stream.
    ordinal UBIGINT,
    -- Name of the kernel.
    kernel VARCHAR,
    -- What the step does: prefill, decode, mixed, sample.
    phase VARCHAR,
    -- Number of the step.
    step UBIGINT,
    -- The row that it publishes, or the only row that it uses.
    row USMALLINT,
    -- Generation of that row.
    generation UINTEGER,
    -- The publish's number within its row.
    epoch UBIGINT,
    -- The staging buffer that a publish copies from.
    staging UINTEGER,
    -- Number of the segment of its stream; launches of one segment share a clock.
    segment UBIGINT,
    -- What its explicit writes put there where these are no keys and values: rows, of a snapshot; null otherwise.
    class VARCHAR,
    -- For every stream (clock[stream + 1]) the highest ordinal that is done before this launch starts.
    clock UBIGINT[],
    -- finished, running or waiting, from the stream's progress words; null when these are missing, or don't know of it.
    state VARCHAR,
    -- Event since which the host knows that it has finished; null when it never learned.
    learnt_seq UBIGINT
);

INSERT INTO launch
SELECT
    e.seq, e.t, e.kind::VARCHAR, e.launch, e.stream, e.ordinal, e.kernel, e.phase, e.step,
    coalesce(e.row, u.row), coalesce(e.generation, u.generation),
    e.epoch, e.staging, s.segment, e.class, s.clock,
    CASE
        WHEN e.ordinal > p.launched THEN NULL
        WHEN e.ordinal <= p.finished THEN 'finished'
        WHEN e.ordinal <= p.started THEN 'running'
        WHEN p.stream IS NOT NULL THEN 'waiting'
    END,
    k.learnt_seq
FROM (
    SELECT *, rowid AS id FROM _told_launch WHERE launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
) AS e
JOIN (
    -- With few columns: what is joined by order is sorted.
    SELECT l.id, s.segment, k.seq AS learnt_seq
    FROM (
        SELECT rowid AS id, seq, stream, ordinal FROM _told_launch
        WHERE launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
    ) AS l
    ASOF LEFT JOIN (SELECT segment, stream, from_seq FROM _segment) AS s
        ON l.stream = s.stream AND l.seq >= s.from_seq
    ASOF LEFT JOIN _learnt AS k ON l.stream = k.stream AND l.ordinal <= k.ordinal
) AS k ON e.id = k.id
LEFT JOIN _segment AS s ON k.segment = s.segment
LEFT JOIN (SELECT seq, row, generation FROM _use WHERE alone) AS u ON e.seq = u.seq
LEFT JOIN stream_state AS p ON e.stream = p.stream
ORDER BY e.seq;
