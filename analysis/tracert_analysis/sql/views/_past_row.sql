-- Since when and until when the host meant an entry of a row to name a page. Seqs.
CREATE TABLE _mapped (row USMALLINT, generation UINTEGER, index UBIGINT, from_seq UBIGINT, until_seq UBIGINT);

INSERT INTO _mapped
SELECT row, generation, index, seq, until_seq FROM (
    SELECT kind, row, generation, index, seq,
        lead(seq) OVER (PARTITION BY row, generation, index ORDER BY seq) AS until_seq
    FROM (
        SELECT kind, row, generation, seq,
            index + unnest(range(CASE WHEN len(pages) > 0 THEN len(pages) ELSE 1 END)) AS index
        FROM _told_page
        WHERE kind IN ('map', 'unmap') AND row IS NOT NULL AND generation IS NOT NULL AND index < 1048576
    )
) WHERE kind = 'map';

-- Entries that launches of one stream followed though the host had not mapped them: the first such launch (`seq`).
-- `fresh` when the tenancy had never mapped the entry: what stands there is whatever was left. `content` is null
-- where nothing was ever published. Only tenancies are judged whose beginning the history has.
CREATE TABLE _past_row (
    content UBIGINT, row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, request UBIGINT, seq UBIGINT,
    fresh BOOLEAN
);

INSERT INTO _past_row
WITH
    tenancies AS (
        SELECT n.row, n.generation, n.request, n.from_seq FROM _tenancy AS n
        WHERE EXISTS (FROM _mapped)
            AND EXISTS (FROM _told_page AS e WHERE e.kind = 'row_acquire' AND e.seq = n.from_seq)
    ),
    walked AS (
        SELECT t.content, t.row, t.generation, t.index, t.stream, t.first_seq, t.last_seq
        FROM _touch AS t WHERE t.mode = 'walk'
        UNION ALL
        SELECT NULL, m.row, m.generation, m.index, m.stream, m.seq, m.seq FROM _unpublished AS m
    ),
    open AS (
        SELECT w.*, n.request
        FROM walked AS w JOIN tenancies AS n USING (row, generation)
        ANTI JOIN _mapped AS m
            ON w.row = m.row AND w.generation = m.generation AND w.index = m.index
            AND m.from_seq < w.first_seq AND coalesce(m.until_seq > w.last_seq, true)
        WHERE w.first_seq > n.from_seq
    ),
    past AS (
        SELECT o.content, o.row, o.generation, o.index, o.stream, o.request, min(u.seq) AS seq
        FROM open AS o
        JOIN _use AS u
            ON o.row = u.row AND o.generation = u.generation AND o.stream = u.stream AND u.walked > o.index
            AND u.seq BETWEEN o.first_seq AND o.last_seq
        ANTI JOIN _mapped AS m
            ON o.row = m.row AND o.generation = m.generation AND o.index = m.index
            AND m.from_seq < u.seq AND coalesce(m.until_seq > u.seq, true)
        GROUP BY ALL
    )
SELECT p.*, NOT EXISTS (
    FROM _mapped AS m
    WHERE m.row = p.row AND m.generation = p.generation AND m.index = p.index AND m.from_seq < p.seq
)
FROM past AS p;
