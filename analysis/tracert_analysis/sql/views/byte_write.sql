-- Pages that came back from the host tier, each with the page that was offloaded to the slot last before.
CREATE TABLE _load (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, slot BIGINT, page BIGINT, life BIGINT,
    source_page BIGINT, source_life BIGINT, source_seq UBIGINT
);

INSERT INTO _load
WITH moved AS (
    SELECT seq, kind, launch, stream, e[1] AS slot, e[2] AS page, e[3] AS life
    FROM (
        SELECT seq, kind, launch, stream, unnest(entries) AS e FROM event
        WHERE kind IN ('offload', 'load') AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
    ) WHERE len(e) = 3
)
SELECT l.seq, l.launch, l.stream, l.slot, l.page, l.life, o.page, o.life, o.seq
FROM (FROM moved WHERE kind = 'load') AS l
ASOF LEFT JOIN (FROM moved WHERE kind = 'offload') AS o ON l.slot = o.slot AND l.seq > o.seq;

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
SELECT
    u.seq, u.launch, u.stream, t.page, t.life,
    CASE WHEN u.start < t.index * w.page_size THEN 0 ELSE u.start - t.index * w.page_size END::BIGINT,
    least(u.end - t.index * w.page_size, w.page_size)::BIGINT,
    'kv', NULL, NULL, NULL, NULL, NULL, u.request
FROM _touch AS t
JOIN _use AS u
    ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
    AND u.seq BETWEEN t.first_seq AND t.last_seq
CROSS JOIN _window AS w
WHERE t.mode = 'write' AND u.end > u.start AND u.start < (t.index + 1) * w.page_size AND u.end > t.index * w.page_size
UNION ALL
SELECT
    x.seq, x.launch, CASE WHEN x.launch IS NOT NULL THEN x.stream END, x.page, x.life, x.first::BIGINT, x.end::BIGINT,
    CASE WHEN x.source = 'clear' THEN 'zero' WHEN l.class = 'rows' THEN 'rows' ELSE 'kv' END, NULL, NULL, NULL, NULL,
    x.actor, s.request
FROM _extent AS x
LEFT JOIN launch AS l ON x.seq = l.seq
LEFT JOIN (
    SELECT launch, any_value(request) AS request FROM event WHERE kind = 'snapshot_save' AND launch IS NOT NULL
    GROUP BY launch HAVING count(DISTINCT request) = 1
) AS s ON l.launch = s.launch
WHERE x.mode = 'write' AND x.source IN ('extent', 'clear')
UNION ALL
SELECT c.seq, c.launch, c.stream, c.t[1], c.t[2], c.t[3], c.t[4], 'copy', c.s[1], c.s[2], c.s[3], c.seq, NULL, NULL
FROM (
    SELECT seq, launch, stream, unnest(source) AS s, unnest(target) AS t FROM event
    WHERE kind = 'copy' AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
) AS c
WHERE len(c.s) = 4 AND len(c.t) = 4
UNION ALL
SELECT l.seq, l.launch, l.stream, l.page, l.life, 0, w.page_size::BIGINT, 'host', l.source_page, l.source_life, 0,
    l.source_seq, NULL, NULL
FROM _load AS l CROSS JOIN _window AS w
UNION ALL
SELECT
    e.seq, e.launch, e.stream,
    unnest(range(least(coalesce(e.page_count, 0), coalesce(w.kv_pages, 0), 16777216)::BIGINT)),
    0, 0, w.page_size::BIGINT, 'zero', NULL, NULL, NULL, NULL, NULL, NULL
FROM event AS e, _window AS w
WHERE e.kind = 'clear' AND e.all AND e.launch IS NOT NULL AND e.stream IS NOT NULL AND e.ordinal IS NOT NULL;
