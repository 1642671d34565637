-- A copied page is as complete as its plan, from a source that was stable until the copy executed.
WITH RECURSIVE
    planned AS (
        SELECT e.seq, e.transaction, unnest(e.source) AS s, unnest(e.target) AS t
        FROM _told_rest AS e, _window AS w
        WHERE e.kind = 'copy_plan' AND e.transaction IS NOT NULL AND e.seq >= w.known_from
    ),
    plans AS (
        SELECT p.seq, p.transaction, p.s[1] AS page, p.s[2] AS life, p.s[3] AS first, p.s[4] AS "end",
            p.t[1] AS to_page, p.t[2] AS to_life, p.t[3] AS to_first, p.t[4] AS to_end, d.seq AS done_seq
        FROM (FROM planned WHERE len(s) = 4 AND len(t) = 4) AS p
        ASOF LEFT JOIN (SELECT seq, transaction FROM _told_rest WHERE kind = 'copy_done') AS d
            ON p.transaction = d.transaction AND p.seq < d.seq
    ),
    -- `read_seq` read at `source_page` what `seq` put here: that is the same act, but for a page of the host tier.
    brought AS (
        SELECT seq, page, life, first, "end", source_page, source_life, source_first, source_seq AS read_seq
        FROM byte_write WHERE class IN ('copy', 'host')
        UNION ALL
        -- A kernel of its own may copy, too.
        SELECT x.seq, x.page, x.life, x.first::BIGINT, x.end::BIGINT, y.page, y.life, y.first::BIGINT, x.seq
        FROM _extent AS x JOIN _extent AS y ON x.seq = y.seq AND x.end - x.first = y.end - y.first
        WHERE x.source = 'extent' AND y.source = 'extent' AND x.mode = 'write' AND y.mode = 'read'
    ),
    -- Back from the target, copy by copy, to where its bytes come from: `first` up to `end` are positions of the page
    -- `at_page`, and `shift` behind those of the target that they are for. A copy may go by way of other pages.
    way AS (
        SELECT seq AS plan_seq, page, life, to_page, to_life, to_page AS at_page, to_life AS at_life,
            to_first AS first, to_end AS "end", 0::BIGINT AS shift, done_seq AS before_seq, 0 AS hops
        FROM plans
        UNION ALL
        SELECT w.plan_seq, w.page, w.life, w.to_page, w.to_life, b.source_page, b.source_life,
            greatest(w.first, b.first) - b.first + b.source_first, least(w.end, b.end) - b.first + b.source_first,
            w.shift + b.source_first - b.first, b.read_seq, w.hops + 1
        FROM way AS w
        JOIN brought AS b
            ON b.page = w.at_page AND b.life = w.at_life AND b.seq > w.plan_seq AND coalesce(b.seq < w.before_seq, true)
            AND b.first < w.end AND w.first < b.end
        WHERE w.hops < 4 AND (w.hops = 0 OR w.at_page <> w.page OR w.at_life <> w.life)
    ),
    -- The acts that read what the plan names, piece by piece: `first` up to `end` are positions of the source.
    pieces AS (
        SELECT p.seq AS plan_seq, p.page, p.life, p.to_page, p.to_life, w.before_seq AS seq,
            coalesce(l.stream, o.stream) AS stream, coalesce(l.ordinal, o.ordinal) AS ordinal,
            coalesce(l.learnt_seq, o.done_seq) AS learnt_seq, coalesce(l.clock, a.clock) AS clock, w.first, w.end
        FROM plans AS p
        JOIN way AS w
            ON w.plan_seq = p.seq AND w.page = p.page AND w.life = p.life AND w.to_page = p.to_page
            AND w.to_life = p.to_life AND w.at_page = p.page AND w.at_life = p.life AND w.hops > 0
            AND w.shift = p.first - p.to_first
        LEFT JOIN launch AS l ON w.before_seq = l.seq
        LEFT JOIN _outside AS o ON w.before_seq = o.seq
        LEFT JOIN _outside_act AS a ON w.before_seq = a.seq
        WHERE l.seq IS NOT NULL OR o.seq IS NOT NULL
    ),
    -- Plans that were called done, and of which no one act copied all.
    lacking AS (
        SELECT p.* FROM plans AS p
        WHERE p.done_seq IS NOT NULL AND NOT EXISTS (
            FROM pieces AS c
            WHERE c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
                AND c.to_life = p.to_life AND c.first <= p.first AND c.end >= p.end
        )
    ),
    -- Positions of their targets that were brought. What was written there otherwise, or to a page on the way, or came
    -- from a slot that was filled before the history, may be what was planned: whose bytes it is, nobody tells.
    arrived AS (
        SELECT c.plan_seq, c.page, c.life, c.to_page, c.to_life, c.seq AS copy_seq,
            unnest(range(c.first, c.end)) - p.first + p.to_first AS position
        FROM lacking AS p
        JOIN pieces AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        UNION ALL
        SELECT w.plan_seq, w.page, w.life, w.to_page, w.to_life, NULL,
            unnest(range(greatest(w.first, b.first), least(w.end, b.end))) - w.shift
        FROM lacking AS p
        JOIN way AS w
            ON w.plan_seq = p.seq AND w.page = p.page AND w.life = p.life AND w.to_page = p.to_page
            AND w.to_life = p.to_life AND (w.hops = 0 OR w.at_page <> w.page OR w.at_life <> w.life)
        JOIN byte_write AS b
            ON b.page = w.at_page AND b.life = w.at_life AND b.seq > p.seq AND coalesce(b.seq < w.before_seq, true)
            AND b.first < w.end AND w.first < b.end
        WHERE b.class IN ('kv', 'rows') OR b.class = 'host' AND b.source_seq IS NULL
    ),
    -- The lives of the source in which somebody may write before the copy has read: its own, and each later one whose
    -- first writer on some stream does not come behind the copy: where that one does, so do all later ones of the
    -- stream, and so does what the host launches once it knows that the copy has executed.
    lives AS (
        SELECT c.*, c.life AS writer_life, NULL::UBIGINT AS unheld_seq FROM pieces AS c
        UNION
        SELECT c.*, s.life, v.unheld_seq
        FROM pieces AS c
        JOIN page_life AS v ON v.page = c.page AND v.life = c.life AND v.unheld_seq > c.plan_seq
        JOIN _span AS s
            ON s.page = c.page AND s.life > c.life AND s.mode = 'write' AND coalesce(s.first_seq < c.learnt_seq, true)
        JOIN _act AS l ON s.first_seq = l.seq
        WHERE s.first_seq < c.seq OR l.stream <> c.stream AND l.clock[c.stream + 1] < c.ordinal
    ),
    -- Who does write what is still to be copied. To let go of it is no harm by itself: engines that grant a page again
    -- only where that is in order, by the streams or by what they have learnt, let go at once. So a release is told
    -- where somebody gets the page out of order, and by nothing else that comes after it.
    torn AS (
        SELECT c.*, b.seq AS write_seq,
            b.seq < c.seq AND (l.stream = c.stream OR l.ordinal <= c.clock[l.stream + 1]) AS "before"
        FROM lives AS c
        JOIN byte_write AS b
            ON b.page = c.page AND b.life = c.writer_life AND b.seq > coalesce(c.unheld_seq, c.plan_seq)
            AND b.first < c.end AND c.first < b.end
        JOIN _act AS l ON b.seq = l.seq
        WHERE (b.seq < c.seq OR l.stream <> c.stream AND l.clock[c.stream + 1] < c.ordinal) AND (
            -- What comes in order before the copy, and in the source's own life, is to be copied: a copy may be planned
            -- with the step that computes what it copies. But for what stands there already as it is planned.
            c.unheld_seq IS NOT NULL OR NOT "before" OR EXISTS (
                FROM byte_write AS o
                WHERE o.page = c.page AND o.life = c.life AND o.seq < c.plan_seq AND o.class <> 'zero'
                    AND o.first < least(b.end, c.end) AND greatest(b.first, c.first) < o.end
            )
        )
    ),
    broken AS (
        SELECT
            CASE WHEN c.unheld_seq IS NULL THEN 'written' ELSE 'released' END AS reason, p.*,
            coalesce(c.unheld_seq, c.write_seq) AS at_seq, c.seq AS copy_seq, NULL::BIGINT AS positions,
            c.write_seq, c.writer_life, c.before
        FROM plans AS p
        JOIN torn AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        UNION ALL
        SELECT 'partial', p.*, p.done_seq, max(c.copy_seq), count(DISTINCT c.position), NULL::UBIGINT, NULL::BIGINT,
            NULL::BOOLEAN
        FROM lacking AS p
        LEFT JOIN arrived AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        GROUP BY ALL HAVING count(DISTINCT c.position) < p.to_end - p.to_first
    ),
    first_broken AS (
        SELECT * FROM broken
        QUALIFY row_number() OVER (
            PARTITION BY transaction, to_page, to_life ORDER BY at_seq, reason, copy_seq DESC, write_seq
        ) = 1
    )
