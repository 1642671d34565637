-- Launches that stored state rows in a page that somebody else holds than a snapshot, with one of those who do: where
-- keys and values are written, too, or where the rows' own snapshot doesn't hold the page.
CREATE TABLE _row_store (
    page UINTEGER, life UINTEGER, seq UBIGINT, first UBIGINT, "end" UBIGINT, snapshot UBIGINT, holder VARCHAR,
    mode VARCHAR, from_seq UBIGINT
);

INSERT INTO _row_store
WITH
    saved AS (
        SELECT launch, any_value(snapshot) AS snapshot FROM _told_rest
        WHERE kind = 'snapshot_save' AND launch IS NOT NULL GROUP BY launch
    ),
    stored AS (
        SELECT x.page, x.life, x.seq, x.first, x.end, s.snapshot
        FROM _extent AS x
        JOIN (SELECT seq, launch FROM _told_launch WHERE kind = 'launch' AND class = 'rows') AS l ON x.seq = l.seq
        LEFT JOIN saved AS s ON l.launch = s.launch
        WHERE x.mode = 'write' AND x.source = 'extent'
    ),
    -- A transfer pins pages in the name of whoever holds them.
    others AS (
        SELECT s.*, h.holder, h.mode, h.from_seq
        FROM stored AS s
        JOIN holding AS h
            ON h.page = s.page AND h.life = s.life AND h.from_seq < s.seq AND coalesce(h.until_seq > s.seq, true)
        WHERE h.holder NOT LIKE 'snapshot:%' AND h.holder NOT LIKE 'transfer:%' AND h.holder NOT LIKE 'reserved:%'
    )
SELECT o.page, o.life, o.seq, o.first, o.end, o.snapshot, o.holder, o.mode, o.from_seq FROM others AS o
WHERE EXISTS (FROM _touch AS t WHERE t.page = o.page AND t.life = o.life AND t.mode = 'write')
    OR EXISTS (
        FROM _extent AS x
        WHERE x.page = o.page AND x.life = o.life AND x.mode = 'write' AND x.source IN ('copy', 'load')
    )
    OR o.snapshot IS NOT NULL AND NOT EXISTS (
        FROM holding AS h
        WHERE h.page = o.page AND h.life = o.life AND h.holder = 'snapshot:' || o.snapshot AND h.from_seq < o.seq
            AND coalesce(h.until_seq > o.seq, true)
    )
QUALIFY row_number() OVER (PARTITION BY o.page, o.life ORDER BY o.seq, o.mode DESC, o.from_seq) = 1;

-- The keys and values that were there before.
CREATE TABLE _row_store_over (page UINTEGER, life UINTEGER, seq UBIGINT, over_seq UBIGINT);

INSERT INTO _row_store_over
SELECT s.page, s.life, s.seq, max(b.seq)
FROM _row_store AS s
JOIN byte_write AS b
    ON s.page = b.page AND s.life = b.life AND b.seq < s.seq AND b.first < s.end AND b.end > s.first
    AND b.class IN ('kv', 'copy', 'host')
GROUP BY s.page, s.life, s.seq;
