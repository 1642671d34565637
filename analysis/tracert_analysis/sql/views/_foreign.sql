-- Pages that a launch reads as computed, in positions before its own, and that hold what was computed for other ones:
-- for another entry of another request's sequence (`entry`; of which request, as which entry), or what was copied from
-- another page than that which the prefix cache had given for the entry (`page`). The first launch of each. Nothing is
-- told of what launches without rows, the host or others wrote: what that was, and for which positions, they know.
CREATE TABLE _foreign (
    reason VARCHAR, page UINTEGER, life UINTEGER, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT,
    seq UBIGINT, request UBIGINT, other_seq UBIGINT, other_request UBIGINT, other_index UBIGINT, other_page UINTEGER,
    other_life UINTEGER, via_seq UBIGINT
);

INSERT INTO _foreign
WITH RECURSIVE
    fronts AS (
        SELECT r.page, r.life, r.row, r.generation, r.index, r.stream, r.first_seq AS seq, n.request, n.from_seq
        FROM _reading AS r
        JOIN _use AS u ON r.first_seq = u.seq AND r.row = u.row AND r.generation = u.generation
        JOIN _tenancy AS n ON r.row = n.row AND r.generation = n.generation
        CROSS JOIN _window AS w
        WHERE u.start > r.index * w.page_size AND (r.page, r.life) NOT IN (
            SELECT (page, life) FROM _extent WHERE mode = 'write' AND source = 'extent'
        )
    ),
    brought AS (
        SELECT DISTINCT page, life, source_page, source_life, seq, slot FROM _moved WHERE source_seq IS NOT NULL
    ),
    -- Whose bytes may be there: the page's own, and those of the pages that were copied into it, and into these.
    sources AS (
        SELECT DISTINCT page, life, page::BIGINT AS source_page, life::BIGINT AS source_life, NULL::UBIGINT AS via_seq
        FROM fronts
        UNION
        SELECT s.page, s.life, b.source_page, b.source_life, coalesce(s.via_seq, b.seq)
        FROM sources AS s JOIN brought AS b ON s.source_page = b.page AND s.source_life = b.life
        WHERE coalesce(b.seq < s.via_seq, true)
    ),
    put AS (
        SELECT t.page, t.life, t.row, t.generation, t.index, t.first_seq, n.request FROM _touch AS t
        JOIN page_life AS p ON t.page = p.page AND t.life = p.life
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        WHERE t.mode = 'write' AND p.alloc_seq IS NOT NULL
    ),
    written AS (
        SELECT f.*, bool_or(t.index = f.index OR coalesce(t.request = f.request, true)) AS right_one,
            arg_max(
                {'index': t.index, 'seq': t.first_seq, 'request': t.request, 'via_seq': s.via_seq}, t.first_seq
            ) AS other
        FROM fronts AS f
        JOIN sources AS s ON f.page = s.page AND f.life = s.life AND coalesce(s.via_seq < f.seq, true)
        JOIN put AS t ON s.source_page = t.page AND s.source_life = t.life AND t.first_seq < f.seq
        GROUP BY ALL
    ),
    -- What the cache gave last before the request had its row, and a page of the request's own in its place, into which
    -- something was copied since. A request of several rows has hits of several tables.
    asked AS (SELECT request, seq FROM _told_rest WHERE kind = 'match' AND request IS NOT NULL),
    given AS (
        SELECT f.*, h.page AS hit_page, h.life AS hit_life, h.seq AS hit_seq, max(b.seq) AS via_seq
        FROM fronts AS f
        ASOF JOIN asked AS l ON f.request = l.request AND f.from_seq > l.seq
        JOIN _hit AS h ON h.request = f.request AND h.seq = l.seq AND h.place = f.index AND h.positions > 0
        JOIN page_life AS p ON f.page = p.page AND f.life = p.life AND p.owner LIKE 'request:' || f.request || '%'
        JOIN brought AS b ON f.page = b.page AND f.life = b.life AND b.seq > h.seq AND b.seq < f.seq
        WHERE NOT EXISTS (
            FROM _tenancy AS o WHERE o.request = f.request AND (o.row <> f.row OR o.generation <> f.generation)
        )
        GROUP BY ALL
        -- What came back from the host tier was found there, and goes further than what was hit.
        HAVING count(b.slot) = 0
    )
FROM (
    SELECT 'entry' AS reason, page, life, row, generation, index, stream, seq, request, other.seq, other.request,
        other.index, NULL, NULL, other.via_seq
    FROM written WHERE NOT right_one
    UNION ALL
    SELECT 'page', g.page, g.life, g.row, g.generation, g.index, g.stream, g.seq, g.request, g.hit_seq, NULL, NULL,
        g.hit_page, g.hit_life, g.via_seq
    FROM given AS g
    WHERE NOT EXISTS (
        FROM sources AS s WHERE s.page = g.page AND s.life = g.life
            AND s.source_page = g.hit_page AND s.source_life = g.hit_life
    ) AND NOT EXISTS (
        FROM put AS t WHERE t.page = g.page AND t.life = g.life AND t.first_seq < g.seq
    )
)
-- Which page was given says more than which entry it was.
QUALIFY row_number() OVER (PARTITION BY page, life ORDER BY seq, reason DESC, row, index) = 1;
