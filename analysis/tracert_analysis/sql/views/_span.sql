-- The first and the last launch on one stream that read or wrote one life of a page. Reserved pages have no rules of
-- order: nobody reads what padding leaves there.
CREATE TABLE _span (page UINTEGER, life UINTEGER, mode VARCHAR, stream USMALLINT, first_seq UBIGINT, last_seq UBIGINT);

INSERT INTO _span
WITH
    touched AS (
        SELECT t.page, t.life, t.mode, t.stream, t.first_seq, t.last_seq FROM _touch AS t, _window AS w
        WHERE t.mode <> 'walk' AND t.page >= 0 AND t.page < coalesce(w.kv_pages, 4294967296)
            AND t.life >= 0 AND t.life < 4294967296
        UNION ALL
        SELECT page, life, mode, stream, seq, seq FROM _extent
    )
SELECT page, life, mode, stream, min(first_seq), max(last_seq) FROM touched
WHERE page NOT IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%')
GROUP BY page, life, mode, stream;

-- Launches that touch pages and aren't ordered after every earlier one of another stream that does. All that breaks
-- an order between accesses is among them; a sound history has none, however often its streams take turns.
CREATE TABLE _loose (seq UBIGINT, stream USMALLINT, other_stream USMALLINT);

INSERT INTO _loose
WITH
    touching AS (
        SELECT l.seq, l.stream, l.ordinal, l.clock FROM _act AS l
        SEMI JOIN (SELECT seq FROM _use UNION SELECT seq FROM _extent) AS t ON l.seq = t.seq
    ),
    asked AS (
        SELECT t.seq, t.stream, t.clock, s.stream AS other_stream
        FROM touching AS t JOIN (SELECT DISTINCT stream FROM touching) AS s ON t.stream <> s.stream
    )
-- Where the last launch of a stream is ordered, all before it are.
SELECT a.seq, a.stream, a.other_stream
FROM asked AS a ASOF JOIN touching AS x ON a.other_stream = x.stream AND a.seq > x.seq
WHERE a.clock[x.stream + 1] < x.ordinal;

-- Lives whose accesses must be looked at one by one, for their spans leave open what is ordered. Where nothing is
-- ordered that may be all of them: then those that can break a rule first are enough to say which it was, beside those
-- with which it visibly went wrong.
CREATE TABLE _suspect (page UINTEGER, life UINTEGER);

INSERT INTO _suspect
WITH
    timed AS (
        SELECT s.*, f.ordinal AS first_ordinal, f.clock AS first_clock, l.ordinal AS last_ordinal
        FROM _span AS s JOIN _act AS f ON s.first_seq = f.seq JOIN _act AS l ON s.last_seq = l.seq
    ),
    open AS (
        SELECT a.page, a.life, a.stream, a.first_seq, a.last_seq, b.stream AS other_stream,
            b.first_seq AS other_first_seq, b.last_seq AS other_last_seq
        FROM timed AS a JOIN timed AS b USING (page, life)
        WHERE a.mode = 'write' AND a.stream <> b.stream
            AND b.first_clock[a.stream + 1] < a.last_ordinal AND a.first_clock[b.stream + 1] < b.last_ordinal
    )
SELECT page, life FROM (
    SELECT o.page, o.life, l.seq
    FROM open AS o
    ASOF JOIN _loose AS l ON o.stream = l.stream AND o.other_stream = l.other_stream AND o.first_seq <= l.seq
    WHERE l.seq <= o.last_seq
    UNION ALL
    SELECT o.page, o.life, l.seq
    FROM open AS o
    ASOF JOIN _loose AS l
        ON o.other_stream = l.stream AND o.stream = l.other_stream AND o.other_first_seq <= l.seq
    WHERE l.seq <= o.other_last_seq
    UNION ALL
    SELECT a.page, a.life, l.seq
    FROM _span AS a JOIN _span AS b USING (page)
    JOIN _loose AS l ON b.first_seq = l.seq AND a.stream = l.other_stream
    WHERE a.life < b.life AND a.stream <> b.stream AND a.last_seq > b.first_seq
) GROUP BY page, life ORDER BY (page, life) IN (FROM _struck) DESC, min(seq), page, life LIMIT 1024;

-- The accesses of those lives.
CREATE TABLE _near (
    seq UBIGINT, stream USMALLINT, ordinal UBIGINT, mode VARCHAR, page UINTEGER, life UINTEGER,
    first UBIGINT, "end" UBIGINT, row USMALLINT, generation UINTEGER, clears BOOLEAN
);

INSERT INTO _near
WITH touched AS (
    SELECT t.* FROM _touch AS t SEMI JOIN _suspect AS s ON t.page = s.page AND t.life = s.life WHERE t.mode <> 'walk'
)
SELECT
    u.seq, u.stream, u.ordinal, t.mode, t.page, t.life,
    CASE WHEN t.mode = 'read' THEN 0 ELSE greatest(u.start, t.index * w.page_size) - t.index * w.page_size END,
    CASE
        WHEN t.mode = 'read' AND u.covers = 'page' THEN w.page_size
        ELSE least(u.end, (t.index + 1) * w.page_size) - t.index * w.page_size
    END,
    u.row, u.generation, false
FROM touched AS t
JOIN _use AS u
    ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
    AND u.seq BETWEEN t.first_seq AND t.last_seq
CROSS JOIN _window AS w
WHERE CASE t.mode
    WHEN 'read' THEN u.depth > t.index
    ELSE u.end > u.start AND u.start < (t.index + 1) * w.page_size AND u.end > t.index * w.page_size
END
UNION ALL
SELECT x.seq, x.stream, x.ordinal, x.mode, x.page, x.life, x.first, x.end, NULL, NULL, x.source = 'clear'
FROM _extent AS x SEMI JOIN _suspect AS s ON x.page = s.page AND x.life = s.life;
