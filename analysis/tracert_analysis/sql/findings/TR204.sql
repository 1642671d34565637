-- A holder that ended, or lost its pages, holds none once the step that it ended in is over.
WITH
    -- What ended, and of which pages: a request of all, a copy of those that it was planned with, a snapshot's state
    -- rows and a node of a prefix cache of those that they gave up.
    ended AS (
        SELECT seq, kind, step, request, row, 'request:' || request AS holder, NULL::BIGINT[][] AS pages
        FROM _told_rest WHERE kind IN ('finish', 'fail', 'preempt') AND request IS NOT NULL
        UNION ALL
        SELECT d.seq, d.kind, NULL, NULL, NULL, 'transfer:' || d.transaction,
            list_concat(coalesce(d.source, p.source), coalesce(d.target, p.target))
        FROM _told_rest AS d
        LEFT JOIN _told_rest AS p ON p.kind = 'copy_plan' AND d.transaction = p.transaction AND p.seq < d.seq
        WHERE d.kind = 'copy_done'
        UNION ALL
        SELECT seq, kind, NULL, NULL, NULL, 'snapshot:' || snapshot, pages FROM _told_rest
        WHERE kind = 'snapshot_release'
        UNION ALL
        SELECT seq, kind, NULL, NULL, NULL, 'prefix:' || node, pages FROM _told_rest WHERE kind = 'evict'
    ),
    steps AS (
        SELECT step, min(seq) AS seq, lead(min(seq)) OVER (ORDER BY min(seq)) AS next_seq FROM (
            SELECT seq, step FROM _told_step WHERE kind = 'schedule'
            UNION ALL
            SELECT seq, step FROM _told_launch WHERE kind = 'launch'
        ) WHERE step IS NOT NULL GROUP BY step
    ),
    -- Its step is that which it names, else the last that has begun, and of what is no request the next one: what is
    -- done with before anything is scheduled is of the step that begins.
    followed AS (
        SELECT e.*, CASE WHEN e.request IS NULL THEN s.next_seq ELSE s.seq END AS next_seq
        FROM (FROM ended WHERE step IS NULL) AS e ASOF LEFT JOIN steps AS s ON e.seq < s.seq
        UNION ALL
        -- Steps begin in the order of their numbers: the first behind both.
        SELECT e.*, CASE WHEN s.seq IS NOT NULL THEN greatest(s.seq, t.seq) END
        FROM (FROM ended WHERE step IS NOT NULL) AS e
        ASOF LEFT JOIN steps AS s ON e.step < s.step
        ASOF LEFT JOIN steps AS t ON e.seq < t.seq
    ),
    -- The rest of its step is the holder's own. A history that ends before that proves nothing, unless the engine
    -- went down in good order.
    bounded AS (
        SELECT
            e.* EXCLUDE (next_seq),
            coalesce(e.next_seq, CASE WHEN w.orderly AND e.kind <> 'fail' THEN w.last_seq + 1 END) AS deadline,
            coalesce(s.next_seq, 1e18::UBIGINT) AS followed_until
        FROM followed AS e CROSS JOIN _window AS w LEFT JOIN steps AS s ON e.next_seq = s.seq
    ),
    -- What was kept: mostly nothing, and then the rest is not asked.
    broken AS (
        SELECT b.*, h.page, h.life, h.from_seq, h.until_seq
        FROM bounded AS b
        JOIN holding AS h
            ON b.holder = h.holder AND h.from_seq < b.seq AND coalesce(h.until_seq > b.deadline, true)
        WHERE b.deadline IS NOT NULL AND b.kind IN ('finish', 'fail', 'preempt')
        UNION ALL
        SELECT b.* EXCLUDE (x), h.page, h.life, h.from_seq, h.until_seq
        FROM (
            SELECT *, unnest(pages) AS x FROM bounded
            WHERE deadline IS NOT NULL AND kind NOT IN ('finish', 'fail', 'preempt')
        ) AS b
        JOIN holding AS h
            ON b.holder = h.holder AND b.x[1] = h.page AND b.x[2] = h.life
            AND h.from_seq < b.seq AND coalesce(h.until_seq > b.deadline, true)
    ),
    -- What a holder gave up and took again by then, it has.
    taken_again AS (
        SELECT k.holder, k.page, k.life, k.seq
        FROM broken AS k
        JOIN (
            SELECT seq, kind, node, snapshot, unnest(pages) AS x FROM _told_rest
            WHERE kind IN ('insert', 'snapshot_alias') AND len(pages) > 0
        ) AS t ON t.x[1] = k.page AND t.x[2] = k.life AND t.seq BETWEEN k.seq AND k.deadline
            AND k.holder = CASE t.kind WHEN 'insert' THEN 'prefix:' || t.node ELSE 'snapshot:' || t.snapshot END
    ),
    -- A holder may wait for what still touches its pages, and gives them back once the host knows that it is done: for
    -- a launch in flight, or a writer without a stream. Of a launch that has ended, and the host never asked, a request
    -- may keep them a step longer. What uses a row of somebody else is no matter of who is no request, and never gives
    -- them back.
    touched AS (
        -- Pages are moved elsewhere, to another node or to the host, from the step on that follows the end, and one
        -- behind the other: how many steps that takes shows only where they are given back.
        SELECT k.holder, k.page, k.life, k.seq, k.request, k.deadline, x.seq AS act_seq
        FROM broken AS k
        JOIN _extent AS x
            ON k.page = x.page AND k.life = x.life AND x.seq < coalesce(k.until_seq, k.followed_until)
        UNION ALL
        -- What a row named is not known where the history begins behind that: it may have been any page.
        SELECT k.holder, k.page, k.life, k.seq, k.request, k.deadline, u.seq
        FROM broken AS k
        JOIN _use AS u ON k.row = u.row AND u.seq < k.deadline
        ANTI JOIN _tenancy AS t ON u.row = t.row AND u.generation = t.generation
        UNION ALL
        SELECT k.holder, k.page, k.life, k.seq, k.request, k.deadline, u.seq
        FROM broken AS k
        JOIN _touch AS t ON k.page = t.page AND k.life = t.life AND t.first_seq < k.deadline
        JOIN _use AS u
            ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
            AND u.seq BETWEEN t.first_seq AND t.last_seq AND u.seq < k.deadline
        WHERE k.request IS NOT NULL OR k.until_seq IS NOT NULL
    ),
    in_flight AS (
        SELECT t.holder, t.page, t.life, t.seq, max(
            CASE
                WHEN l.state = 'finished'
                    THEN coalesce(
                        l.learnt_seq, greatest(t.act_seq, CASE WHEN t.request IS NULL THEN t.seq ELSE t.deadline END)
                    )
                WHEN l.seq IS NOT NULL THEN coalesce(l.learnt_seq, 1e18::UBIGINT)
                WHEN o.actor <> 'host' THEN coalesce(o.done_seq, 1e18::UBIGINT)
            END
        ) AS done_seq,
        min(o.seq) FILTER (o.actor <> 'host' AND o.done_seq IS NULL) AS open_seq
        FROM touched AS t LEFT JOIN launch AS l ON t.act_seq = l.seq LEFT JOIN _outside AS o ON t.act_seq = o.seq
        GROUP BY t.holder, t.page, t.life, t.seq
    ),
    leaked AS (
        SELECT k.seq, k.kind, k.holder, k.request, k.row, k.deadline, count(DISTINCT (k.page, k.life)) AS pages,
            min(c.open_seq) AS open_seq,
            arg_min({'page': k.page, 'life': k.life, 'from_seq': k.from_seq}, k.page) AS first_page
        FROM broken AS k
        ANTI JOIN taken_again AS t USING (holder, page, life, seq)
        LEFT JOIN in_flight AS c USING (holder, page, life, seq)
        WHERE c.done_seq IS NULL OR c.done_seq < k.deadline
            -- In the step that begins next it may give back; not in one after that.
            OR EXISTS (
                FROM steps AS s WHERE s.seq > c.done_seq AND s.next_seq < coalesce(k.until_seq, 1e18::UBIGINT)
            )
            -- A completion that does not come for so many steps may never come.
            OR c.open_seq IS NOT NULL AND k.until_seq IS NULL
                AND (SELECT count(*) FROM steps AS s WHERE s.seq > k.deadline) >= 4
        GROUP BY ALL
    ),
    first_broken AS (
        SELECT * FROM leaked QUALIFY row_number() OVER (PARTITION BY holder ORDER BY seq) = 1
    )
SELECT
    'TR204' AS code,
    'leaked-page' AS name,
    b.seq,
    'lifetime' AS class,
    CASE WHEN b.open_seq IS NOT NULL THEN 'suspected' ELSE _confidence(false, w.holes) END AS confidence,
    CASE b.kind
        WHEN 'finish' THEN 'request ' || b.request || ' finished'
        WHEN 'fail' THEN 'request ' || b.request || ' failed'
        WHEN 'preempt' THEN 'request ' || b.request || ' was preempted'
        WHEN 'copy_done' THEN replace(b.holder, ':', ' ') || ' was done'
        WHEN 'snapshot_release' THEN replace(b.holder, ':', ' ') || ' was released'
        ELSE replace(b.holder, ':', ' ') || ' was evicted'
    END
    || ' at event ' || b.seq || ' and still holds page ' || b.first_page.page || '.' || b.first_page.life
    || CASE WHEN b.pages > 1 THEN ' and ' || (b.pages - 1) || ' more' ELSE '' END
    || ' at event ' || b.deadline
    || coalesce(
        '; a writer without a stream was given it at event ' || b.open_seq || ', and no completion is known', ''
    ) AS sentence,
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
