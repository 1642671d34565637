-- A page has one holder for writing, and a request writes only pages that it holds for writing.
WITH
    -- A transfer pins the pages that it moves bytes between, in the name of whoever holds them.
    writers AS (FROM holding WHERE mode = 'write' AND holder NOT LIKE 'transfer:%'),
    paired AS (
        SELECT y.page, y.life, y.from_seq AS seq, x.holder AS other, x.life AS other_life, x.from_seq AS other_seq,
            y.holder, 'writers' AS reason, least(x.until_seq, y.until_seq) AS until_seq
        FROM writers AS y
        JOIN writers AS x
            ON x.page = y.page AND x.life = y.life AND x.holder <> y.holder
            AND x.from_seq < y.from_seq AND coalesce(x.until_seq > y.from_seq, true)
        UNION ALL
        SELECT p.page, p.life, p.alloc_seq, x.holder, x.life, x.from_seq, p.owner, 'granted',
            -- A cache may let go of its page as it is granted. Whoever else holds it, the page was not to be granted.
            CASE WHEN x.holder LIKE 'prefix:%' THEN x.until_seq END
        FROM page_life AS p
        JOIN holding AS x
            ON x.page = p.page AND x.life < p.life AND x.from_seq < p.alloc_seq
            AND coalesce(x.until_seq > p.alloc_seq, true)
    ),
    -- When a page is handed over, the next holder may come before the last one goes, if nothing runs in between.
    shared AS (
        SELECT p.* EXCLUDE (until_seq)
        FROM paired AS p ASOF LEFT JOIN (FROM _act WHERE kind <> 'publish') AS a ON p.seq < a.seq
        WHERE p.until_seq IS NULL OR a.seq < p.until_seq
    ),
    -- Writes of requests through their rows, in spans during which they held the page for reading only.
    spans AS (
        SELECT t.*, n.request, h.from_seq, coalesce(h.until_seq, t.last_seq + 1) AS until_seq
        FROM _touch AS t
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        JOIN holding AS h
            ON h.page = t.page AND h.life = t.life AND h.holder = 'request:' || n.request AND h.mode = 'read'
            AND h.from_seq <= t.last_seq AND coalesce(h.until_seq > t.first_seq, true)
        WHERE t.mode = 'write'
    ),
    written AS (
        SELECT s.page, s.life, u.seq, s.request, s.row, s.generation
        FROM spans AS s
        JOIN _use AS u
            ON s.row = u.row AND s.generation = u.generation AND s.stream = u.stream
            AND u.seq BETWEEN greatest(s.first_seq, s.from_seq) AND s.last_seq AND u.seq < s.until_seq
        CROSS JOIN _window AS w
        WHERE u.end > u.start AND u.start < (s.index + 1) * w.page_size AND u.end > s.index * w.page_size
            AND NOT EXISTS (
                FROM holding AS h
                WHERE h.page = s.page AND h.life = s.life AND h.holder = 'request:' || s.request AND h.mode = 'write'
                    AND h.from_seq <= u.seq AND coalesce(h.until_seq > u.seq, true)
            )
    ),
    -- What comes without a row, into positions of a page that is cached then: whose positions they are, others rely on.
    brought AS (
        SELECT x.seq, x.launch, x.actor, x.page, x.life, x.first,
            least(x.end, coalesce(k.positions, w.page_size)) AS "end"
        FROM (
            FROM _extent
            WHERE mode = 'write' AND life > 0
                AND (source IN ('copy', 'load') OR source = 'extent' AND actor IS NOT NULL)
        ) AS x
        ASOF JOIN _kept AS k ON x.page = k.page AND x.life = k.life AND x.seq > k.seq
        CROSS JOIN _window AS w
        WHERE k.kind = 'insert' AND x.first < least(x.end, coalesce(k.positions, w.page_size))
    ),
    -- Of these the ones into pages that somebody reads and nobody holds for writing.
    intruding AS (
        SELECT x.seq, x.launch, x.actor, x.page, x.life, x.first, x.end,
            min(h.holder) FILTER (h.holder NOT LIKE 'prefix:%' AND h.holder NOT LIKE 'transfer:%') AS reader
        FROM brought AS x
        JOIN page_life AS p ON x.page = p.page AND x.life = p.life AND p.known_from < x.seq
        JOIN holding AS h
            ON x.page = h.page AND x.life = h.life AND h.from_seq < x.seq AND coalesce(h.until_seq > x.seq, true)
        GROUP BY ALL
        HAVING bool_and(coalesce(h.mode = 'read', false)) AND reader IS NOT NULL
    ),
    -- What was there. The same once more, such as layer by layer or tried again, harms nobody.
    covered AS (
        SELECT x.seq, x.launch, x.actor, x.page, x.life, x.first, x.end, x.reader, max(b.seq) AS over_seq,
            bool_or(b.actor IS NOT NULL) AS outside,
            arg_max([b.source_page, b.source_life, TRY(b.source_first - b.first), b.source_seq], b.seq) AS source,
            arg_max(b.class, b.seq) AS class
        FROM intruding AS x
        JOIN byte_write AS b
            ON x.page = b.page AND x.life = b.life AND b.seq < x.seq AND b.first < x.end AND b.end > x.first
            AND b.class <> 'zero'
        GROUP BY ALL
    ),
    overwritten AS (
        SELECT c.seq, c.launch, c.page, c.life, c.first, c.end, c.reader, c.over_seq
        FROM covered AS c
        LEFT JOIN _moved AS m ON c.seq = m.seq AND c.page = m.page AND c.life = m.life AND m.first < c.end
            AND m.end > c.first
        WHERE CASE
            WHEN c.actor IS NOT NULL THEN NOT c.outside
            WHEN m.source_page = m.page AND m.source_life = m.life THEN m.source_first <> m.first
            WHEN c.class IN ('copy', 'host') THEN c.source[1] IS DISTINCT FROM m.source_page
                OR c.source[2] IS DISTINCT FROM m.source_life
                OR c.source[3] IS DISTINCT FROM TRY(m.source_first - m.first)
                OR m.slot IS NOT NULL AND c.source[4] IS DISTINCT FROM m.source_seq
            ELSE true
        END
    ),
    all_broken AS (
        SELECT *, NULL AS row, NULL AS generation, NULL AS launch, NULL AS first, NULL AS "end" FROM shared
        UNION ALL
        SELECT page, life, seq, reader, life, over_seq, NULL, 'brought', NULL, NULL, launch, first, "end"
        FROM overwritten
        UNION ALL
        SELECT
            x.page, x.life, x.seq, o.holder, x.life, o.from_seq, 'request:' || x.request, 'written',
            x.row, x.generation, l.launch, NULL, NULL
        FROM written AS x
        JOIN launch AS l ON x.seq = l.seq
        LEFT JOIN holding AS o
            ON o.page = x.page AND o.life = x.life AND o.holder <> 'request:' || x.request
            AND o.from_seq <= x.seq AND coalesce(o.until_seq > x.seq, true)
        UNION ALL
        -- State rows are stored where nobody but snapshots holds the page.
        SELECT r.page, r.life, r.seq, r.mode, r.life, r.from_seq, r.holder, 'rows', NULL, NULL, l.launch, NULL, NULL
        FROM _row_store AS r JOIN launch AS l ON r.seq = l.seq
    ),
    broken AS (
        SELECT * FROM all_broken
        QUALIFY row_number() OVER (PARTITION BY page, life ORDER BY seq, other_seq NULLS LAST, other) = 1
    )
