-- Copies between pages and slots of the host tier.
CREATE TABLE _slot_use (
    seq UBIGINT, kind VARCHAR, stream USMALLINT, slot BIGINT, page UINTEGER, life UINTEGER
);

INSERT INTO _slot_use
SELECT l.seq, l.kind, l.stream, l.x[1], l.x[2], l.x[3] FROM (
    SELECT e.seq, e.kind::VARCHAR AS kind, e.stream, unnest(e.entries) AS x FROM _told_launch AS e
    WHERE e.kind IN ('offload', 'load') AND e.launch IS NOT NULL AND e.stream IS NOT NULL AND e.ordinal IS NOT NULL
) AS l WHERE len(l.x) = 3 AND list_min(l.x) >= 0 AND list_max(l.x) < 4294967296;

-- What uses a slot and isn't ordered after what the slot owes: a load after the offload that filled it (`other_kind`
-- offload), an offload after every load and offload before it. The page is the one that gets, or got, the wrong bytes.
CREATE TABLE _slot_race (
    seq UBIGINT, kind VARCHAR, slot BIGINT, page UINTEGER, life UINTEGER, request UBIGINT, other_seq UBIGINT,
    other_kind VARCHAR
);

INSERT INTO _slot_race
WITH
    streams AS (SELECT DISTINCT stream FROM _slot_use),
    pairs AS (
        SELECT l.seq, l.kind, l.slot, l.page, l.life, o.seq AS other_seq, o.kind AS other_kind
        FROM (FROM _slot_use WHERE kind = 'load') AS l
        ASOF JOIN (FROM _slot_use WHERE kind = 'offload') AS o ON l.slot = o.slot AND l.seq > o.seq
        WHERE l.stream <> o.stream
        UNION ALL
        SELECT o.seq, o.kind, o.slot, CASE l.kind WHEN 'load' THEN l.page ELSE o.page END,
            CASE l.kind WHEN 'load' THEN l.life ELSE o.life END, l.seq, l.kind
        FROM (
            SELECT u.*, s.stream AS other_stream FROM _slot_use AS u JOIN streams AS s ON u.stream <> s.stream
            WHERE u.kind = 'offload'
        ) AS o
        ASOF JOIN _slot_use AS l ON o.slot = l.slot AND o.other_stream = l.stream AND o.seq > l.seq
    )
SELECT p.seq, p.kind, p.slot, p.page, p.life,
    CASE WHEN g.owner LIKE 'request:%' THEN TRY_CAST(split_part(g.owner, ':', 2) AS UBIGINT) END, p.other_seq,
    p.other_kind
FROM pairs AS p
JOIN _act AS late ON p.seq = late.seq
JOIN _act AS early ON p.other_seq = early.seq
LEFT JOIN page_life AS g ON p.page = g.page AND p.life = g.life
WHERE late.clock[early.stream + 1] < early.ordinal
QUALIFY row_number() OVER (PARTITION BY p.slot, p.kind ORDER BY p.seq, p.other_seq DESC) = 1;

-- Pages that were loaded from a slot, and then cached under another prefix than the page that was offloaded to it, with
-- nothing written to either in between. `lost_seq` is the last offload of the prefix that was wanted to that slot.
CREATE TABLE _misloaded (
    seq UBIGINT, slot BIGINT, page UINTEGER, life UINTEGER, request UBIGINT, node UBIGINT, node_seq UBIGINT,
    source_seq UBIGINT, source_page UINTEGER, source_life UINTEGER, source_node UBIGINT, reason VARCHAR,
    lost_seq UBIGINT
);

