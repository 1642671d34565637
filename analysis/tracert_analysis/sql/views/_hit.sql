-- Pages that prefix caches gave: one row a match and page, with what had been told of the page by then. `positions` of
-- it were hit. `cached` is the last insert or evict of that life before the match: what it was, of which node and
-- identity, and of how many positions of a page that was filled in part; null when none is known. Reserved pages are
-- no hits.
CREATE TABLE _hit (
    seq UBIGINT, request UBIGINT, node UBIGINT, digest VARCHAR, identity UBIGINT, place UBIGINT, page UINTEGER,
    life UINTEGER, positions UBIGINT, cached kind, cached_seq UBIGINT, cached_node UBIGINT, cached_identity UBIGINT,
    cached_positions UBIGINT
);

INSERT INTO _hit
WITH
    listed AS (
        SELECT seq, request, node, digest, identity, hit_tokens,
            unnest(pages) AS x, generate_subscripts(pages, 1) - 1 AS place
        FROM _told_rest WHERE kind = 'match' AND len(pages) > 0
    ),
    hit AS (
        SELECT l.seq, l.request, l.node, l.digest, l.identity, l.place, TRY_CAST(l.x[1] AS UINTEGER) AS page,
            TRY_CAST(l.x[2] AS UINTEGER) AS life,
            -- The page behind the whole ones is a tail.
            CASE WHEN l.hit_tokens >= (l.place + 1) * w.page_size THEN w.page_size
                WHEN l.hit_tokens > l.place * w.page_size THEN l.hit_tokens - l.place * w.page_size
                ELSE 0 END AS positions
        FROM listed AS l, _window AS w WHERE w.page_size IS NOT NULL
    )
SELECT h.seq, h.request, h.node, h.digest, h.identity, h.place, h.page, h.life, h.positions,
    k.kind, k.seq, k.node, k.identity, k.positions
FROM hit AS h ASOF LEFT JOIN _kept AS k ON h.page = k.page AND h.life = k.life AND h.seq > k.seq
-- A reserved page stands in the place of one that nobody needs, such as what has left a sliding window.
WHERE h.page IS NOT NULL AND h.life IS NOT NULL
    AND h.page NOT IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%');

-- The first launch on each stream that reads a page after it was hit: through the request's row, or as a copy. The
-- positions from `first` up to `end` are hit ones.
CREATE TABLE _hit_read (
    page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, hit_seq UBIGINT, request UBIGINT,
    node UBIGINT, cached_seq UBIGINT, offered UBIGINT, row USMALLINT, generation UINTEGER, index UBIGINT,
    stream USMALLINT, seq UBIGINT
);

INSERT INTO _hit_read
SELECT h.page, h.life, 0, h.positions, h.seq, h.request, h.cached_node, h.cached_seq, h.cached_positions, t.row,
    t.generation, t.index, t.stream, t.first_seq
FROM _hit AS h
JOIN _touch AS t ON h.page = t.page AND h.life = t.life AND t.mode = 'read' AND t.first_seq > h.seq
JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation AND n.request = h.request
WHERE h.positions > 0
UNION ALL
SELECT h.page, h.life, x.first, least(h.positions, x.end), h.seq, h.request, h.cached_node, h.cached_seq,
    h.cached_positions, NULL, NULL, NULL, x.stream, min(x.seq)
FROM _hit AS h
JOIN _extent AS x ON h.page = x.page AND h.life = x.life AND x.mode = 'read' AND x.seq > h.seq
WHERE h.positions > 0 AND x.first < h.positions AND x.source IN ('copy', 'extent')
GROUP BY ALL;

-- Beside such reads what writes the page on another stream and is not plainly ordered before them: runs of writes
-- through a row whose last one is not, for an earlier one may be the one that wrote what is read; and other writes,
-- without a row, which are not.
CREATE TABLE _hit_run (
    page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, hit_seq UBIGINT, request UBIGINT,
    node UBIGINT, cached_seq UBIGINT, offered UBIGINT, row USMALLINT, generation UINTEGER, index UBIGINT,
    stream USMALLINT, seq UBIGINT, from_row USMALLINT, from_generation UINTEGER, from_index UBIGINT,
    from_stream USMALLINT, first_seq UBIGINT, last_seq UBIGINT, from_first UBIGINT, clock UBIGINT[]
);

INSERT INTO _hit_run
SELECT r.page, r.life, r.first, r.end, r.hit_seq, r.request, r.node, r.cached_seq, r.offered, r.row, r.generation,
    r.index, r.stream, r.seq, t.row, t.generation, t.index, t.stream, t.first_seq, t.last_seq, NULL, l.clock
FROM _hit_read AS r
JOIN _touch AS t
    ON r.page = t.page AND r.life = t.life AND t.mode = 'write' AND t.stream <> r.stream AND t.first_seq < r.seq
