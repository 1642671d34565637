-- Pages that a launch reads as computed, in positions before its own, though they were computed for another entry of
-- another request's sequence: in whose row (`other_request`) and as which entry. `via_seq` is the copy that brought the
-- bytes, null where the page was computed itself. Nothing is told of what launches without rows, the host or others
-- wrote: which positions that was for, they know; nor of a request that has several rows.
CREATE TABLE _elsewhere (
    page UINTEGER, life UINTEGER, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, seq UBIGINT,
    request UBIGINT, other_seq UBIGINT, other_request UBIGINT, other_index UBIGINT, via_seq UBIGINT
);

INSERT INTO _elsewhere
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
FROM written WHERE NOT right_one;

-- The first launch of each page, but for those that find the page where it has come to stand: a window that moved on
-- takes its pages to other entries, and so does a row that names no more than the window of what was hit.
CREATE TABLE _foreign (
    page UINTEGER, life UINTEGER, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, seq UBIGINT,
    request UBIGINT, other_seq UBIGINT, other_request UBIGINT, other_index UBIGINT, via_seq UBIGINT
);

INSERT INTO _foreign
WITH RECURSIVE
    brought AS (
        SELECT DISTINCT page::BIGINT AS page, life::BIGINT AS life, source_page::BIGINT AS source_page,
            source_life::BIGINT AS source_life, seq
        FROM _moved WHERE source_seq IS NOT NULL
    ),
    involved AS (
        SELECT DISTINCT page::BIGINT AS page, life::BIGINT AS life FROM _elsewhere
        UNION
        SELECT b.source_page, b.source_life FROM involved AS i JOIN brought AS b USING (page, life)
    ),
    stood AS (
        SELECT c.page, c.life, n.request, c.index, min(c.seq) AS seq
        FROM row_content AS c
        SEMI JOIN involved AS i ON c.page = i.page AND c.life = i.life
        JOIN _tenancy AS n ON c.row = n.row AND c.generation = n.generation
        WHERE n.request IS NOT NULL GROUP BY ALL
    ),
    steps AS (
        SELECT a.page, a.life, a.index, a.page AS to_page, a.life AS to_life, b.index AS to_index, b.seq
        FROM stood AS a JOIN stood AS b USING (page, life, request)
        WHERE a.seq < b.seq AND a.index <> b.index
        UNION ALL
        SELECT b.source_page, b.source_life, NULL, b.page, b.life, NULL, b.seq
        FROM brought AS b SEMI JOIN involved AS i USING (page, life)
    ),
    -- As which entries a page counts, and from when on: where it was computed, and where a request that had it there
    -- took it.
    placed AS (
        SELECT i.page, i.life, t.index, min(t.first_seq) AS seq
        FROM _touch AS t JOIN involved AS i USING (page, life) WHERE t.mode = 'write' GROUP BY ALL
        UNION
        SELECT s.to_page, s.to_life, coalesce(s.to_index, p.index), s.seq
        FROM placed AS p JOIN steps AS s
            ON p.page = s.page AND p.life = s.life AND coalesce(p.index = s.index, true) AND p.seq < s.seq
    ),
    -- By how many entries what is left of a hit stands before its place, where that is one number for all of it, up to
    -- its end, and the sequence is counted from there, too.
    shortened AS (
        SELECT e.row, e.generation, e.seq, min(h.place::BIGINT - c.index::BIGINT) AS entries
        FROM (SELECT DISTINCT row, generation, request, seq FROM _elsewhere) AS e
        JOIN (
            SELECT h.*, max(h.seq) OVER (PARTITION BY h.request) AS last_seq,
                max(h.place) FILTER (h.positions = w.page_size) OVER (PARTITION BY h.request, h.seq) AS last_place,
                max(h.place * w.page_size + h.positions) OVER (PARTITION BY h.request, h.seq) AS tokens
            FROM _hit AS h, _window AS w
        ) AS h ON e.request = h.request AND h.seq = h.last_seq AND h.seq < e.seq AND h.place <= h.last_place
        JOIN row_content AS c
            ON e.row = c.row AND e.generation = c.generation AND h.page = c.page AND h.life = c.life AND c.seq < e.seq
            AND coalesce(c.until_seq > e.seq, true)
        CROSS JOIN _window AS w
        GROUP BY e.row, e.generation, e.seq
        HAVING min(h.place::BIGINT - c.index::BIGINT) = max(h.place::BIGINT - c.index::BIGINT) AND min(c.index) = 0
            AND max(h.place) = any_value(h.last_place) AND count(*) = any_value(h.last_place) + 1 - min(h.place)
            AND any_value(h.tokens) >= any_value(w.page_size) * min(h.place) + (
                SELECT min(u.start) FROM _use AS u WHERE u.row = e.row AND u.generation = e.generation
            )
    )
SELECT e.page, e.life, e.row, e.generation, e.index, e.stream, e.seq, e.request, e.other_seq, e.other_request,
    e.other_index, e.via_seq
FROM _elsewhere AS e
ANTI JOIN placed AS p ON e.page = p.page AND e.life = p.life AND e.index = p.index AND p.seq < e.seq
ANTI JOIN shortened AS s
    ON e.row = s.row AND e.generation = s.generation AND e.seq = s.seq AND e.other_index = e.index + s.entries
QUALIFY row_number() OVER (PARTITION BY e.page, e.life ORDER BY e.seq, e.row, e.index) = 1;