INSERT INTO _misloaded
WITH
    told AS (
        SELECT e.seq, e.kind, e.node, e.digest, e.identity,
            CASE WHEN len(e.pages) > 0 THEN e.pages[-1] ELSE [e.page::BIGINT, e.life::BIGINT] END AS x,
            coalesce(e.positions, 0) = 0 AS whole
        FROM _told_rest AS e WHERE e.kind IN ('insert', 'evict') AND e.node > 0
    ),
    inserted AS (FROM told WHERE kind = 'insert' AND digest IS NOT NULL),
    -- A node's digest names its last page: the last one that came to it, or that leaves it first.
    named AS (
        SELECT seq, node, digest, identity, TRY_CAST(x[1] AS UINTEGER) AS page, TRY_CAST(x[2] AS UINTEGER) AS life
        FROM inserted WHERE whole
        UNION ALL
        SELECT e.seq, e.node, i.digest, i.identity, TRY_CAST(e.x[1] AS UINTEGER), TRY_CAST(e.x[2] AS UINTEGER)
        FROM (FROM told WHERE kind = 'evict') AS e ASOF JOIN inserted AS i ON e.node = i.node AND e.seq > i.seq
        WHERE i.whole
    ),
    offloaded AS (
        SELECT o.seq, o.slot, o.page, o.life, n.seq AS named_seq, n.node, n.digest, n.identity
        FROM (FROM _slot_use WHERE kind = 'offload') AS o
        ASOF JOIN (FROM named WHERE page IS NOT NULL) AS n ON o.page = n.page AND o.life = n.life AND o.seq > n.seq
    ),
    loaded AS (
        SELECT l.seq, l.slot, l.page, l.life, n.seq AS named_seq, n.node, n.digest, n.identity
        FROM (FROM _slot_use WHERE kind = 'load') AS l
        ASOF JOIN (FROM named WHERE page IS NOT NULL) AS n ON l.page = n.page AND l.life = n.life AND l.seq < n.seq
    ),
    differing AS (
        SELECT l.*, o.seq AS source_seq, o.page AS source_page, o.life AS source_life, o.node AS source_node,
            o.named_seq AS source_named_seq,
            CASE WHEN l.identity <> o.identity THEN 'identity' ELSE 'tokens' END AS reason
        FROM loaded AS l
        JOIN _moved AS m ON l.seq = m.seq AND l.slot = m.slot AND l.page = m.page AND l.life = m.life
        JOIN offloaded AS o ON m.source_seq = o.seq AND m.slot = o.slot
        WHERE l.identity <> o.identity OR l.digest <> o.digest
    ),
    written AS (
        SELECT page, life, first_seq, last_seq FROM _touch WHERE mode = 'write'
        UNION ALL
        SELECT page, life, seq, seq FROM _extent WHERE mode = 'write'
    )
SELECT d.seq, d.slot, d.page, d.life,
    CASE WHEN g.owner LIKE 'request:%' THEN TRY_CAST(split_part(g.owner, ':', 2) AS UBIGINT) END, d.node, d.named_seq,
    d.source_seq, d.source_page, d.source_life, d.source_node,
    d.reason,
    (
        SELECT max(o.seq) FROM offloaded AS o
        WHERE o.slot = d.slot AND o.seq < d.source_seq AND o.digest = d.digest AND o.identity = d.identity
    )
FROM differing AS d LEFT JOIN page_life AS g ON d.page = g.page AND d.life = g.life
WHERE NOT EXISTS (
    FROM written AS v
    WHERE v.page = d.page AND v.life = d.life AND v.last_seq > d.seq AND v.first_seq < d.named_seq
        OR v.page = d.source_page AND v.life = d.source_life AND v.last_seq > d.source_named_seq
        AND v.first_seq < d.source_seq
);

-- Pages that were loaded for a request from a slot to which a page of its own had been offloaded (`lost_seq`), and then
-- a page that another request computed and nobody else ever had: what comes back is not what went. Only where no match
-- gave the request anything since, so that it can't mean the other's, and where a launch of it reads what was loaded.
CREATE TABLE _refilled (
    seq UBIGINT, slot BIGINT, page UINTEGER, life UINTEGER, request UBIGINT, source_seq UBIGINT, source_page UINTEGER,
    source_life UINTEGER, source_request UBIGINT, lost_seq UBIGINT, lost_page UINTEGER, lost_life UINTEGER
);

