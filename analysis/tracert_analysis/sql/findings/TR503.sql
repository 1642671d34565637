-- A hit names no page that was evicted, never cached, or granted anew.
WITH
    asked AS (
        SELECT h.*, n.life AS next_life, n.seq AS next_seq,
            -- What was cached before the history is not known to be gone.
            h.cached IS NULL AND t.inserts AND (w.complete OR coalesce(p.alloc_seq < h.seq, false)) AS uncached
        FROM _hit AS h
        LEFT JOIN page_life AS p ON h.page = p.page AND h.life = p.life
        ASOF LEFT JOIN (SELECT page, life, seq FROM _page_event WHERE kind = 'alloc') AS n
            ON h.page = n.page AND h.seq > n.seq
        CROSS JOIN _window AS w
        CROSS JOIN _tells AS t
    ),
    broken AS (
        FROM asked AS h WHERE h.cached = 'evict' OR h.uncached OR h.next_life > h.life
        QUALIFY row_number() OVER (PARTITION BY h.page, h.life ORDER BY h.seq) = 1
    )
SELECT
    'TR503' AS code,
    'evicted-hit' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(false, w.holes) AS confidence,
    'request ' || b.request || ' hits page ' || b.page || '.' || b.life
    || CASE
        WHEN b.cached = 'evict' THEN ', which was evicted from prefix ' || b.cached_node || ' at event ' || b.cached_seq
        WHEN b.uncached THEN ', which was never cached'
        ELSE ', whose life is over: page ' || b.page || '.' || b.next_life || ' was granted at event ' || b.next_seq
            || coalesce(', and nothing evicted the other from prefix ' || b.cached_node, '')
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    t.row,
    t.generation,
    b.request,
    NULL AS launch,
    NULL AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    CASE WHEN b.cached = 'evict' OR b.uncached THEN b.cached_seq ELSE b.next_seq END AS other_seq
FROM broken AS b
ASOF LEFT JOIN (FROM _tenancy WHERE request IS NOT NULL) AS t ON b.request = t.request AND b.seq < t.from_seq
CROSS JOIN _window AS w
