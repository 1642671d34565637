-- The requests that the history tells of, and how far each came.
CREATE TABLE request (
    -- The engine's number of the request, never used again.
    request UBIGINT,
    -- Its public id; null when it arrived before the history.
    id VARCHAR,
    -- The row that it had last.
    row USMALLINT,
    -- The row's generation.
    generation UINTEGER,
    -- Event at which it arrived.
    arrive_seq UBIGINT,
    -- Tokens of its prompt.
    prompt_tokens UINTEGER,
    -- Event at which it ended; null while it lives.
    finish_seq UBIGINT,
    -- Why it ended.
    reason VARCHAR,
    -- running (it has a row), waiting, finished or failed.
    status VARCHAR
);

INSERT INTO request
WITH
    told AS (
        SELECT
            request,
            any_value(id) FILTER (kind = 'arrive') AS id,
            min(seq) FILTER (kind = 'arrive') AS arrive_seq,
            any_value(prompt_tokens) FILTER (kind = 'arrive') AS prompt_tokens,
            min(seq) FILTER (kind IN ('finish', 'fail')) AS finish_seq,
            arg_min(reason, seq) FILTER (kind IN ('finish', 'fail')) AS reason,
            arg_min(kind, seq) FILTER (kind IN ('finish', 'fail')) AS ending
        FROM event
        WHERE kind IN ('arrive', 'row_acquire', 'schedule', 'preempt', 'finish', 'fail', 'keyframe_row') AND request > 0
        GROUP BY request
    ),
    tenancy AS (
        SELECT request, arg_max(row, from_seq) AS row, arg_max(generation, from_seq) AS generation,
            bool_or(until_seq IS NULL) AS has_row
        FROM _tenancy GROUP BY request
    )
SELECT
    t.request, t.id, n.row, n.generation, t.arrive_seq, t.prompt_tokens, t.finish_seq, t.reason,
    CASE
        WHEN t.ending = 'finish' THEN 'finished'
        WHEN t.ending = 'fail' THEN 'failed'
        WHEN n.has_row THEN 'running'
        ELSE 'waiting'
    END
FROM told AS t LEFT JOIN tenancy AS n USING (request)
ORDER BY t.request;
