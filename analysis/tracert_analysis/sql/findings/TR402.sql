-- An entry of a row that a launch follows names a page, in a life, that the row's request holds.
WITH
    followed AS (
        SELECT
            t.*, n.request, n.until_seq AS released_seq, p.known_from, p.owner, p.alloc_seq, p.unheld_seq,
            greatest(
                t.first_seq, coalesce(d.last_seq + 1, 0), n.from_seq,
                -- Before its grant nobody held it; before a keyframe that knew it, who knows.
                CASE WHEN p.alloc_seq IS NULL THEN coalesce(p.known_from, 0) ELSE 0 END
            ) AS from_seq
        FROM _touch AS t
        -- What lies behind the end of a mapped row is TR403's.
        ANTI JOIN _past_row AS x
            ON x.fresh AND t.content = x.content AND t.generation = x.generation AND t.stream = x.stream
        ANTI JOIN _misplaced AS y ON t.content = y.content AND t.generation = y.generation AND t.stream = y.stream
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        LEFT JOIN page_life AS p ON t.page = p.page AND t.life = p.life
        CROSS JOIN _window AS w
        -- What a launch may or may not have found is a matter of order, and TR102 tells of it.
        LEFT JOIN (
            SELECT content, generation, stream, max(last_seq) AS last_seq
            FROM _unordered_publish WHERE reason = 'publish' GROUP BY ALL
        ) AS d ON t.content = d.content AND t.generation = d.generation AND t.stream = d.stream
        WHERE t.mode = 'walk' AND t.page >= 0 AND t.page < coalesce(w.kv_pages, 4294967296)
            AND (p.known_from IS NOT NULL OR w.complete AND (SELECT grants FROM _tells))
    ),
    -- Pages are given back or shared, and no holder is ever told to come or go.
    uncounted AS (SELECT NOT t.counts AND (t.frees OR EXISTS (FROM _hit)) AS yes FROM _tells AS t),
    open AS (
        SELECT f.* FROM followed AS f
        WHERE NOT EXISTS (
            FROM holding AS h
            WHERE h.page = f.page AND h.life = f.life AND h.holder = 'request:' || f.request
                AND h.from_seq <= f.from_seq AND coalesce(h.until_seq > f.last_seq, true)
        )
    ),
    stale AS (
        SELECT
            o.content, o.row, o.generation, o.index, o.page, o.life, o.request, o.owner, u.seq, NULL AS found,
            CASE
                WHEN o.known_from IS NULL THEN 'never granted'
                WHEN u.seq > o.unheld_seq THEN 'held by nobody'
                ELSE 'held by others'
            END AS reason
        FROM open AS o
        JOIN _use AS u
            ON o.row = u.row AND o.generation = u.generation AND o.stream = u.stream AND u.walked > o.index
            AND u.seq BETWEEN o.from_seq AND o.last_seq
        CROSS JOIN _window AS w
        CROSS JOIN uncounted AS k
        WHERE NOT EXISTS (
            FROM holding AS h
            WHERE h.page = o.page AND h.life = o.life AND h.holder = 'request:' || o.request
                AND h.from_seq <= u.seq AND coalesce(h.until_seq > u.seq, true)
        )
        -- Who else has a page that is granted, nobody tells then.
        AND (o.known_from IS NULL OR u.seq > o.unheld_seq OR NOT k.yes)
        -- What names a reserved page is padding in a row that was given back, whatever its generation, and behind the
        -- end of the sequence; so is an entry that the host may mean to name it, as long as nothing is written there.
        AND NOT coalesce(
            o.page IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%') AND (
                u.seq > o.released_seq
                OR u.end <= o.index * w.page_size
                OR (u.start >= u.end OR u.start >= (o.index + 1) * w.page_size) AND EXISTS (
                    FROM _placeholder AS m
                    WHERE m.row = o.row AND m.generation = o.generation AND m.index = o.index AND m.page = o.page
                        AND m.from_seq < u.seq AND coalesce(m.until_seq > u.seq, true)
                )
            ),
            false
        )
        UNION ALL
        SELECT NULL, m.row, m.generation, m.index, NULL, NULL, n.request, NULL, m.seq, NULL, 'never published'
        FROM _unpublished AS m
        ANTI JOIN _past_row AS x
            ON x.fresh AND m.row = x.row AND m.generation = x.generation AND m.index = x.index AND m.stream = x.stream
        JOIN _tenancy AS n ON m.row = n.row AND m.generation = n.generation
        CROSS JOIN _window AS w CROSS JOIN _tells AS k WHERE w.complete AND k.publishes
        UNION ALL
        -- What a guarded kernel found there in the place of what had been published.
        SELECT g.content, g.row, g.generation, g.index, NULL, NULL, g.request, NULL, g.seq, g.page,
            coalesce('page ' || g.published_page || '.' || g.published_life, 'nothing')
        FROM _unexplained AS g CROSS JOIN _window AS w
        WHERE g.page >= 0 AND g.page < coalesce(w.kv_pages, 4294967296)
    ),
    broken AS (
        SELECT * FROM (
            FROM stale
            UNION ALL BY NAME
            SELECT content, row, generation, index, page, life, request, NULL AS owner, seq, NULL AS found,
                'mapped otherwise' AS reason
            FROM _misplaced
        ) QUALIFY row_number() OVER (PARTITION BY row, generation ORDER BY seq, index) = 1
    )
