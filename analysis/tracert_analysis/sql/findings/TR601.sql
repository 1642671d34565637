-- Positions of rejected drafts are not read as accepted.
WITH
    verified AS (
        SELECT v.seq, v.row, n.generation, v.request, v.drafts, v.accepted, v.frontier, n.until_seq
        FROM _told_rest AS v
        JOIN _tenancy AS n
            ON v.row = n.row AND v.request = n.request AND n.from_seq < v.seq AND coalesce(n.until_seq > v.seq, true)
        WHERE v.kind = 'verify' AND v.frontier IS NOT NULL
    ),
    used AS (
        SELECT u.seq, u.launch, u.row, u.generation, u.request, u.start, u.end FROM _use AS u
        SEMI JOIN verified AS v ON u.request = v.request
        WHERE u.end > u.start
    ),
    -- Where what was accepted ends: at the frontier, and no further than the row's last launch allows, if it is this
    -- that was judged: it computed one token and just these drafts, the frontier is in it, and nobody judged it before.
    bounded AS (
        SELECT v.*, CASE
            WHEN u.end - u.start = 1 + v.drafts AND v.frontier > u.start AND v.frontier <= u.end
                AND coalesce(p.seq < u.seq, true) THEN least(v.frontier, u.start + 1 + v.accepted)
            ELSE v.frontier
        END AS bound
        FROM verified AS v
        ASOF LEFT JOIN used AS u ON v.row = u.row AND v.generation = u.generation AND v.seq > u.seq
        ASOF LEFT JOIN (SELECT seq, request FROM verified) AS p ON v.request = p.request AND v.seq > p.seq
    ),
    -- How far launches had written when the drafts were judged: behind what was accepted lie the rejected ones.
    judged AS (
        SELECT v.*, max(u.end) AS written, max_by(u.seq, u.seq) FILTER (u.end > v.bound) AS written_seq
        FROM bounded AS v JOIN used AS u ON v.row = u.row AND v.generation = u.generation AND u.seq < v.seq
        GROUP BY ALL HAVING max(u.end) > v.bound
    ),
    -- The pages that a cache is given, in the rows that name them: a page that was moved to another entry stands where
    -- the host maps it, or where it was published last, and what names it elsewhere is left over.
    standing AS (
        SELECT i.seq, i.filled, c.row, c.generation, c.index
        FROM (
            SELECT e.seq, unnest(e.pages)[1] AS page, unnest(e.pages)[2] AS life,
                coalesce(e.positions, w.page_size) AS filled
            FROM _told_rest AS e, _window AS w WHERE e.kind = 'insert' AND len(e.pages) > 0
        ) AS i
        JOIN row_content AS c
            ON i.page = c.page AND i.life = c.life AND c.seq < i.seq AND coalesce(c.until_seq > i.seq, true)
        LEFT JOIN _mapped AS m
            ON c.row = m.row AND c.generation = m.generation AND c.index = m.index AND c.page = m.page
            AND c.life = m.life AND m.from_seq < i.seq AND coalesce(m.until_seq > i.seq, true)
        QUALIFY rank() OVER (
            PARTITION BY i.seq, i.page, i.life, c.row, c.generation ORDER BY m.row IS NULL, c.seq DESC
        ) = 1
    ),
    -- Up to where somebody takes positions for accepted: a launch that reads them as context, the host that commits
    -- them, saves them or offers them to others.
    taken AS (
        SELECT 'read' AS act, u.seq, u.row, u.generation, u.request, u.start AS until, u.launch FROM used AS u
        UNION ALL
        SELECT 'commit', e.seq, e.row, n.generation, e.request, e.frontier, NULL
        FROM _told_step AS e JOIN _tenancy AS n
            ON e.row = n.row AND e.request = n.request AND n.from_seq < e.seq AND coalesce(n.until_seq > e.seq, true)
        WHERE e.kind = 'transaction' AND e.op = 'commit' AND e.frontier IS NOT NULL
        UNION ALL
        SELECT 'cache', c.seq, c.row, c.generation, n.request,
            max(c.index) * any_value(w.page_size) + any_value(c.filled), NULL
        FROM standing AS c
        JOIN _tenancy AS n ON c.row = n.row AND c.generation = n.generation
        CROSS JOIN _window AS w
        GROUP BY c.seq, c.row, c.generation, n.request
    ),
    -- What was computed since the drafts were judged lies over theirs, as far as it goes on from the frontier.
    asked AS (
        SELECT t.act, t.seq, t.until, t.launch, t.row, t.generation, j.request, j.drafts, j.accepted,
            j.row AS from_row, j.generation AS from_generation, j.seq AS verify_seq, j.written, j.written_seq,
            j.frontier, j.bound,
            -- A host may count the token that is not computed yet among those that it commits.
            greatest(CASE t.act WHEN 'commit' THEN j.frontier ELSE j.bound END, coalesce((
                SELECT max(u.end) FROM used AS u WHERE u.request = j.request AND u.seq > j.seq AND u.seq < t.seq
            ), 0)) AS front
        FROM taken AS t ASOF JOIN judged AS j ON t.request = j.request AND t.seq > j.seq
        -- A later verdict counts even where it rejects nothing.
        WHERE NOT EXISTS (
            FROM verified AS v WHERE v.request = j.request AND v.seq > j.seq AND v.seq < t.seq
        )
    ),
    -- A request that has another row by now has the drafts only where it has their page.
    kept AS (
        SELECT a.* FROM asked AS a WHERE a.row = a.from_row AND a.generation = a.from_generation
        UNION ALL
        SELECT DISTINCT a.*
        FROM asked AS a
        CROSS JOIN _window AS w
        JOIN row_content AS c
            ON a.row = c.row AND a.generation = c.generation AND c.index = a.front // w.page_size
            AND c.seq < a.seq AND coalesce(c.until_seq > a.seq, true)
        JOIN row_content AS f
            ON a.from_row = f.row AND a.from_generation = f.generation AND c.index = f.index
            AND c.page = f.page AND c.life = f.life
            AND f.seq < a.verify_seq AND coalesce(f.until_seq > a.verify_seq, true)
        WHERE a.row <> a.from_row OR a.generation <> a.from_generation
    ),
    broken AS (
        SELECT k.*, least(k.until, k.written) AS "end" FROM kept AS k
        WHERE k.until > k.front AND k.written > k.front
            -- A kernel that mends what was rejected writes through no row, and so does a copy.
            AND NOT EXISTS (
                FROM _window AS w
                JOIN row_content AS c
                    ON c.row = k.row AND c.generation = k.generation AND c.seq < k.seq
                    AND coalesce(c.until_seq > k.verify_seq, true)
                    AND c.index = k.front // w.page_size
                JOIN _extent AS x
                    ON x.page = c.page AND x.life = c.life AND x.mode = 'write' AND x.source <> 'clear'
                    AND x.seq > k.verify_seq AND x.seq < k.seq AND x.first <= k.front % w.page_size
                    AND x.end >= least(least(k.until, k.written) - c.index * w.page_size, w.page_size)
            )
        QUALIFY row_number() OVER (PARTITION BY row, generation ORDER BY seq, act) = 1
    )
