-- Launches that stored state rows in a page that somebody else holds than a snapshot, with each of those who do.
CREATE TABLE _row_guest (
    page UINTEGER, life UINTEGER, seq UBIGINT, first UBIGINT, "end" UBIGINT, snapshot UBIGINT, holder VARCHAR,
    mode VARCHAR, from_seq UBIGINT
);

INSERT INTO _row_guest
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
    )
-- A transfer pins pages in the name of whoever holds them.
SELECT s.page, s.life, s.seq, s.first, s.end, s.snapshot, h.holder, h.mode, h.from_seq
FROM stored AS s
JOIN holding AS h
    ON h.page = s.page AND h.life = s.life AND h.from_seq < s.seq AND coalesce(h.until_seq > s.seq, true)
WHERE h.holder NOT LIKE 'snapshot:%' AND h.holder NOT LIKE 'transfer:%' AND h.holder NOT LIKE 'reserved:%';

-- Copies and loads that brought keys and values to those pages, or to where their bytes come from, each by what its
-- source had last there. What a writer without a stream had put there is of no class that the history tells.
CREATE TABLE _kv_moved (seq UBIGINT, page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT);

INSERT INTO _kv_moved
WITH RECURSIVE
    near AS (
        SELECT DISTINCT page::BIGINT AS page, life::BIGINT AS life FROM _row_guest
        UNION
        SELECT m.source_page, m.source_life FROM near AS n JOIN _moved AS m ON n.page = m.page AND n.life = m.life
        WHERE m.source_page IS NOT NULL
    ),
    written AS (FROM byte_write AS b SEMI JOIN near AS n ON b.page = n.page AND b.life = n.life),
    -- Lives that keys and values may have come to: only of those is it asked what came last.
    mixed AS (
        SELECT DISTINCT page::BIGINT AS page, life::BIGINT AS life FROM written WHERE class = 'kv' AND actor IS NULL
        UNION
        SELECT m.page, m.life FROM mixed AS x JOIN _moved AS m ON x.page = m.source_page AND x.life = m.source_life
    ),
    sourced AS (
        SELECT m.seq, m.page, m.life, m.first, m.end, m.source_page, m.source_life, max(b.seq) AS from_seq,
            arg_max(b.class, b.seq) = 'kv' AND arg_max(b.actor IS NULL, b.seq) AS told
        FROM _moved AS m
        SEMI JOIN mixed AS x ON m.source_page = x.page AND m.source_life = x.life
        JOIN written AS b
            ON b.page = m.source_page AND b.life = m.source_life AND b.seq < m.source_seq
            AND b.first < TRY(m.source_first + m.end - m.first) AND b.end > m.source_first
        GROUP BY ALL
    ),
    brought AS (
        SELECT seq, page, life, first, "end" FROM sourced WHERE told
        UNION
        SELECT s.seq, s.page, s.life, s.first, s.end
        FROM brought AS b
        JOIN sourced AS s ON s.from_seq = b.seq AND s.source_page = b.page AND s.source_life = b.life
    )
SELECT seq, page, life, first, "end" FROM brought;

-- Of `_row_guest` the first of each page that others have keys and values in, sooner or later, or that the rows' own
-- snapshot does not hold.
CREATE TABLE _row_store (
    page UINTEGER, life UINTEGER, seq UBIGINT, first UBIGINT, "end" UBIGINT, snapshot UBIGINT, holder VARCHAR,
    mode VARCHAR, from_seq UBIGINT
);

INSERT INTO _row_store
SELECT o.page, o.life, o.seq, o.first, o.end, o.snapshot, o.holder, o.mode, o.from_seq
FROM _row_guest AS o
WHERE EXISTS (FROM _touch AS t WHERE t.page = o.page AND t.life = o.life AND t.mode = 'write')
    OR EXISTS (FROM _kv_moved AS m WHERE m.page = o.page AND m.life = o.life)
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
JOIN (
    SELECT seq, page, life, first, "end" FROM byte_write WHERE class = 'kv' AND actor IS NULL
    UNION ALL
    FROM _kv_moved
) AS b ON s.page = b.page AND s.life = b.life AND b.seq < s.seq AND b.first < s.end AND b.end > s.first
GROUP BY s.page, s.life, s.seq;