JOIN _act AS l ON r.seq = l.seq
JOIN launch AS x ON t.last_seq = x.seq
WHERE x.seq > r.seq OR l.clock[t.stream + 1] < x.ordinal
UNION ALL
SELECT r.page, r.life, r.first, r.end, r.hit_seq, r.request, r.node, r.cached_seq, r.offered, r.row, r.generation,
    r.index, r.stream, r.seq, NULL, NULL, NULL, x.stream, x.seq, x.seq, x.first, l.clock
FROM _hit_read AS r
JOIN _extent AS x
    ON r.page = x.page AND r.life = x.life AND x.mode = 'write' AND x.source <> 'clear' AND x.stream <> r.stream
    AND x.seq < r.seq AND x.first < r.end AND r.first < x.end
JOIN _act AS l ON r.seq = l.seq
WHERE l.clock[x.stream + 1] < x.ordinal;

-- Such reads of which it is not plain that all of it was written by then; only of lives whose beginning the history
-- has.
CREATE TABLE _hit_open (page UINTEGER, life UINTEGER, seq UBIGINT, first UBIGINT, "end" UBIGINT);

INSERT INTO _hit_open
WITH
    asked AS (
        SELECT r.page, r.life, r.seq, min(r.first) AS first, max(r.end) AS "end"
        FROM _hit_read AS r JOIN page_life AS p ON r.page = p.page AND r.life = p.life
        WHERE p.alloc_seq < r.hit_seq GROUP BY r.page, r.life, r.seq
    ),
    filled AS (SELECT page, life, min(full_seq) AS seq FROM _reading WHERE full_seq IS NOT NULL GROUP BY page, life),
    partial AS (
        SELECT a.* FROM asked AS a
        ANTI JOIN filled AS f ON a.page = f.page AND a.life = f.life AND f.seq < a.seq
        ANTI JOIN _extent AS x
            ON a.page = x.page AND a.life = x.life AND x.mode = 'write' AND x.source <> 'clear' AND x.seq < a.seq
            AND x.first <= a.first AND x.end >= a.end
    ),
    -- Rows that wrote the page from its front on, and until where by then.
    reached AS (
        SELECT DISTINCT a.page, a.life, a.seq
        FROM (
            SELECT a.page, a.life, a.seq, a.end, r.row, r.generation, r.stream, r.index
            FROM partial AS a
            JOIN _reading AS r ON a.page = r.page AND a.life = r.life AND r.front = 0 AND r.first_seq < a.seq
        ) AS a
        ASOF JOIN _use AS u
            ON a.row = u.row AND a.generation = u.generation AND a.stream = u.stream AND a.seq > u.seq
        CROSS JOIN _window AS w
        WHERE u.end >= a.index * w.page_size + a.end
    )
FROM partial AS a ANTI JOIN reached AS r ON a.page = r.page AND a.life = r.life AND a.seq = r.seq;

-- The first positions of them that nothing had written by then.
CREATE TABLE _hit_gap (page UINTEGER, life UINTEGER, seq UBIGINT, first UBIGINT, "end" UBIGINT);

INSERT INTO _hit_gap
WITH
    put AS (
        SELECT o.page, o.life, o.seq, o.first AS asked, o.end AS behind,
            CASE WHEN u.start < t.index * w.page_size THEN 0 ELSE u.start - t.index * w.page_size END AS first,
            CASE WHEN u.end < t.index * w.page_size THEN 0 ELSE u.end - t.index * w.page_size END AS "end"
        FROM _hit_open AS o
        -- A launch stores what all its rows compute before one of them reads it.
        JOIN _touch AS t ON o.page = t.page AND o.life = t.life AND t.mode = 'write' AND t.first_seq <= o.seq
        JOIN _use AS u
            ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
            AND u.seq BETWEEN t.first_seq AND t.last_seq AND u.seq <= o.seq
        CROSS JOIN _window AS w
        WHERE u.start < u.end
        UNION ALL
        SELECT o.page, o.life, o.seq, o.first, o.end, x.first, x.end
        FROM _hit_open AS o
        JOIN _extent AS x
            ON o.page = x.page AND o.life = x.life AND x.mode = 'write' AND x.source <> 'clear' AND x.seq < o.seq
        UNION ALL
        SELECT o.page, o.life, o.seq, o.first, o.end, o.end, o.end FROM _hit_open AS o
    ),
    -- Beside each piece: until where those that begin before it had come without a gap.
    joined AS (
        SELECT page, life, seq, first, greatest(asked, max("end") OVER (
            PARTITION BY page, life, seq ORDER BY first, "end" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )) AS reached
        FROM put WHERE first <= behind
    )
SELECT page, life, seq, min(reached), arg_min(first, reached) FROM joined WHERE first > reached
GROUP BY page, life, seq;
