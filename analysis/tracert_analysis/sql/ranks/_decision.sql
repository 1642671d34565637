-- What a rank decided, in order: what every rank of one engine must decide alike. Pages are not compared: when one is
-- free again depends on the rank's own device.
CREATE TABLE _decision AS
SELECT
    seq,
    t,
    request,
    row,
    CASE WHEN kind = 'schedule' THEN step END AS step,
    CASE kind
        WHEN 'arrive' THEN 'takes in request ' || request || coalesce(' of ' || prompt_tokens || ' tokens', '')
        WHEN 'match' THEN 'finds ' || hit_tokens || ' tokens of request ' || request || ' cached'
        WHEN 'row_acquire' THEN 'gives row ' || row || ' to request ' || request
        WHEN 'schedule' THEN 'schedules ' || scheduled_tokens || ' tokens of request ' || request
            || coalesce(' in row ' || row, '') || coalesce(' after ' || computed_tokens || ' computed', '')
            || coalesce(', ' || phase, '') || coalesce(', step ' || step, '')
        WHEN 'verify' THEN 'accepts ' || accepted || ' drafts of request ' || request
            || coalesce(', step ' || step, '')
        WHEN 'preempt' THEN 'preempts request ' || request
        WHEN 'finish' THEN 'ends request ' || request || coalesce(': ' || reason, '')
        ELSE 'fails request ' || request || coalesce(': ' || reason, '')
    END AS what
FROM event
WHERE kind IN ('arrive', 'match', 'row_acquire', 'schedule', 'verify', 'preempt', 'finish', 'fail')
    AND request IS NOT NULL;
