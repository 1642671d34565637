-- Bytes that came from elsewhere: copies, extent by extent, and pages that came back from the host tier, each with the
-- page that was offloaded to the slot last before; `slot` is null for a copy.
CREATE TABLE _moved (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, slot BIGINT, page BIGINT, life BIGINT, first BIGINT, "end" BIGINT,
    source_page BIGINT, source_life BIGINT, source_first BIGINT, source_seq UBIGINT
);

INSERT INTO _moved
WITH
    moved AS (
        SELECT seq, kind, launch, stream, e[1] AS slot, e[2] AS page, e[3] AS life
        FROM (
            SELECT seq, kind, launch, stream, unnest(entries) AS e FROM _told_launch
            WHERE kind IN ('offload', 'load') AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
        ) WHERE len(e) = 3
    ),
    copied AS (
        SELECT seq, launch, stream, unnest(source) AS s, unnest(target) AS t FROM _told_launch
        WHERE kind = 'copy' AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
    )
SELECT c.seq, c.launch, c.stream, NULL, c.t[1], c.t[2], c.t[3], c.t[4], c.s[1], c.s[2], c.s[3], c.seq
FROM copied AS c WHERE len(c.s) = 4 AND len(c.t) = 4
UNION ALL
SELECT l.seq, l.launch, l.stream, l.slot, l.page, l.life, 0, w.page_size::BIGINT, o.page, o.life, 0, o.seq
FROM (FROM moved WHERE kind = 'load') AS l
ASOF LEFT JOIN (FROM moved WHERE kind = 'offload') AS o ON l.slot = o.slot AND l.seq > o.seq
CROSS JOIN _window AS w;

-- Launches that saved a request's state, where it is one request's.
CREATE TABLE _saving (launch UBIGINT, request UBIGINT);

INSERT INTO _saving
SELECT launch, any_value(request) FROM _told_rest WHERE kind = 'snapshot_save' AND launch IS NOT NULL
GROUP BY launch HAVING count(DISTINCT request) = 1;

-- What launches wrote through rows of the block table.
CREATE VIEW _row_write AS
SELECT
    u.seq, u.launch, u.stream, t.page, t.life,
    CASE WHEN u.start < t.index * w.page_size THEN 0 ELSE u.start - t.index * w.page_size END::BIGINT AS first,
    least(u.end - t.index * w.page_size, w.page_size)::BIGINT AS "end", u.request
FROM _touch AS t
JOIN _use AS u
    ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
    AND u.seq BETWEEN t.first_seq AND t.last_seq
CROSS JOIN _window AS w
WHERE t.mode = 'write' AND u.end > u.start AND u.start < (t.index + 1) * w.page_size AND u.end > t.index * w.page_size;

-- What was written in any other way.
CREATE VIEW _block_write AS
SELECT
    x.seq, x.launch, CASE WHEN x.launch IS NOT NULL THEN x.stream END AS stream, x.page, x.life,
    x.first::BIGINT AS first, x.end::BIGINT AS "end",
    CASE WHEN x.source = 'clear' THEN 'zero' WHEN l.class = 'rows' THEN 'rows' ELSE 'kv' END AS class,
    NULL::BIGINT AS source_page, NULL::BIGINT AS source_life, NULL::BIGINT AS source_first, NULL::UBIGINT AS source_seq,
    x.actor, s.request
FROM _extent AS x LEFT JOIN launch AS l ON x.seq = l.seq LEFT JOIN _saving AS s ON x.launch = s.launch
WHERE x.mode = 'write' AND x.source IN ('extent', 'clear')
UNION ALL
SELECT m.seq, m.launch, m.stream, m.page, m.life, m.first, m.end, CASE WHEN m.slot IS NULL THEN 'copy' ELSE 'host' END,
    m.source_page, m.source_life, m.source_first, m.source_seq, NULL, NULL
FROM _moved AS m
UNION ALL
SELECT
    e.seq, e.launch, e.stream,
    unnest(range(least(coalesce(e.page_count, 0), coalesce(w.kv_pages, 0), 16777216)::BIGINT)),
    0, 0, w.page_size::BIGINT, 'zero', NULL, NULL, NULL, NULL, NULL, NULL
FROM _told_launch AS e, _window AS w
WHERE e.kind = 'clear' AND e.all AND e.launch IS NOT NULL AND e.stream IS NOT NULL AND e.ordinal IS NOT NULL;

-- What put which bytes where: one row a launch (or an act of a writer without a stream) and run of positions. Where
-- several cover a position, the one with the highest `seq` counts: what was there before is gone.
CREATE VIEW byte_write (
    -- Event of the launch, or of what the actor did.
    seq,
    -- The launch; null where an actor wrote without one.
    launch,
    -- Its stream.
    stream,
    -- The page.
    page,
    -- The life that was meant; 0 for the clear of the whole arena.
    life,
    -- First position of the page that it wrote.
    first,
    -- Position behind the last one.
    "end",
    -- kv (keys and values), rows (a snapshot's), zero (a clear), copy (of another page) or host (from the host tier).
    class,
    -- Of a copy or a load: the page that the bytes come from.
    source_page,
    -- The life of that page.
    source_life,
    -- The position of that page that `first` comes from.
    source_first,
    -- Event at which they were read: the copy itself, or the offload; null when that lies before the history.
    source_seq,
    -- Who wrote it without a launch: host, or external:NAME; null for a launch.
    actor,
    -- The request that it was written for: the one that had the row, or whose state was saved; null where that is none,
    -- or not known, as for a copy.
    request
) AS
SELECT r.seq, r.launch, r.stream, r.page, r.life, r.first, r.end, 'kv', NULL, NULL, NULL, NULL, NULL, r.request
FROM _row_write AS r
UNION ALL
SELECT b.seq, b.launch, b.stream, b.page, b.life, b.first, b.end, b.class, b.source_page, b.source_life, b.source_first,
    b.source_seq, b.actor, b.request
FROM _block_write AS b;
