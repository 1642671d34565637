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
    -- The lives of the source in which somebody may write before the copy has read: its own, and each later one whose
    -- first writer on some stream does not come behind the copy: where that one does, so do all later ones of the
    -- stream, and so does what the host launches once it knows that the copy has executed.
    lives AS (
        SELECT c.*, c.life AS writer_life, NULL AS unheld_seq FROM pieces AS c
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
        SELECT c.*, b.seq AS write_seq
        FROM lives AS c
        JOIN byte_write AS b
            ON b.page = c.page AND b.life = c.writer_life AND b.seq > coalesce(c.unheld_seq, c.plan_seq)
            AND b.first < c.end AND c.first < b.end
        JOIN _act AS l ON b.seq = l.seq
        WHERE b.seq < c.seq OR l.stream <> c.stream AND l.clock[c.stream + 1] < c.ordinal
    ),
    broken AS (
        SELECT
            CASE WHEN c.unheld_seq IS NULL THEN 'written' ELSE 'released' END AS reason, p.*,
            coalesce(c.unheld_seq, c.write_seq) AS at_seq, c.seq AS copy_seq, NULL AS positions,
            c.write_seq, c.writer_life
        FROM plans AS p
        JOIN torn AS c
            ON c.plan_seq = p.seq AND c.page = p.page AND c.life = p.life AND c.to_page = p.to_page
            AND c.to_life = p.to_life
        UNION ALL
        SELECT
            'partial', p.*, p.done_seq, max(c.seq), coalesce(sum(c.end - c.first), 0), NULL, NULL
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
            || ' of transaction ' || b.transaction || ' may still copy it to page ' || b.to_page || '.' || b.to_life
            || ': the host has seen no fence behind the copy pass; it is granted again as page ' || b.page || '.'
            || b.writer_life || coalesce(' to ' || g.owner, '') || ', and '
            || _launch_named(x.launch, x.kernel, xn.name) || ' writes it, which nothing orders after the copy'
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
