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
    brought AS (
        SELECT seq, page, life, first, "end", source_page, source_life, source_first FROM byte_write
        WHERE class = 'copy'
        UNION ALL
        -- A kernel of its own may copy, too.
        SELECT x.seq, x.page, x.life, x.first::BIGINT, x.end::BIGINT, y.page, y.life, y.first::BIGINT
        FROM _extent AS x JOIN _extent AS y ON x.seq = y.seq AND x.end - x.first = y.end - y.first
        WHERE x.source = 'extent' AND y.source = 'extent' AND x.mode = 'write' AND y.mode = 'read'
    ),
    -- The copies that carry a plan out, piece by piece: `first` up to `end` are positions of the source.
    pieces AS (
        SELECT p.seq AS plan_seq, p.page, p.life, p.to_page, p.to_life, b.seq,
            coalesce(l.stream, o.stream) AS stream, coalesce(l.ordinal, o.ordinal) AS ordinal,
            coalesce(l.learnt_seq, o.done_seq) AS learnt_seq,
            greatest(b.first, p.to_first) - p.to_first + p.first AS first,
            least(b.end, p.to_end) - p.to_first + p.first AS "end"
        FROM plans AS p
        JOIN brought AS b
            ON b.page = p.to_page AND b.life = p.to_life AND b.seq > p.seq AND coalesce(b.seq < p.done_seq, true)
            AND b.source_page = p.page AND b.source_life = p.life
            AND b.source_first + p.to_first = p.first + b.first AND b.first < p.to_end AND p.to_first < b.end
        LEFT JOIN launch AS l ON b.seq = l.seq
        LEFT JOIN _outside AS o ON b.seq = o.seq
        WHERE l.seq IS NOT NULL OR o.seq IS NOT NULL
    ),
    -- Pieces whose source was let go before the host knew that they had executed.
    early AS (
        SELECT c.*, v.unheld_seq
        FROM pieces AS c JOIN page_life AS v ON v.page = c.page AND v.life = c.life
        WHERE v.unheld_seq > c.plan_seq AND coalesce(v.unheld_seq < c.learnt_seq, true)
    ),
    -- Since when a stream comes behind such a piece, by itself or because it waited, by what else waited, too. That the
    -- host came to know of it in time would be luck.
    waited AS (
        SELECT c.seq, c.ordinal, f.wait_stream AS stream, min(f.wait_seq) AS from_seq
        FROM early AS c JOIN fence AS f ON f.stream = c.stream AND f.ordinal >= c.ordinal AND f.wait_seq > c.seq
        GROUP BY ALL
    ),
    behind AS (
        SELECT seq, stream, min(from_seq) AS from_seq FROM (
            SELECT seq, stream, seq AS from_seq FROM early
            UNION ALL
            SELECT seq, stream, from_seq FROM waited
            UNION ALL
            SELECT b.seq, f.wait_stream, f.wait_seq
            FROM waited AS b JOIN fence AS f ON f.stream = b.stream AND f.record_seq > b.from_seq
            WHERE f.wait_seq IS NOT NULL
            UNION ALL
            SELECT c.seq, g.stream, g.from_seq
            FROM early AS c
            JOIN _segment AS g
                ON g.from_seq > c.seq AND coalesce(g.from_seq < c.learnt_seq, true)
                AND g.clock[c.stream + 1] >= c.ordinal
        ) GROUP BY seq, stream
    ),
    -- The streams that have to: those that use the page in its later lives; where none does, those that used the source
    -- or the target, for they may be next.
    later AS (
        SELECT c.page, c.life, s.stream, min(s.first_seq) AS first_seq
        FROM (SELECT DISTINCT page, life FROM early) AS c JOIN _span AS s ON s.page = c.page AND s.life > c.life
        GROUP BY ALL
    ),
    users AS (
        SELECT c.seq, c.page, c.life, c.to_page, c.to_life, n.stream, n.first_seq
        FROM early AS c JOIN later AS n USING (page, life)
        UNION ALL
        SELECT c.seq, c.page, c.life, c.to_page, c.to_life, s.stream, NULL
        FROM (FROM early ANTI JOIN later USING (page, life)) AS c
        JOIN _span AS s ON s.page = c.page AND s.life = c.life OR s.page = c.to_page AND s.life = c.to_life
    ),
    loose AS (
        SELECT c.*
        FROM early AS c
        SEMI JOIN (
            SELECT u.* FROM users AS u LEFT JOIN behind AS b USING (seq, stream)
            WHERE b.seq IS NULL OR b.from_seq > u.first_seq
        ) AS u USING (seq, page, life, to_page, to_life)
        -- A page that waits behind a fence of the copy is as good as held, and so behind one of a stream that waited.
        ANTI JOIN (
            SELECT b.seq, f.page, f.life
            FROM _retired AS f JOIN behind AS b ON f.stream = b.stream AND f.record_seq > b.from_seq
        ) AS f USING (seq, page, life)
    ),
    broken AS (
        SELECT
            'released' AS reason, p.*, c.unheld_seq AS at_seq, c.seq AS copy_seq, NULL AS positions,
            NULL AS write_seq, g.life AS next_life, g.owner AS next_owner
        FROM plans AS p
        JOIN loose AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        LEFT JOIN page_life AS g ON g.page = p.page AND g.life = p.life + 1
        UNION ALL
        SELECT
            'written', p.*, b.seq, c.seq, NULL, b.seq, NULL, NULL
        FROM plans AS p
        JOIN pieces AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        JOIN byte_write AS b
            ON b.page = c.page AND b.life = c.life AND b.seq > p.seq AND b.first < c.end AND c.first < b.end
        JOIN _act AS l ON b.seq = l.seq
        WHERE b.seq < c.seq OR l.stream <> c.stream AND l.clock[c.stream + 1] < c.ordinal
        UNION ALL
        SELECT
            'partial', p.*, p.done_seq, max(c.seq), coalesce(sum(c.end - c.first), 0), NULL, NULL, NULL
        FROM plans AS p
        LEFT JOIN pieces AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        WHERE p.done_seq IS NOT NULL
        GROUP BY ALL HAVING coalesce(sum(c.end - c.first), 0) < p.to_end - p.to_first
    ),
    first_broken AS (
        SELECT * FROM broken
        QUALIFY row_number() OVER (
            PARTITION BY transaction, to_page, to_life ORDER BY at_seq, reason, copy_seq DESC
        ) = 1
    )
SELECT
    'TR303' AS code,
    'torn-copy' AS name,
    b.at_seq AS seq,
    'content' AS class,
    _confidence(_seen_wrong(b.write_seq, NULL, NULL), w.holes) AS confidence,
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
