-- Entries that launches of one stream followed to another page than the host ever mapped there for the row's request:
-- the first such launch (`seq`), and the last of those maps. `content` is what stands in the entry. Only tenancies are
-- judged whose beginning the history has, and as long as no other request has the row, too.
CREATE TABLE _misplaced (
    content UBIGINT, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, request UBIGINT, page BIGINT,
    life BIGINT, seq UBIGINT, map_seq UBIGINT, map_page BIGINT, map_life BIGINT
);

INSERT INTO _misplaced
WITH
    followed AS (
        SELECT t.content, t.row, t.generation, t.index, t.stream, t.page, t.life, t.first_seq, t.last_seq, n.request,
            n.from_seq, least(coalesce(b.from_seq, t.last_seq + 1), coalesce(n.until_seq, t.last_seq + 1)) AS until_seq
        FROM _touch AS t
        JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        JOIN row_content AS c USING (content)
        LEFT JOIN _two_tenants AS b ON t.row = b.row AND t.generation = b.generation
        CROSS JOIN _window AS w
        -- Whenever: a host may publish first and tell of the map then.
        ANTI JOIN _mapped AS m
            ON t.row = m.row AND t.generation = m.generation AND t.index = m.index
            AND coalesce(t.page = m.page, true) AND coalesce(t.life = m.life, true)
        WHERE t.mode = 'walk' AND t.page >= 0 AND t.page < coalesce(w.kv_pages, 4294967296)
            AND t.page NOT IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%')
            AND EXISTS (FROM _told_page AS e WHERE e.kind = 'row_acquire' AND e.seq = n.from_seq)
            -- What another tenant publishes meanwhile is not for want of a publish.
            AND (t.generation = t.published_generation OR c.seq < n.from_seq)
    ),
    -- Since when something else is meant.
    since AS (
        SELECT f.content, f.generation, f.stream, min(m.from_seq) AS seq
        FROM followed AS f
        JOIN _mapped AS m ON f.row = m.row AND f.generation = m.generation AND f.index = m.index
        GROUP BY ALL
    ),
    dated AS (
        SELECT f.*, min(u.seq) AS seq
        FROM followed AS f
        JOIN since AS s USING (content, generation, stream)
        JOIN _use AS u
            ON f.row = u.row AND f.generation = u.generation AND f.stream = u.stream AND u.walked > f.index
            AND u.seq BETWEEN f.first_seq AND f.last_seq AND u.seq > s.seq AND u.seq < f.until_seq
        GROUP BY ALL
    )
SELECT d.content, d.row, d.generation, d.index, d.stream, d.request, d.page, d.life, d.seq, m.from_seq, m.page, m.life
FROM dated AS d
ASOF JOIN _mapped AS m ON d.row = m.row AND d.generation = m.generation AND d.index = m.index AND d.seq > m.from_seq;