SELECT
    'TR303' AS code,
    'torn-copy' AS name,
    b.at_seq AS seq,
    'content' AS class,
    _confidence(b.reason = 'written' AND _seen_wrong(b.write_seq, NULL, NULL), w.holes) AS confidence,
    CASE b.reason
        WHEN 'released' THEN 'nobody holds page ' || b.page || '.' || b.life || ' any more, while '
            || coalesce(_launch_named(c.launch, c.kernel, cn.name), 'a planned copy')
            || ' of transaction ' || b.transaction || CASE WHEN b.before THEN ' is still to' ELSE ' may still' END
            || ' copy it to page ' || b.to_page || '.' || b.to_life
            || CASE WHEN b.before THEN '' ELSE ': the host has seen no fence behind the copy pass' END
            || '; it is granted again as page ' || b.page || '.' || b.writer_life || coalesce(' to ' || g.owner, '')
            || ', and ' || _launch_named(x.launch, x.kernel, xn.name) || ' writes it'
            || CASE WHEN b.before THEN ' before the copy' ELSE ', which nothing orders after the copy' END
        WHEN 'written' THEN _launch_named(x.launch, x.kernel, xn.name) || ' writes page ' || b.page || '.' || b.life
            || CASE
                WHEN b.before THEN ' over what transaction ' || b.transaction || ' had planned to copy to page '
                    || b.to_page || '.' || b.to_life || ', before '
                    || coalesce(_launch_named(c.launch, c.kernel, cn.name), 'the copy') || ' copies it'
                ELSE ', and nothing orders it after '
                    || coalesce(_launch_named(c.launch, c.kernel, cn.name), 'the copy')
                    || ' of transaction ' || b.transaction || ', which copies it to page ' || b.to_page || '.'
                    || b.to_life
            END
        ELSE 'the copy of transaction ' || b.transaction || ' to page ' || b.to_page || '.' || b.to_life
            || ' is called done with ' || b.positions || ' of ' || (b.to_end - b.to_first) || ' positions copied'
    END AS sentence,
    'page' AS resource_kind,
    CASE b.reason WHEN 'partial' THEN b.to_page ELSE b.page END AS resource_id,
    CASE b.reason WHEN 'partial' THEN b.to_life ELSE b.life END AS life,
    NULL AS row,
    NULL AS generation,
    NULL AS request,
    CASE b.reason WHEN 'written' THEN x.launch ELSE c.launch END AS launch,
    CASE b.reason WHEN 'written' THEN x.on_stream ELSE c.stream END AS stream,
    CASE b.reason WHEN 'written' THEN c.launch END AS other_launch,
    CASE b.reason WHEN 'written' THEN c.stream END AS other_stream,
    b.seq AS other_seq
FROM first_broken AS b
LEFT JOIN _act AS c ON b.copy_seq = c.seq
LEFT JOIN _stream AS cn ON c.stream = cn.stream
LEFT JOIN _act AS x ON b.write_seq = x.seq
LEFT JOIN _stream AS xn ON x.stream = xn.stream
LEFT JOIN page_life AS g ON b.page = g.page AND b.writer_life = g.life
CROSS JOIN _window AS w