INSERT INTO _refilled
WITH RECURSIVE
    granted AS (
        SELECT page, life, TRY_CAST(split_part(owner, ':', 2) AS UBIGINT) AS request
        FROM page_life WHERE owner LIKE 'request:%'
    ),
    used AS (
        SELECT u.seq, u.kind, u.slot, u.page, u.life, g.request
        FROM _slot_use AS u JOIN granted AS g ON u.page = g.page AND u.life = g.life WHERE g.request IS NOT NULL
    ),
    loaded AS (
        SELECT u.seq, u.slot, u.page, u.life, u.request, m.source_seq, m.source_page, m.source_life,
            g.request AS source_request
        FROM used AS u
        JOIN _moved AS m ON u.seq = m.seq AND u.slot = m.slot AND u.page = m.page AND u.life = m.life
        JOIN granted AS g ON m.source_page = g.page AND m.source_life = g.life
        WHERE u.kind = 'load' AND g.request <> u.request
    ),
    -- The request's last use of the slot before it was filled by another: to load is to have back what was there.
    lost AS (
        SELECT l.*, u.kind AS lost_kind, u.seq AS lost_seq, u.page AS lost_page, u.life AS lost_life
        FROM loaded AS l ASOF JOIN used AS u ON l.slot = u.slot AND l.request = u.request AND l.source_seq > u.seq
    ),
    taken AS (
        FROM lost AS l WHERE l.lost_kind = 'offload' AND NOT EXISTS (
                FROM _told_rest AS e
                WHERE e.kind = 'match' AND e.request = l.request AND e.seq > l.lost_seq AND e.seq < l.seq
                    AND (len(e.pages) > 0 OR e.hit_tokens > 0)
            )
    ),
    -- Where the other's bytes may be from: its page, and those that were copied there, or came from the host tier.
    origins AS (
        SELECT DISTINCT source_seq, source_page, source_life, source_request AS request, source_page AS page,
            source_life AS life, source_seq AS until_seq
        FROM taken
        UNION
        SELECT o.source_seq, o.source_page, o.source_life, o.request, m.source_page, m.source_life, m.seq
        FROM origins AS o JOIN _moved AS m ON o.page = m.page AND o.life = m.life AND m.seq < o.until_seq
    ),
    -- Not the other's alone: held by someone else, or written without a row of it.
    shared AS (
        SELECT o.source_seq, o.source_page, o.source_life FROM origins AS o
        WHERE o.page IS NULL OR NOT EXISTS (
                FROM granted AS g WHERE g.page = o.page AND g.life = o.life AND g.request = o.request
            ) OR EXISTS (
                FROM holding AS h
                WHERE h.page = o.page AND h.life = o.life AND h.holder <> 'request:' || o.request
                    AND h.holder NOT LIKE 'transfer:%'
            ) OR EXISTS (
                FROM _extent AS x
                WHERE x.page = o.page AND x.life = o.life AND x.mode = 'write' AND x.source = 'extent'
                    AND x.seq < o.until_seq
            )
    ),
    computed AS (
        SELECT o.source_seq, o.source_page, o.source_life
        FROM origins AS o
        JOIN _touch AS t ON o.page = t.page AND o.life = t.life AND t.mode = 'write' AND t.first_seq < o.until_seq
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation AND n.request = o.request
    )
SELECT l.seq, l.slot, l.page, l.life, l.request, l.source_seq, l.source_page, l.source_life, l.source_request,
    l.lost_seq, l.lost_page, l.lost_life
FROM taken AS l
ANTI JOIN shared AS s USING (source_seq, source_page, source_life)
SEMI JOIN computed AS c USING (source_seq, source_page, source_life)
-- It is read before anything is written over it.
WHERE EXISTS (
        FROM _reading AS r
        WHERE r.page = l.page AND r.life = l.life AND r.front > 0 AND r.first_seq > l.seq AND NOT EXISTS (
                FROM _touch AS t
                WHERE t.page = l.page AND t.life = l.life AND t.mode = 'write' AND t.last_seq > l.seq
                    AND t.first_seq < r.first_seq
            ) AND NOT EXISTS (
                FROM _extent AS x
                WHERE x.page = l.page AND x.life = l.life AND x.mode = 'write' AND x.seq > l.seq
                    AND x.seq < r.first_seq AND x.first < r.front
            )
    )
    AND NOT EXISTS (FROM _misloaded AS m WHERE m.page = l.page AND m.life = l.life);
