-- Pages that requests found computed, one row a page: those that the prefix cache matched, and those that the host tier
-- had of evicted pages and loaded. A request that finds no room is matched again: sum what is `taken`.
CREATE VIEW prefix_hit (
    -- Event that found it: the match, or the load from the host tier.
    seq,
    -- The request.
    request,
    -- device: a page of the prefix cache; host: a slot of the host tier, loaded into a page of the request.
    tier,
    -- Which page of the prompt it is, from 0.
    index,
    -- The page that has it.
    page,
    -- Its life.
    life,
    -- Positions of it that were hit: all of a page, or the front of a tail, which is copied.
    tokens,
    -- The request went on from it: it held the page, or had it loaded, and got a row before it was matched again.
    taken,
    -- Node of the cache that the page was inserted as last; of the host tier, the page that was offloaded. Null when
    -- the history lacks that.
    node,
    -- Digest of that node's tokens: the same for the same tokens.
    digest,
    -- Slot of the host tier; null for a page of the prefix cache.
    slot,
    -- The page that was offloaded to the slot.
    source_page,
    -- Its life.
    source_life,
    -- The launch that loaded it.
    launch
) AS
WITH
    matched AS (
        SELECT m.seq, m.request, m.next_seq, len(m.pages) AS pages, m.hit_tokens, n.from_seq AS row_seq
        FROM (
            SELECT seq, request, pages, hit_tokens, lead(seq) OVER (PARTITION BY request ORDER BY seq) AS next_seq
            FROM _told_rest WHERE kind = 'match'
        ) AS m
        ASOF LEFT JOIN (FROM _tenancy WHERE request IS NOT NULL) AS n ON m.request = n.request AND m.seq < n.from_seq
    ),
    admitted AS (FROM matched WHERE row_seq IS NOT NULL AND coalesce(row_seq < next_seq, true)),
    inserted AS (
        SELECT seq, node, digest, TRY_CAST(x[1] AS UINTEGER) AS page, TRY_CAST(x[2] AS UINTEGER) AS life FROM (
            SELECT seq, node, digest, unnest(coalesce(pages, [[page::BIGINT, life::BIGINT]])) AS x
            FROM _told_rest WHERE kind = 'insert'
        )
    ),
    loaded AS (
        SELECT l.seq, l.launch, l.place, m.slot, m.page, m.life, m.source_page, m.source_life, m.source_seq,
            TRY_CAST(split_part(p.owner, ':', 2) AS UBIGINT) AS request
        FROM (
            SELECT seq, launch, unnest(entries) AS x, generate_subscripts(entries, 1) - 1 AS place
            FROM _told_launch WHERE kind = 'load'
        ) AS l
        JOIN _moved AS m ON l.seq = m.seq AND l.x[1] = m.slot AND l.x[2] = m.page AND l.x[3] = m.life
        JOIN page_life AS p ON m.page = p.page AND m.life = p.life AND p.owner LIKE 'request:%'
    )
SELECT
    h.seq, h.request, 'device', h.place::BIGINT, h.page, h.life, h.positions::BIGINT,
    EXISTS (
        FROM holding AS o WHERE o.page = h.page AND o.life = h.life AND o.holder = 'request:' || h.request
            AND o.from_seq > a.seq AND o.from_seq < a.row_seq
    ),
    i.node, i.digest, NULL, NULL, NULL, NULL
FROM _hit AS h
LEFT JOIN admitted AS a ON h.seq = a.seq
ASOF LEFT JOIN inserted AS i ON h.page = i.page AND h.life = i.life AND h.seq > i.seq
WHERE h.positions > 0
UNION ALL
SELECT
    l.seq, l.request, 'host', (m.hit_tokens // w.page_size)::BIGINT + l.place, l.page, l.life, w.page_size::BIGINT,
    m.row_seq > l.seq AND coalesce(m.row_seq < m.next_seq, true), i.node, i.digest, l.slot, l.source_page,
    l.source_life, l.launch
FROM loaded AS l
ASOF LEFT JOIN matched AS m ON l.request = m.request AND l.seq > m.seq
ASOF LEFT JOIN inserted AS i ON l.source_page = i.page AND l.source_life = i.life AND l.source_seq > i.seq
CROSS JOIN _window AS w;
