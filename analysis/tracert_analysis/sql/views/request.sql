-- The requests that the history tells of, and how far each came.
CREATE TABLE _request (
    request UBIGINT, id VARCHAR, row USMALLINT, generation UINTEGER, arrive_seq UBIGINT, arrive_t UBIGINT,
    prompt_tokens UINTEGER, schedule_seq UBIGINT, schedule_t UBIGINT, finish_seq UBIGINT, finish_t UBIGINT,
    reason VARCHAR, status VARCHAR
);

INSERT INTO _request
WITH
    told AS (
        SELECT
            request,
            any_value(id) FILTER (kind = 'arrive') AS id,
            min(seq) FILTER (kind = 'arrive') AS arrive_seq,
            arg_min(t, seq) FILTER (kind = 'arrive') AS arrive_t,
            any_value(prompt_tokens) FILTER (kind = 'arrive') AS prompt_tokens,
            min(seq) FILTER (kind IN ('finish', 'fail')) AS finish_seq,
            arg_min(t, seq) FILTER (kind IN ('finish', 'fail')) AS finish_t,
            arg_min(reason, seq) FILTER (kind IN ('finish', 'fail')) AS reason,
            arg_min(kind, seq) FILTER (kind IN ('finish', 'fail')) AS ending
        FROM _told_rest
        WHERE kind IN ('arrive', 'preempt', 'finish', 'fail', 'keyframe_row') AND request > 0
        GROUP BY request
    ),
    scheduled AS (
        SELECT request, min(seq) AS seq, min(t) AS t FROM _told_step
        WHERE kind = 'schedule' AND request > 0 GROUP BY request
    ),
    tenancy AS (
        SELECT request, arg_max(row, from_seq) AS row, arg_max(generation, from_seq) AS generation,
            bool_or(until_seq IS NULL) AS has_row
        FROM _tenancy GROUP BY request
    ),
    named AS (
        SELECT request FROM told UNION SELECT request FROM scheduled
        UNION SELECT request FROM _told_page WHERE kind = 'row_acquire' AND request > 0
    )
SELECT
    r.request, t.id, n.row, n.generation, t.arrive_seq, t.arrive_t, t.prompt_tokens, s.seq, s.t, t.finish_seq,
    t.finish_t, t.reason,
    CASE
        WHEN t.ending = 'finish' THEN 'finished'
        WHEN t.ending = 'fail' THEN 'failed'
        WHEN n.has_row THEN 'running'
        ELSE 'waiting'
    END
FROM named AS r
LEFT JOIN told AS t ON r.request = t.request
LEFT JOIN scheduled AS s ON r.request = s.request
LEFT JOIN tenancy AS n ON r.request = n.request
ORDER BY r.request;

-- The requests that the history tells of, how far each came, and when: numbers of events, and nanoseconds of the
-- monotonic clock. A token comes when the host learns that the launch which drew it has finished: the step's positions
-- are committed.
CREATE VIEW request (
    -- The engine's number of the request, never used again.
    request,
    -- Its public id; null when it arrived before the history.
    id,
    -- The row that it had last.
    row,
    -- The row's generation.
    generation,
    -- Event at which it arrived.
    arrive_seq,
    -- Tokens of its prompt.
    prompt_tokens,
    -- Event at which it ended; null while it lives.
    finish_seq,
    -- Why it ended.
    reason,
    -- running (it has a row), waiting, finished or failed.
    status,
    -- When it arrived.
    arrive_t,
    -- Event of the first step that it was scheduled for, in this history; null while it never was.
    first_schedule_seq,
    -- When that was.
    first_schedule_t,
    -- Event at which the host had its first token: the first commit of all of its prompt. Null while there is none, and
    -- when it arrived before the history.
    first_token_seq,
    -- When that was.
    first_token_t,
    -- Event at which the host had its last token, so far: the commit of the most positions.
    last_token_seq,
    -- When that was.
    last_token_t,
    -- When it ended.
    finish_t
) AS
WITH
    -- Drawn in its last step and refused: no token came of that commit.
    refused AS (
        SELECT e.request, max(c.seq) AS seq
        FROM (
            SELECT TRY_CAST(detail ->> 'request' AS UBIGINT) AS request, min(seq) AS seq
            FROM _told_rest WHERE kind = 'error' AND observed_at = 'commit' GROUP BY ALL
        ) AS e
        JOIN _told_step AS c
            ON c.kind = 'transaction' AND c.op = 'commit' AND c.request = e.request AND c.seq < e.seq
        GROUP BY e.request
    ),
    -- A request that lost its pages computes positions again.
    committed AS (
        SELECT c.request, c.frontier, min(c.seq) AS seq, min(c.t) AS t
        FROM _told_step AS c
        JOIN _request AS r ON c.request = r.request
        LEFT JOIN refused AS f ON c.request = f.request
        WHERE c.kind = 'transaction' AND c.op = 'commit' AND c.frontier >= r.prompt_tokens
            AND coalesce(c.seq <> f.seq, true)
        GROUP BY c.request, c.frontier
    ),
    drawn AS (
        SELECT request, min(seq) AS first_seq, min(t) AS first_t, arg_max(seq, frontier) AS last_seq,
            arg_max(t, frontier) AS last_t
        FROM committed GROUP BY request
    )
SELECT
    r.request, r.id, r.row, r.generation, r.arrive_seq, r.prompt_tokens, r.finish_seq, r.reason, r.status, r.arrive_t,
    r.schedule_seq, r.schedule_t, d.first_seq, d.first_t, d.last_seq, d.last_t, r.finish_t
FROM _request AS r LEFT JOIN drawn AS d ON r.request = d.request;