SELECT
    'TR402' AS code,
    'stale-mapping' AS name,
    b.seq,
    'mapping' AS class,
    _confidence(
        _seen_wrong(b.seq, b.row, b.page)
        OR EXISTS (FROM guard_entry AS g WHERE g.seq = b.seq AND g.row = b.row AND g.index = b.index),
        w.holes OR b.reason = 'held by others' AND NOT (SELECT counts FROM _tells)
    ) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name) || ' follows entry ' || b.index || ' of row ' || b.row
    || ' for request ' || b.request
    || CASE
        WHEN b.found IS NOT NULL THEN ', in which the kernel found '
            || CASE b.found WHEN 0 THEN '0' ELSE 'page ' || b.found END || ': ' || b.reason || ' was published there'
            || coalesce(', by ' || _launch_named(early.launch, early.kernel, early_name.name), '')
        WHEN b.reason = 'mapped otherwise'
            THEN ', in which page ' || b.page || '.' || b.life || ' stands; the host had mapped page ' || y.map_page
                || '.' || y.map_life || ' there, at event ' || y.map_seq || CASE
                    WHEN c.seq < y.map_seq THEN ', and nothing was published in the entry since'
                    ELSE ', and ' || _launch_named(early.launch, early.kernel, early_name.name) || ' published another'
                END || coalesce('. ' || o.why, '')
        WHEN b.reason = 'never published' THEN ', in which nothing was ever published'
        ELSE ', which names page ' || b.page || '.' || b.life || ': that request does not hold it, it is ' || b.reason
            || coalesce(' and was granted to ' || b.owner, '') || coalesce('. ' || o.why, '')
    END AS sentence,
    CASE WHEN b.page IS NULL THEN 'row' ELSE 'page' END AS resource_kind,
    coalesce(b.page, b.row) AS resource_id,
    b.life,
    b.row,
    b.generation,
    b.request,
    late.launch,
    late.stream,
    early.launch AS other_launch,
    early.stream AS other_stream,
    c.seq AS other_seq
FROM broken AS b
JOIN launch AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
LEFT JOIN row_content AS c ON b.content = c.content
LEFT JOIN _misplaced AS y
    ON b.reason = 'mapped otherwise' AND b.content = y.content AND b.generation = y.generation AND b.seq = y.seq
LEFT JOIN _other_tenant AS o ON b.content = o.content AND b.generation = o.generation
LEFT JOIN launch AS early ON c.seq = early.seq
LEFT JOIN _stream AS early_name ON early.stream = early_name.stream
CROSS JOIN _window AS w
