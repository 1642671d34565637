-- A hit names no page that was evicted, or never cached.
WITH
    broken AS (
        SELECT h.*, p.alloc_seq
        FROM _hit AS h
        LEFT JOIN page_life AS p ON h.page = p.page AND h.life = p.life
        CROSS JOIN _window AS w
        CROSS JOIN _tells AS t
        -- What was cached before the history is not known to be gone.
        WHERE h.cached = 'evict' OR h.cached IS NULL AND t.inserts AND (w.complete OR p.alloc_seq < h.seq)
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
        ELSE ', which was never cached'
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
    b.cached_seq AS other_seq
FROM broken AS b
ASOF LEFT JOIN (FROM _tenancy WHERE request IS NOT NULL) AS t ON b.request = t.request AND b.seq < t.from_seq
CROSS JOIN _window AS w
