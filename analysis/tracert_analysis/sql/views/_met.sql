-- The rows of `_blemish` and `_uncomputed` as sentences need them: who read, where, for whom, and whether it visibly
-- went wrong. `meant` tells that the reader takes the first position for a valid one of its sequence; null where no row
-- led it there. `start` is the first position of the sequence that the reader computes, and `before` names the launch
-- that had come furthest before it, where positions between the two were left out.
CREATE TABLE _met (
    kind VARCHAR, page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, seq UBIGINT, origin_seq UBIGINT,
    origin_page UINTEGER, origin_life UINTEGER, origin_class VARCHAR, via_seq UBIGINT, clear_seq UBIGINT,
    clear_page UINTEGER, clear_life UINTEGER, clear_first UBIGINT, zeros_seq UBIGINT, origins UBIGINT,
    launch UBIGINT, stream USMALLINT, step UBIGINT, row USMALLINT, generation UINTEGER, request UBIGINT,
    reader VARCHAR, place VARCHAR, meant BOOLEAN, start UBIGINT, skip_first UBIGINT, skip_end UBIGINT,
    before_seq UBIGINT, before VARCHAR, observed BOOLEAN
);

INSERT INTO _met
WITH
    marked AS (
        SELECT kind, page, life, first, "end", seq, origin_seq, origin_page, origin_life, origin_class, via_seq,
            clear_seq, clear_page, clear_life, clear_first, zeros_seq, origins, row, generation, skip_first, skip_end,
            before_seq
        FROM _uncomputed AS b, _window AS w
        -- Where events are missing, what put something there may be among them; and what was put there before the
        -- history is wrong where the life began in it.
        WHERE kind NOT IN ('blank', 'untold') OR NOT w.holes AND (kind = 'blank' OR EXISTS (
                FROM page_life AS p WHERE p.page = b.page AND p.life = b.life AND p.alloc_seq >= w.known_from
            ))
        UNION ALL
        SELECT kind, page, life, first, "end", seq, origin_seq, origin_page, origin_life, origin_class, via_seq,
            clear_seq, clear_page, clear_life, clear_first, zeros_seq, origins, NULL, NULL, NULL, NULL, NULL
        FROM _blemish AS b
        WHERE NOT EXISTS (
            FROM _uncomputed AS u
            WHERE u.kind = b.kind AND u.page = b.page AND u.life = b.life AND u.seq <= b.seq
                AND u.first < b.end AND b.first < u.end
        )
    ),
    -- The entries that led the readers there.
    reached AS (
        SELECT u.seq, u.start, u.end, t.row, t.generation, t.index, t.page, t.life
        FROM (FROM _use AS o SEMI JOIN marked AS b ON o.seq = b.seq) AS u
        JOIN _touch AS t
            ON u.row = t.row AND u.generation = t.generation AND u.stream = t.stream AND t.mode = 'read'
            AND u.seq BETWEEN t.first_seq AND t.last_seq AND u.depth > t.index
    ),
    reader AS (
        SELECT b.kind, b.page, b.life, b.first, b.end, b.seq, b.origin_seq, b.origin_page, b.origin_life,
            b.origin_class, b.via_seq, b.clear_seq, b.clear_page, b.clear_life, b.clear_first, b.zeros_seq, b.origins,
            l.launch, l.on_stream AS stream, l.step, t.row,
            t.generation, n.request,
            _launch_named(l.launch, l.kernel, s.name) AS reader,
            _positions(b.first, b.end) || ' of page ' || b.page || '.' || b.life
            || coalesce(' of request ' || n.request, '')
            || CASE WHEN i.seq IS NULL THEN '' ELSE ' before it stores there itself' END AS place,
            t.index * w.page_size + b.first < t.end AS meant, t.start, b.skip_first, b.skip_end, b.before_seq,
            _launch_named(e.launch, e.kernel, es.name) AS before
        FROM marked AS b
        JOIN _act AS l ON b.seq = l.seq
        JOIN _stream AS s ON l.stream = s.stream
        LEFT JOIN reached AS t
            ON t.page = b.page AND t.life = b.life AND t.seq = b.seq
            AND coalesce(t.row = b.row AND t.generation = b.generation, true)
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        LEFT JOIN (SELECT DISTINCT seq, page, life FROM _in_place) AS i
            ON t.row IS NULL AND b.seq = i.seq AND b.page = i.page AND b.life = i.life
        LEFT JOIN _act AS e ON b.before_seq = e.seq
        LEFT JOIN _stream AS es ON e.stream = es.stream
        CROSS JOIN _window AS w
        QUALIFY row_number() OVER (
            PARTITION BY b.kind, b.page, b.life, b.before_seq IS NULL ORDER BY b.seq, t.row, b.first, t.index
        ) = 1
    ),
    -- Outputs that were not finite, with the launch and the step that gave them.
    seen AS (
        SELECT e.seq, e.launch, e.request, l.step, l.seq AS launch_seq,
            list_transform(e.pages, lambda x: x[1]) AS pages
        FROM _told_rest AS e LEFT JOIN launch AS l USING (launch) WHERE e.kind = 'nonfinite'
    ),
    -- Until when a reader meets what it met: until these positions are cleared, or computed up to the last of them.
    cleared AS (
        SELECT b.kind, b.page, b.life, b.seq, min(x.seq) AS clear_seq
        FROM reader AS b
        JOIN _extent AS x
            ON x.source = 'clear' AND x.page = b.page AND x.seq > b.seq AND x.first <= b.first AND x.end >= b.end
        GROUP BY b.kind, b.page, b.life, b.seq
    ),
    computed AS (
        SELECT b.kind, b.page, b.life, b.seq, min(u.seq) AS over_seq
        FROM reader AS b
        JOIN _touch AS t ON b.page = t.page AND b.life = t.life AND t.mode = 'write' AND t.last_seq > b.seq
        JOIN _use AS u
            ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream AND u.seq > b.seq
            AND u.seq BETWEEN t.first_seq AND t.last_seq
        CROSS JOIN _window AS w
        WHERE u.start < u.end AND u.end >= t.index * w.page_size + b.end
        GROUP BY b.kind, b.page, b.life, b.seq
    ),
    -- A later launch meets it as long as it reads that page.
    read_on AS (
        SELECT b.page, b.life, u.seq
        FROM (SELECT DISTINCT page, life FROM reader) AS b
        JOIN _touch AS t ON b.page = t.page AND b.life = t.life AND t.mode = 'read'
        JOIN _use AS u
            ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream AND u.depth > t.index
            AND u.seq BETWEEN t.first_seq AND t.last_seq
        SEMI JOIN seen AS s ON u.seq = s.launch_seq
        UNION ALL
        SELECT x.page, x.life, x.seq FROM _extent AS x SEMI JOIN seen AS s ON x.seq = s.launch_seq WHERE x.mode = 'read'
    )
SELECT
    r.*,
    EXISTS (
        FROM seen AS s
        WHERE s.seq > r.seq AND coalesce(s.seq < c.clear_seq, true)
            AND CASE
                WHEN s.launch = r.launch THEN coalesce(s.request = r.request, true)
                WHEN r.request IS NULL THEN s.step = r.step
                ELSE s.request = r.request AND coalesce(s.launch_seq < o.over_seq, true)
                    AND coalesce(len(s.pages) = 0 OR list_contains(s.pages, r.page), true)
                    AND (
                        s.launch_seq IS NULL
                        OR EXISTS (FROM read_on AS n WHERE n.page = r.page AND n.life = r.life AND n.seq = s.launch_seq)
                    )
            END
    ) AS observed
FROM reader AS r
LEFT JOIN cleared AS c USING (kind, page, life, seq)
LEFT JOIN computed AS o USING (kind, page, life, seq);
