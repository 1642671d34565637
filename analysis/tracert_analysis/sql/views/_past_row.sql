-- Since when and until when the host meant an entry of a row to name a page. Seqs.
CREATE TABLE _mapped (
    row USMALLINT, generation UINTEGER, index UBIGINT, from_seq UBIGINT, until_seq UBIGINT, page BIGINT,
    life BIGINT
);

INSERT INTO _mapped
SELECT row, generation, index, seq, until_seq, page, life FROM (
    SELECT kind, row, generation, index, seq, page, life,
        lead(seq) OVER (PARTITION BY row, generation, index ORDER BY seq) AS until_seq
    FROM (
        SELECT kind, row, generation, seq,
            index + unnest(range(CASE WHEN len(pages) > 0 THEN len(pages) ELSE 1 END)) AS index,
            unnest(CASE WHEN len(pages) > 0 THEN list_transform(pages, lambda x: x[1]) ELSE [page::BIGINT] END) AS page,
            unnest(CASE WHEN len(pages) > 0 THEN list_transform(pages, lambda x: x[2]) ELSE [life::BIGINT] END) AS life
        FROM _told_page
        WHERE kind IN ('map', 'unmap') AND row IS NOT NULL AND generation IS NOT NULL AND index < 1048576
    )
) WHERE kind = 'map';

-- Entries that launches of one stream followed though the host had not mapped them: the first such launch (`seq`).
-- `fresh` when the tenancy had never mapped the entry: what stands there is whatever was left. `content` is null
-- where nothing was ever published. Only tenancies are judged whose beginning the history has, and as long as no other
-- request has the row, too; and only rows of which maps are told at all. What a guarded kernel followed beyond what its
-- launch was to follow counts as followed. An entry behind the end of the sequence that names a reserved page pads the
-- row, and so does one of a row that was given back; where no publish is told at all, each such entry may.
CREATE TABLE _past_row (
    content UBIGINT, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, request UBIGINT, seq UBIGINT,
    fresh BOOLEAN
);

INSERT INTO _past_row
WITH
    tenancies AS (
        SELECT n.row, n.generation, n.request, n.from_seq, b.from_seq AS until_seq, n.until_seq AS released_seq
        FROM _tenancy AS n LEFT JOIN _two_tenants AS b USING (row, generation)
        WHERE n.row IN (SELECT row FROM _mapped)
            AND EXISTS (FROM _told_page AS e WHERE e.kind = 'row_acquire' AND e.seq = n.from_seq)
    ),
    walked AS (
        SELECT t.content, t.row, t.generation, t.index, t.stream, t.first_seq, t.last_seq
        FROM _touch AS t WHERE t.mode = 'walk'
        UNION ALL
        SELECT NULL, m.row, m.generation, m.index, m.stream, m.seq, m.seq FROM _unpublished AS m
    ),
    open AS (
        SELECT w.*, n.request, n.until_seq, n.released_seq
        FROM walked AS w JOIN tenancies AS n USING (row, generation)
        ANTI JOIN _mapped AS m
            ON w.row = m.row AND w.generation = m.generation AND w.index = m.index
            AND m.from_seq < w.first_seq AND coalesce(m.until_seq > w.last_seq, true)
        WHERE w.first_seq > n.from_seq AND coalesce(w.first_seq < n.until_seq, true)
    ),
    -- Beyond what the launch was to follow: a count that is damaged is not followed to its end.
    guarded AS (
        SELECT c.content, f.row, f.generation, f.index, f.stream, n.request, f.seq
        FROM (
            SELECT *, unnest(range(declared::BIGINT, least(walked, declared + 256)::BIGINT)) AS index
            FROM _followed WHERE walked > declared AND declared < 1048576
        ) AS f
        JOIN tenancies AS n USING (row, generation)
        LEFT JOIN row_content AS c
            ON f.row = c.row AND f.index = c.index AND c.seq < f.seq AND coalesce(c.until_seq > f.seq, true)
        WHERE f.seq > n.from_seq AND coalesce(f.seq < n.until_seq, true)
    ),
    padding AS (
        SELECT content FROM row_content WHERE page IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%')
    ),
    past AS (
        SELECT o.content, o.row, o.generation, o.index, o.stream, o.request, min(u.seq) AS seq
        FROM open AS o
        JOIN _use AS u
            ON o.row = u.row AND o.generation = u.generation AND o.stream = u.stream AND u.walked > o.index
            AND u.seq BETWEEN o.first_seq AND o.last_seq AND coalesce(u.seq < o.until_seq, true)
        ANTI JOIN _mapped AS m
            ON o.row = m.row AND o.generation = m.generation AND o.index = m.index
            AND m.from_seq < u.seq AND coalesce(m.until_seq > u.seq, true)
        LEFT JOIN padding AS d ON o.content = d.content
        CROSS JOIN _window AS w
        CROSS JOIN _tells AS t
        WHERE d.content IS NULL AND (t.publishes OR o.content IS NOT NULL)
            OR u.end > o.index * w.page_size AND coalesce(u.seq < o.released_seq, true)
        GROUP BY ALL
        UNION ALL
        SELECT g.* FROM guarded AS g
        ANTI JOIN _mapped AS m
            ON g.row = m.row AND g.generation = m.generation AND g.index = m.index
            AND m.from_seq < g.seq AND coalesce(m.until_seq > g.seq, true)
    )
SELECT p.*, NOT EXISTS (
    FROM _mapped AS m
    WHERE m.row = p.row AND m.generation = p.generation AND m.index = p.index AND m.from_seq < p.seq
)
FROM past AS p;
