-- Pages that a launch reads as computed, in positions before its own, though they were computed for another entry of
-- another request's sequence: in whose row (`other_request`) and as which entry. `via_seq` is the copy that brought the
-- bytes, null where the page was computed itself. The first launch of each. Nothing is told of what launches without
-- rows, the host or others wrote: which positions that was for, they know; nor of a request that has several rows.
CREATE TABLE _foreign (
    page UINTEGER, life UINTEGER, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, seq UBIGINT,
    request UBIGINT, other_seq UBIGINT, other_request UBIGINT, other_index UBIGINT, via_seq UBIGINT
);

INSERT INTO _foreign
WITH RECURSIVE
    alone AS (
        SELECT n.row, n.generation, n.request FROM _tenancy AS n
        WHERE n.request IS NOT NULL AND NOT EXISTS (
            FROM _tenancy AS o
            WHERE o.request = n.request AND (o.row <> n.row OR o.generation <> n.generation)
                AND coalesce(o.from_seq < n.until_seq, true) AND coalesce(n.from_seq < o.until_seq, true)
        )
    ),
    fronts AS (
        SELECT r.page, r.life, r.row, r.generation, r.index, r.stream, r.first_seq AS seq, n.request
        FROM _reading AS r
        JOIN _use AS u ON r.first_seq = u.seq AND r.row = u.row AND r.generation = u.generation
        JOIN alone AS n ON r.row = n.row AND r.generation = n.generation
        CROSS JOIN _window AS w
        WHERE u.start > r.index * w.page_size
    ),
    brought AS (
        SELECT DISTINCT page, life, source_page, source_life, seq FROM _moved WHERE source_seq IS NOT NULL
    ),
    -- Whose bytes may be there: the page's own, and those of the pages that were copied into it, and into these.
    sources AS (
        SELECT DISTINCT page, life, page::BIGINT AS source_page, life::BIGINT AS source_life, NULL::UBIGINT AS via_seq
        FROM fronts
        UNION
        SELECT s.page, s.life, b.source_page, b.source_life, b.seq
        FROM sources AS s JOIN brought AS b ON s.source_page = b.page AND s.source_life = b.life
        WHERE coalesce(b.seq < s.via_seq, true)
    ),
    known AS (
        FROM sources AS s WHERE NOT EXISTS (
            FROM sources AS o
            JOIN _extent AS x
                ON o.source_page = x.page AND o.source_life = x.life AND x.mode = 'write' AND x.source = 'extent'
            WHERE o.page = s.page AND o.life = s.life
        )
    ),
    put AS (
        SELECT t.page, t.life, t.index, t.first_seq, n.request FROM _touch AS t
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
        JOIN known AS s ON f.page = s.page AND f.life = s.life AND coalesce(s.via_seq < f.seq, true)
        JOIN put AS t ON s.source_page = t.page AND s.source_life = t.life AND t.first_seq < f.seq
        GROUP BY ALL
    )
SELECT page, life, row, generation, index, stream, seq, request, other.seq, other.request, other.index, other.via_seq
FROM written AS f
WHERE NOT right_one AND NOT EXISTS (
    -- A window that moved: the request had the page at that place before.
    FROM row_content AS c JOIN _tenancy AS n ON c.row = n.row AND c.generation = n.generation
    WHERE n.request = f.request AND c.page = f.page AND c.life = f.life AND c.index = f.other.index AND c.seq < f.seq
)
QUALIFY row_number() OVER (PARTITION BY page, life ORDER BY seq, row, index) = 1;
