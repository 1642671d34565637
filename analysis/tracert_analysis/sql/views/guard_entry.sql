-- What guarded kernels found in entries that the host had not meant so, and what had been published there.
CREATE TABLE _guarded (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, row USMALLINT, generation UINTEGER, request UBIGINT, index UBIGINT,
    page BIGINT, content UBIGINT, published_page BIGINT, published_life BIGINT, differs BOOLEAN
);

INSERT INTO _guarded
WITH told AS (
    SELECT launch, row, generation, unnest(entries) AS x FROM _told_rest
    WHERE kind = 'guard' AND row IS NOT NULL AND generation IS NOT NULL AND len(entries) > 0
)
SELECT
    l.seq, l.launch, l.stream, t.row, t.generation, n.request, t.x[1],
    -- A page below 0 is told by its 32 bits.
    CASE WHEN t.x[2] >= 2147483648 THEN t.x[2] - 4294967296 ELSE t.x[2] END,
    c.content, c.page, c.life,
    CASE
        WHEN c.page IS NOT NULL THEN c.page <> t.x[2]
        -- At the start the table holds zeros.
        WHEN w.complete AND a.publishes THEN t.x[2] <> 0
    END
FROM told AS t
JOIN launch AS l ON t.launch = l.launch AND l.kind = 'launch'
LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
LEFT JOIN row_content AS c
    ON t.row = c.row AND t.x[1] = c.index AND c.seq < l.seq AND coalesce(c.until_seq > l.seq, true)
CROSS JOIN _window AS w
CROSS JOIN _tells AS a
WHERE len(t.x) = 2 AND t.x[1] BETWEEN 0 AND 1048575;

-- How many entries of a row a guarded kernel followed, beside how many its launch was to follow.
CREATE TABLE _followed (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, row USMALLINT, generation UINTEGER, request UBIGINT,
    declared UBIGINT, walked UBIGINT
);

INSERT INTO _followed
SELECT u.seq, u.launch, u.stream, u.row, u.generation, u.request, u.walked, e.walked
FROM _told_rest AS e
JOIN _use AS u ON e.launch = u.launch AND e.row = u.row AND e.generation = u.generation
WHERE e.kind = 'guard' AND e.walked IS NOT NULL;

-- Entries of rows as guarded kernels found them (`--guard`): those that are not what the host had the row name, or that
-- name no page. Beside each stands what had been published there, in program order.
CREATE VIEW guard_entry (
    -- Event of the launch.
    seq,
    -- The launch.
    launch,
    -- Its stream.
    stream,
    -- The row of the block table.
    row,
    -- The row's generation.
    generation,
    -- The request that had the row.
    request,
    -- The entry.
    index,
    -- What the entry named when the kernel followed it; outside 1 to the last page of the pool it was left alone.
    page,
    -- Number of what had been published there, as in `row_content`; null when nothing is known to have been.
    content,
    -- The page that had been published there.
    published_page,
    -- Its life.
    published_life,
    -- The kernel found what the history does not say it should; null when the history does not say what, or lacks
    -- events that could have said otherwise.
    differs
) AS
SELECT
    g.seq, g.launch, g.stream, g.row, g.generation, g.request, g.index, g.page, g.content, g.published_page,
    g.published_life, CASE WHEN NOT w.holes THEN g.differs WHEN NOT g.differs THEN false END
FROM _guarded AS g CROSS JOIN _window AS w;
