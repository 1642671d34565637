-- A request that ended, or lost its pages, holds none once the step that it ended in is over.
WITH
    ended AS (
        SELECT seq, kind, request, row, coalesce(reason, kind::VARCHAR) AS reason
        FROM _told_rest WHERE kind IN ('finish', 'fail', 'preempt') AND request IS NOT NULL
    ),
    steps AS (
        SELECT min(seq) AS seq FROM (
            SELECT seq, step FROM _told_step WHERE kind = 'schedule'
            UNION ALL
            SELECT seq, step FROM _told_launch WHERE kind = 'launch'
        ) WHERE step IS NOT NULL GROUP BY step
    ),
    -- The rest of its step is the request's own. A history that ends before that proves nothing, but one that was
    -- written as the engine went down in good order does: the crash of an engine leaves requests with their pages.
    bounded AS (
        SELECT
            e.*,
            coalesce(
                s.seq,
                CASE
                    WHEN h.reason = 'exit' AND coalesce(json_type(h.error) <> 'OBJECT', true) AND e.kind <> 'fail'
                        THEN w.last_seq + 1
                END
            ) AS deadline
        FROM ended AS e ASOF LEFT JOIN steps AS s ON e.seq < s.seq, header AS h, _window AS w
    ),
    broken AS (
        SELECT b.seq, b.kind, b.request, b.row, b.reason, b.deadline, count(*) AS pages,
            arg_min({'page': h.page, 'life': h.life, 'from_seq': h.from_seq}, h.page) AS first_page
        FROM bounded AS b
        JOIN holding AS h
            ON h.holder = 'request:' || b.request AND h.from_seq < b.seq
            AND coalesce(h.until_seq > b.deadline, true)
        WHERE b.deadline IS NOT NULL
        GROUP BY ALL
    ),
    first_broken AS (
        SELECT * FROM broken QUALIFY row_number() OVER (PARTITION BY request ORDER BY seq) = 1
    )
SELECT
    'TR204' AS code,
    'leaked-page' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(false, w.holes) AS confidence,
    'request ' || b.request
    || CASE b.kind WHEN 'preempt' THEN ' was preempted' WHEN 'fail' THEN ' failed' ELSE ' finished' END
    || ' at event ' || b.seq || ' and still holds page ' || b.first_page.page || '.' || b.first_page.life
    || CASE WHEN b.pages > 1 THEN ' and ' || (b.pages - 1) || ' more' ELSE '' END
    || ' at event ' || b.deadline AS sentence,
    'page' AS resource_kind,
    b.first_page.page AS resource_id,
    b.first_page.life AS life,
    b.row,
    NULL AS generation,
    b.request,
    NULL AS launch,
    NULL AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    b.first_page.from_seq AS other_seq
FROM first_broken AS b CROSS JOIN _window AS w
