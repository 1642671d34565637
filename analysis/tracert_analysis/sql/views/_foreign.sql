-- Pages that a launch reads as computed, in positions before its own, and that hold what was computed for other ones:
-- for another entry of a sequence (`entry`; of which request, as which entry), or in another page than that which the
-- prefix cache had given for the entry (`page`). The first launch of each.
CREATE TABLE _foreign (
    reason VARCHAR, page UINTEGER, life UINTEGER, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT,
    seq UBIGINT, request UBIGINT, other_seq UBIGINT, other_request UBIGINT, other_index UBIGINT, other_page UINTEGER,
    other_life UINTEGER, via_seq UBIGINT
);

INSERT INTO _foreign
WITH
    fronts AS (
        SELECT r.page, r.life, r.row, r.generation, r.index, r.stream, r.first_seq AS seq, n.request, n.from_seq
        FROM _reading AS r
        JOIN _use AS u ON r.first_seq = u.seq AND r.row = u.row AND r.generation = u.generation
        JOIN _tenancy AS n ON r.row = n.row AND r.generation = n.generation
        CROSS JOIN _window AS w
        WHERE u.start > r.index * w.page_size
    ),
    brought AS (
        SELECT DISTINCT page, life, source_page, source_life, seq FROM _moved WHERE source_seq IS NOT NULL
    ),
    -- Whose bytes may be there: the page's own, and those of the pages that were copied into it.
    sources AS (
        SELECT page, life, page AS source_page, life AS source_life, NULL AS via_seq FROM fronts
        UNION
        SELECT f.page, f.life, b.source_page, b.source_life, b.seq
        FROM fronts AS f JOIN brought AS b ON f.page = b.page AND f.life = b.life AND b.seq < f.seq
    ),
    put AS (
        SELECT t.page, t.life, t.row, t.generation, t.index, t.first_seq FROM _touch AS t
        JOIN page_life AS p ON t.page = p.page AND t.life = p.life
        WHERE t.mode = 'write' AND p.alloc_seq IS NOT NULL
    ),
    written AS (
        SELECT f.page, f.life, f.row, f.generation, f.seq, bool_or(t.index = f.index) AS right_one,
            arg_max(t.index, t.first_seq) AS other_index, max(t.first_seq) AS other_seq,
            arg_max(t.row, t.first_seq) AS other_row, arg_max(t.generation, t.first_seq) AS other_generation,
            arg_max(s.via_seq, t.first_seq) AS via_seq
        FROM fronts AS f
        JOIN sources AS s ON f.page = s.page AND f.life = s.life AND coalesce(s.via_seq < f.seq, true)
        JOIN put AS t
            ON s.source_page = t.page AND s.source_life = t.life AND t.first_seq < f.seq
            AND (t.row <> f.row OR t.generation <> f.generation)
        GROUP BY f.page, f.life, f.row, f.generation, f.seq, f.index
    ),
    -- What the cache had given last before the request had its row.
    given AS (
        SELECT f.*, h.page AS hit_page, h.life AS hit_life, h.seq AS hit_seq
        FROM fronts AS f
        ASOF JOIN (SELECT DISTINCT request, seq FROM _hit) AS l
            ON f.request = l.request AND f.from_seq > l.seq
        JOIN _hit AS h ON h.request = f.request AND h.seq = l.seq AND h.place = f.index AND h.positions > 0
        -- What came back from the host tier was found there, and goes further than what was hit.
        ANTI JOIN (FROM _moved WHERE slot IS NOT NULL) AS m ON f.page = m.page AND f.life = m.life
        WHERE h.page <> f.page OR h.life <> f.life
    )
SELECT 'entry', w.page, w.life, f.row, f.generation, f.index, f.stream, f.seq, f.request, w.other_seq, n.request,
    w.other_index, NULL, NULL, w.via_seq
FROM written AS w
JOIN fronts AS f USING (page, life, row, generation, seq)
LEFT JOIN _tenancy AS n ON w.other_row = n.row AND w.other_generation = n.generation
WHERE NOT w.right_one
UNION ALL
SELECT 'page', g.page, g.life, g.row, g.generation, g.index, g.stream, g.seq, g.request, g.hit_seq, NULL, NULL,
    g.hit_page, g.hit_life,
    (SELECT max(b.seq) FROM brought AS b WHERE b.page = g.page AND b.life = g.life AND b.seq < g.seq)
FROM given AS g
WHERE NOT EXISTS (
    FROM brought AS b
    LEFT JOIN brought AS c ON b.source_page = c.page AND b.source_life = c.life AND c.seq < b.seq
    WHERE b.page = g.page AND b.life = g.life AND b.seq < g.seq
        AND (b.source_page = g.hit_page AND b.source_life = g.hit_life
            OR c.source_page = g.hit_page AND c.source_life = g.hit_life)
);