SELECT
    'TR601' AS code,
    'ghost-position' AS name,
    b.seq,
    'content' AS class,
    _confidence(b.seq IN (SELECT seq FROM _wrong), w.holes) AS confidence,
    CASE b.act
        WHEN 'read' THEN _launch_named(l.launch, l.kernel, n.name) || ' reads '
        WHEN 'commit' THEN 'the host commits '
        ELSE 'the prefix cache is given '
    END
    || _positions(b.front, b.end)
    || ' of row ' || b.row || ' for request ' || b.request || ' as accepted: '
    || coalesce(_launch_named(x.launch, x.kernel, xn.name), 'an earlier launch') || ' stored drafts there, of which '
    || coalesce(b.accepted::VARCHAR, 'too few') || ' of ' || coalesce(b.drafts::VARCHAR, 'all')
    || ' were accepted at event ' || b.verify_seq
    || CASE
        WHEN b.frontier > b.bound
            THEN ', which moved the frontier to position ' || b.frontier || ' instead of ' || b.bound
        ELSE ''
    END
    || ', and nothing was stored over the others' AS sentence,
    CASE WHEN c.page IS NULL THEN 'row' ELSE 'page' END AS resource_kind,
    coalesce(c.page, b.row) AS resource_id,
    c.life,
    b.row,
    b.generation,
    b.request,
    l.launch,
    l.stream,
    x.launch AS other_launch,
    x.stream AS other_stream,
    b.verify_seq AS other_seq
FROM broken AS b
CROSS JOIN _window AS w
LEFT JOIN launch AS l ON b.seq = l.seq
LEFT JOIN _stream AS n ON l.stream = n.stream
LEFT JOIN launch AS x ON b.written_seq = x.seq
LEFT JOIN _stream AS xn ON x.stream = xn.stream
LEFT JOIN row_content AS c
    ON b.row = c.row AND b.generation = c.generation AND c.index = b.front // w.page_size
    AND c.seq < b.seq AND coalesce(c.until_seq > b.seq, true)
