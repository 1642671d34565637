-- Pages that prefix caches gave: one row a match and page, with what had been told of the page by then. `positions` of
-- it were hit. `cached` is the last insert or evict of that life before the match: what it was, of which node and
-- identity; null when none is known.
CREATE TABLE _hit (
    seq UBIGINT, request UBIGINT, node UBIGINT, digest VARCHAR, identity UBIGINT, place UBIGINT, page UINTEGER,
    life UINTEGER, positions UBIGINT, cached kind, cached_seq UBIGINT, cached_node UBIGINT, cached_identity UBIGINT
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
    ),
    kept AS (
        SELECT seq, kind, node, identity, TRY_CAST(x[1] AS UINTEGER) AS page, TRY_CAST(x[2] AS UINTEGER) AS life FROM (
            SELECT seq, kind, node, identity, unnest(pages) AS x
            FROM _told_rest WHERE kind IN ('insert', 'evict') AND len(pages) > 0
            UNION ALL
            SELECT seq, kind, node, identity, [page::BIGINT, life::BIGINT]
            FROM _told_rest WHERE kind IN ('insert', 'evict') AND page IS NOT NULL
        )
    )
SELECT h.seq, h.request, h.node, h.digest, h.identity, h.place, h.page, h.life, h.positions,
    k.kind, k.seq, k.node, k.identity
FROM hit AS h ASOF LEFT JOIN kept AS k ON h.page = k.page AND h.life = k.life AND h.seq > k.seq
WHERE h.page IS NOT NULL AND h.life IS NOT NULL;
