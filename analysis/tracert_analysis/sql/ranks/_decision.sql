-- What a rank decided, and the schedule of a request that it belongs to: what every rank of one engine must decide
-- alike. When a request comes in, and that one fails or is ended from outside, is nobody's decision; and pages are not
-- compared: when one is free again depends on the rank's own device.
CREATE TABLE _decision AS
WITH
    told AS (
        SELECT
            seq, t, kind, request, row, CASE WHEN kind IN ('schedule', 'verify') THEN step END AS step, phase,
            hit_tokens, scheduled_tokens, computed_tokens, accepted, reason
        FROM event
        WHERE kind IN ('match', 'row_acquire', 'schedule', 'verify', 'preempt', 'finish') AND request IS NOT NULL
            AND (kind <> 'finish' OR reason IS DISTINCT FROM 'abort')
    ),
    scheduled AS (
        SELECT request, step, seq, row_number() OVER (ORDER BY seq) AS turn FROM told WHERE kind = 'schedule'
    ),
    -- A verify may come after the next step was scheduled: its own step says more than its place.
    stepped AS (SELECT request, step, min(turn) AS turn FROM scheduled WHERE step IS NOT NULL GROUP BY ALL),
    placed AS (
        SELECT
            t.*,
            CASE WHEN t.kind IN ('match', 'row_acquire') THEN n.turn ELSE coalesce(s.turn, l.turn) END AS turn
        FROM told AS t
        ASOF LEFT JOIN scheduled AS n ON t.request = n.request AND t.seq <= n.seq
        ASOF LEFT JOIN scheduled AS l ON t.request = l.request AND t.seq >= l.seq
        LEFT JOIN stepped AS s ON t.kind = 'verify' AND t.request = s.request AND t.step = s.step
    )
SELECT
    seq,
    t,
    kind::VARCHAR AS kind,
    request,
    row,
    CASE WHEN kind = 'schedule' THEN step END AS step,
    turn,
    CASE kind
        WHEN 'match' THEN 'finds ' || hit_tokens || ' tokens of request ' || request || ' cached'
        WHEN 'row_acquire' THEN 'gives row ' || row || ' to request ' || request
        WHEN 'schedule' THEN 'schedules ' || scheduled_tokens || ' tokens of request ' || request
            || coalesce(' in row ' || row, '') || coalesce(' after ' || computed_tokens || ' computed', '')
            || coalesce(', ' || phase, '') || coalesce(', step ' || step, '')
        WHEN 'verify' THEN 'accepts ' || accepted || ' drafts of request ' || request
            || coalesce(', step ' || step, '')
        WHEN 'preempt' THEN 'preempts request ' || request
        ELSE 'ends request ' || request || coalesce(': ' || reason, '')
    END AS what
FROM placed
WHERE turn IS NOT NULL
-- Whoever waits may be matched again and again: how often depends on when it came.
QUALIFY row_number() OVER (PARTITION BY kind, request, turn ORDER BY seq DESC) = 1;
