-- Bytes that a kernel covers were written, cleared or copied from clean bytes in this life of their page.
WITH
    saved AS (
        SELECT launch, any_value(snapshot) AS snapshot FROM _told_rest
        WHERE kind = 'snapshot_save' AND launch IS NOT NULL GROUP BY launch
    ),
    owned AS (
        SELECT m.page, m.life, m.origin_seq, min(n.request) AS request
        FROM _met AS m
        JOIN _touch AS t
            ON t.page = m.origin_page AND t.life = m.origin_life AND t.mode = 'write'
            AND m.origin_seq BETWEEN t.first_seq AND t.last_seq
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        WHERE m.kind IN ('stale', 'mixed') GROUP BY m.page, m.life, m.origin_seq
    )
SELECT
    'TR301' AS code,
    'stale-bytes' AS name,
    m.seq,
    'content' AS class,
    _confidence(m.observed, w.holes OR (SELECT blind FROM _tells)) AS confidence,
    m.reader || ' loads ' || m.place
    || CASE
        WHEN m.before_seq IS NOT NULL
            THEN ', valid and computed by no launch of the history: ' || m.before || ' had computed up to '
                || 'position ' || (m.skip_first - 1) || ' of the sequence, this launch computes from position '
                || m.start || ' on; there '
        WHEN m.meant THEN ', which it takes for valid; there '
        ELSE ', where '
    END
    || CASE m.origin_class WHEN 'rows' THEN 'state rows' ELSE 'keys and values' END
    || coalesce(
        CASE m.origin_class WHEN 'rows' THEN ' of snapshot ' || s.snapshot ELSE ' of request ' || o.request END, ''
    )
    -- What is stored through a row that still names a life that has ended was not there before.
    || CASE WHEN m.kind = 'mixed' OR x.seq > p.unheld_seq THEN ' are, stored by ' ELSE ' still are, stored by ' END
    || CASE WHEN m.origins > 1 THEN m.origins || ' launches, last by ' ELSE '' END
    || _launch_named(x.launch, x.kernel, n.name)
    || CASE
        WHEN m.kind = 'mixed' AND m.origin_page = m.page AND m.origin_life = m.life THEN ' in this life'
        WHEN m.origin_page = m.page AND x.seq > p.unheld_seq THEN ' as in life ' || m.origin_life
        WHEN m.origin_page = m.page THEN ' in life ' || m.origin_life
        ELSE ' in page ' || m.origin_page || '.' || m.origin_life END
    || coalesce(' and brought here by ' || _launch_named(v.launch, v.kernel, vn.name), '')
    || CASE
        WHEN m.kind = 'mixed' THEN CASE m.origin_class
            WHEN 'rows' THEN ': it takes them for keys and values' ELSE ': it takes them for state rows' END
        WHEN x.seq > p.unheld_seq
            THEN '; that life had ended before, at event ' || p.unheld_seq
        WHEN f.passed_seq < p.unheld_seq
            THEN '; fence ' || f.fence || ' of that life passed at event ' || f.passed_seq
                || ', the life ended at event ' || p.unheld_seq
        ELSE coalesce('; that life ended at event ' || p.unheld_seq, '')
            || coalesce(', its fence ' || f.fence || ' passed at event ' || f.passed_seq, '')
    END
    || CASE
        WHEN r.told IS NOT NULL THEN '; ' || r.told
        WHEN m.kind = 'stale' AND m.via_seq IS NULL AND m.before_seq IS NULL AND coalesce(x.seq < p.unheld_seq, true)
            THEN ', and no clear stands between'
        ELSE ''
    END
    AS sentence,
    'page' AS resource_kind,
    m.page AS resource_id,
    m.life,
    m.row,
    m.generation,
    m.request,
    m.launch,
    m.stream,
    x.launch AS other_launch,
    x.on_stream AS other_stream,
    m.origin_seq AS other_seq
FROM _met AS m
JOIN _act AS x ON m.origin_seq = x.seq
JOIN _stream AS n ON x.stream = n.stream
LEFT JOIN _act AS v ON m.via_seq = v.seq
LEFT JOIN _stream AS vn ON v.stream = vn.stream
LEFT JOIN saved AS s ON x.launch = s.launch
LEFT JOIN owned AS o ON m.page = o.page AND m.life = o.life AND m.origin_seq = o.origin_seq
LEFT JOIN page_life AS p ON m.origin_page = p.page AND m.origin_life = p.life
LEFT JOIN _retired AS f ON p.page = f.page AND p.life = f.life
LEFT JOIN _spared AS r
    ON m.kind = r.kind AND m.page = r.page AND m.life = r.life AND m.seq = r.seq AND m.first = r.first
CROSS JOIN _window AS w
WHERE m.kind IN ('stale', 'mixed')
