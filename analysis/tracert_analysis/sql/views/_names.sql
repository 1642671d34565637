-- Every stream by the name that the engine gives it, and every channel by its writer.
CREATE TABLE _stream (stream USMALLINT, name VARCHAR);

INSERT INTO _stream
SELECT s.stream, coalesce(any_value(p.name), 'stream ' || s.stream)
FROM (SELECT stream FROM launch UNION SELECT stream FROM stream_state) AS s LEFT JOIN stream_state AS p USING (stream)
GROUP BY s.stream
UNION ALL
SELECT stream, any_value(CASE WHEN actor = 'host' THEN 'the host' ELSE actor END) FROM _outside GROUP BY stream;

-- Is it a signal that somebody else sent? A process that was killed from outside has not failed.
CREATE MACRO _from_outside(signal) AS
    coalesce(signal IN ('SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'), false);

-- Launches at which something visibly went wrong: they were running when the device failed, or what they computed
-- was not finite. Where a signal from outside, an exception of the host or the refusal of a result is all that there
-- was, launches that ran were just running. What is not finite is so in one row, that of `request`, which has `pages`:
-- what the launch did for another row does not show there. Null where that is not told.
CREATE TABLE _wrong (
    seq UBIGINT, stream USMALLINT, symptom VARCHAR, row USMALLINT, request UBIGINT, pages BIGINT[]
);

INSERT INTO _wrong
SELECT l.seq, l.stream, 'error', NULL, NULL, NULL FROM launch AS l
WHERE l.state = 'running' AND (
    EXISTS (
        FROM header WHERE error IS NOT NULL AND json_type(error) = 'OBJECT'
            AND NOT _from_outside(error ->> 'name')
            AND coalesce(error ->> 'observed_at', CASE WHEN reason = 'exception' THEN 'engine' END, '')
                NOT IN ('engine', 'commit')
    )
    OR EXISTS (FROM _told_rest WHERE kind = 'error' AND coalesce(observed_at, '') NOT IN ('engine', 'commit'))
)
UNION
SELECT l.seq, l.stream, 'nonfinite', e.row, e.request, list_transform(e.pages, lambda x: x[1])
FROM _told_rest AS e JOIN launch AS l USING (launch) WHERE e.kind = 'nonfinite';

-- Did something visibly go wrong at a launch, for a row (any, where it is null) or in a page?
CREATE MACRO _seen_wrong(at_seq, at_row, at_page) AS EXISTS (
    FROM _wrong AS x
    WHERE x.seq = at_seq
        AND (x.row IS NULL OR at_row IS NULL OR x.row = at_row OR coalesce(list_contains(x.pages, at_page), false))
);

-- Did a launch start before one had ended that should have come first?
CREATE MACRO _overtook(late, early) AS early <> 'finished' AND late IN ('running', 'finished');

-- How a sentence names a launch; without one it is an act of a writer that has no stream.
CREATE MACRO _launch_named(launch, kernel, stream_name) AS CASE
    WHEN launch IS NULL THEN coalesce(kernel || ' of ', '') || stream_name
    ELSE 'launch ' || launch || ' (' || coalesce(kernel, 'unnamed') || ') on ' || stream_name
END;

-- suspected: events are missing that could have ordered or held, so that what visibly went wrong may have another
-- cause; observed: something visibly went wrong; else proven.
CREATE MACRO _confidence(observed, holes) AS
    CASE WHEN holes THEN 'suspected' WHEN observed THEN 'observed' ELSE 'proven' END;

-- How a sentence names positions from `first` up to `past`.
CREATE MACRO _positions(first, past) AS CASE
    WHEN past - first = 1 THEN 'position ' || first
    ELSE 'positions ' || first || ' to ' || (past - 1)
END;
