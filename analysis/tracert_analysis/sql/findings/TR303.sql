-- A copied page is as complete as its plan, from a source that was stable until the copy executed.
WITH
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
    -- The copies that carry a plan out.
    copies AS (
        SELECT p.seq AS plan_seq, p.page, p.life, p.to_page, b.seq, b.launch, l.stream, l.ordinal,
            h.from_seq AS known_seq, greatest(b.first, p.to_first) AS first, least(b.end, p.to_end) AS "end"
        FROM plans AS p
        JOIN byte_write AS b
            ON b.class = 'copy' AND b.page = p.to_page AND b.life = p.to_life AND b.seq > p.seq
            AND coalesce(b.seq < p.done_seq, true) AND b.source_page = p.page AND b.source_life = p.life
            AND b.source_first + p.to_first = p.first + b.first AND b.first < p.to_end AND p.to_first < b.end
        JOIN _act AS l ON b.seq = l.seq
        -- Since when the host knows that the copy has executed.
        LEFT JOIN LATERAL (
            SELECT min(h.from_seq) AS from_seq FROM _host AS h
            WHERE h.from_seq > l.seq AND h.clock[l.stream + 1] >= l.ordinal
        ) AS h ON true
    ),
    carried AS (
        SELECT plan_seq, page, life, to_page, max(seq) AS seq, arg_max(stream, seq) AS stream, max(ordinal) AS ordinal,
            CASE WHEN count(*) = count(known_seq) THEN max(known_seq) END AS known_seq,
            sum("end" - first) AS positions
        FROM copies GROUP BY plan_seq, page, life, to_page
    ),
    broken AS (
        SELECT
            'released' AS reason, p.*, v.unheld_seq AS at_seq, c.seq AS copy_seq, c.positions, NULL AS write_seq,
            g.life AS next_life, g.owner AS next_owner
        FROM plans AS p
        LEFT JOIN carried AS c ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
        JOIN page_life AS v ON v.page = p.page AND v.life = p.life
        LEFT JOIN (SELECT fence, stream, max(ordinal) AS ordinal FROM fence GROUP BY fence, stream) AS f
            ON v.fence = f.fence
        LEFT JOIN page_life AS g ON g.page = p.page AND g.life = p.life + 1
        WHERE v.unheld_seq > p.seq
            AND coalesce(v.unheld_seq < CASE WHEN c.seq IS NULL THEN p.done_seq ELSE c.known_seq END, true)
            -- A page that waits behind a fence of the copy is as good as held.
            AND NOT coalesce(f.stream = c.stream AND f.ordinal >= c.ordinal, false)
        UNION ALL
        SELECT
            'written', p.*, b.seq, c.seq, c.positions, b.seq, NULL, NULL
        FROM plans AS p
        JOIN byte_write AS b
            ON b.page = p.page AND b.life = p.life AND b.seq > p.seq AND b.first < p.end AND p.first < b.end
        JOIN _act AS l ON b.seq = l.seq
        LEFT JOIN carried AS c ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
        WHERE CASE
            WHEN c.seq IS NULL THEN coalesce(b.seq < p.done_seq, true)
            WHEN b.seq < c.seq THEN true
            WHEN l.stream = c.stream THEN false
            ELSE l.clock[c.stream + 1] < c.ordinal
        END
        UNION ALL
        SELECT
            'partial', p.*, p.done_seq, c.seq, coalesce(c.positions, 0), NULL, NULL, NULL
        FROM plans AS p
        LEFT JOIN carried AS c ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
        WHERE p.done_seq IS NOT NULL AND coalesce(c.positions, 0) < p.to_end - p.to_first
    ),
    first_broken AS (
        SELECT * FROM broken
        QUALIFY row_number() OVER (PARTITION BY transaction, to_page, to_life ORDER BY at_seq, reason) = 1
    )
SELECT
    'TR303' AS code,
    'torn-copy' AS name,
    b.at_seq AS seq,
    'content' AS class,
    _confidence(b.write_seq IN (SELECT seq FROM _wrong), w.holes) AS confidence,
    CASE b.reason
        WHEN 'released' THEN 'nobody holds page ' || b.page || '.' || b.life || ' any more, while '
            || coalesce(_launch_named(c.launch, c.kernel, cn.name), 'a planned copy')
            || ' of transaction ' || b.transaction || ' may still copy it to page ' || b.to_page || '.' || b.to_life
            || ': the host has seen no fence behind the copy pass'
            || coalesce('; it is granted again as page ' || b.page || '.' || b.next_life || ' to ' || b.next_owner, '')
        WHEN 'written' THEN _launch_named(x.launch, x.kernel, xn.name) || ' writes page ' || b.page || '.' || b.life
            || ', and nothing orders it after '
            || coalesce(_launch_named(c.launch, c.kernel, cn.name), 'the copy')
            || ' of transaction ' || b.transaction || ', which copies it to page ' || b.to_page || '.' || b.to_life
        ELSE 'the copy of transaction ' || b.transaction || ' to page ' || b.to_page || '.' || b.to_life
            || ' is called done with ' || b.positions || ' of ' || (b.to_end - b.to_first) || ' positions copied'
    END AS sentence,
    'page' AS resource_kind,
    CASE b.reason WHEN 'partial' THEN b.to_page ELSE b.page END AS resource_id,
    CASE b.reason WHEN 'partial' THEN b.to_life ELSE b.life END AS life,
    NULL AS row,
    NULL AS generation,
    NULL AS request,
    CASE WHEN x.seq IS NULL THEN c.launch ELSE x.launch END AS launch,
    CASE WHEN x.seq IS NULL THEN c.stream ELSE x.on_stream END AS stream,
    CASE WHEN x.seq IS NOT NULL THEN c.launch END AS other_launch,
    CASE WHEN x.seq IS NOT NULL THEN c.stream END AS other_stream,
    b.seq AS other_seq
FROM first_broken AS b
LEFT JOIN _act AS c ON b.copy_seq = c.seq
LEFT JOIN _stream AS cn ON c.stream = cn.stream
LEFT JOIN _act AS x ON b.write_seq = x.seq
LEFT JOIN _stream AS xn ON x.stream = xn.stream
CROSS JOIN _window AS w