SELECT
    'TR205' AS code,
    'two-owners' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(false, w.holes) AS confidence,
    CASE b.reason
        WHEN 'granted' THEN 'page ' || b.page || '.' || b.life || ' is granted to '
            || coalesce(b.holder, 'an unknown holder') || ' while ' || b.other || ' holds page ' || b.page || '.'
            || b.other_life
        WHEN 'writers' THEN b.holder || ' holds page ' || b.page || '.' || b.life || ' for writing, and so does '
            || b.other
        WHEN 'rows' THEN _launch_named(l.launch, l.kernel, n.name) || ' stores state rows'
            || coalesce(' of snapshot ' || s.snapshot, '') || ' in page ' || b.page || '.' || b.life || ', which '
            || b.holder || CASE b.other WHEN 'write' THEN ' holds for writing' ELSE ' holds' END
            || coalesce(
                ', over keys and values that ' || _launch_named(k.launch, k.kernel, kn.name) || ' put there', ''
            )
        WHEN 'brought' THEN _launch_named(l.launch, l.kernel, n.name) || ' writes ' || _positions(b.first, b.end)
            || ' of page ' || b.page || '.' || b.life
            || ', which is cached and which nobody holds for writing, over what '
            || _launch_named(k.launch, k.kernel, kn.name) || ' put there; ' || b.other || ' holds it for reading'
        ELSE _launch_named(l.launch, l.kernel, n.name) || ' writes page ' || b.page || '.' || b.life || ' for '
            || b.holder || ', which holds it for reading only' || coalesce('; ' || b.other || ' holds it, too', '')
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    b.row,
    b.generation,
    CASE WHEN b.holder LIKE 'request:%' THEN TRY_CAST(split_part(b.holder, ':', 2) AS UBIGINT) END AS request,
    b.launch,
    l.on_stream AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    coalesce(o.over_seq, b.other_seq) AS other_seq
FROM broken AS b
LEFT JOIN _act AS l ON b.seq = l.seq
LEFT JOIN _stream AS n ON l.stream = n.stream
LEFT JOIN _row_store AS s ON b.reason = 'rows' AND b.page = s.page AND b.life = s.life AND b.seq = s.seq
LEFT JOIN _row_store_over AS o ON s.page = o.page AND s.life = o.life AND s.seq = o.seq
LEFT JOIN _act AS k ON CASE WHEN b.reason = 'brought' THEN b.other_seq ELSE o.over_seq END = k.seq
LEFT JOIN _stream AS kn ON k.stream = kn.stream
CROSS JOIN _window AS w
