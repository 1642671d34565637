-- Bytes that a kernel covers were written or cleared at all.
SELECT
    'TR302' AS code,
    'uninitialised-read' AS name,
    m.seq,
    'content' AS class,
    _confidence(m.observed, w.holes OR (SELECT blind FROM _tells)) AS confidence,
    m.reader || ' loads ' || m.place
    || CASE
        WHEN m.before_seq IS NOT NULL OR m.kind IN ('blank', 'untold')
            -- Where zeros are copied, something computed may have been there before: in an earlier life.
            THEN CASE WHEN m.kind = 'blank' AND m.via_seq IS NOT NULL
                THEN ', valid, but no launch of the history computed what is there: '
                ELSE ', valid and computed by no launch of the history: ' END || coalesce(
                m.before || ' had computed up to position ' || (m.skip_first - 1) || ' of the sequence, this launch',
                'the first of its row here'
            ) || ' computes from position ' || m.start || ' on; '
                || coalesce(
                    _launch_named(v.launch, v.kernel, n.name) || ' brought them'
                    || coalesce(' from page ' || c.source_page || '.' || c.source_life || ', which was page '
                        || m.origin_page || '.' || m.origin_life || ' by then', '') || ', and ', ''
                )
                || CASE m.kind WHEN 'blank' THEN 'there are only the zeros of ' || coalesce(
                    _launch_named(z.launch, z.kernel, zn.name), 'a clear'
                ) WHEN 'untold' THEN 'what is there is from before the history, and not of this life'
                ELSE 'nothing has written or cleared them since the device started' END
        WHEN m.via_seq IS NULL
            THEN ', which nothing has written or cleared since the device started' || coalesce('; ' || r.told, '')
        WHEN o.slot IS NOT NULL
            THEN ', which ' || _launch_named(v.launch, v.kernel, n.name) || ' loaded from slot ' || o.slot
                || ' of the host tier, to which nothing had been offloaded'
        ELSE ', which ' || _launch_named(v.launch, v.kernel, n.name)
            || ' copied from where nothing had been written or cleared'
    END AS sentence,
    'page' AS resource_kind,
    m.page AS resource_id,
    m.life,
    m.row,
    m.generation,
    m.request,
    m.launch,
    m.stream,
    v.launch AS other_launch,
    v.stream AS other_stream,
    m.via_seq AS other_seq
FROM _met AS m
LEFT JOIN _act AS v ON m.via_seq = v.seq
LEFT JOIN _stream AS n ON v.stream = n.stream
LEFT JOIN _act AS z ON m.origin_seq = z.seq
LEFT JOIN _stream AS zn ON z.stream = zn.stream
LEFT JOIN _moved AS o
    ON m.via_seq = o.seq AND m.page = o.page AND m.life = o.life AND o.slot IS NOT NULL AND o.source_seq IS NULL
LEFT JOIN (
    SELECT DISTINCT seq, page, life, source_page, source_life FROM _moved WHERE source_seq IS NOT NULL
) AS c
    ON m.kind = 'blank' AND m.via_seq = c.seq AND m.page = c.page AND m.life = c.life
    AND m.origin_page = c.source_page AND m.origin_life > c.source_life
LEFT JOIN _spared AS r
    ON m.kind = r.kind AND m.page = r.page AND m.life = r.life AND m.seq = r.seq AND m.first = r.first
CROSS JOIN _window AS w
WHERE m.kind IN ('unwritten', 'blank', 'untold')
