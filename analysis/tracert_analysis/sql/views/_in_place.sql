-- Reads that meet what stood there before the reader itself stored there: a launch of state rows goes on from the state
-- that it replaces, and what a writer without a stream reads and writes it works on in place. A launch of keys and
-- values stores what it computes, and then reads. `wipes`: zeros of a clear over something are wrong there, too; those
-- over a state are what it is reset by, and a new one begins.
CREATE TABLE _in_place (
    seq UBIGINT, page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, wipes BOOLEAN
);

INSERT INTO _in_place
WITH
    explicit AS (
        SELECT x.seq, x.mode, x.page, x.life, x.first, x.end, x.actor
        FROM _extent AS x
        LEFT JOIN (SELECT seq FROM _told_launch WHERE kind = 'launch' AND class = 'rows') AS l ON x.seq = l.seq
        WHERE x.source = 'extent' AND (l.seq IS NOT NULL OR x.actor IS NOT NULL)
    ),
    own AS (FROM explicit WHERE mode = 'write'),
    asked AS (
        SELECT DISTINCT r.seq, r.page, r.life, r.first, r.end, r.actor FROM explicit AS r
        WHERE r.mode = 'read' AND r.life > 0 AND EXISTS (
            FROM own AS x WHERE x.seq = r.seq AND x.page = r.page AND x.first < r.end AND r.first < x.end
        )
    ),
    elsewhere AS (
        SELECT r.seq, h.holder FROM (FROM explicit AS r SEMI JOIN asked AS a ON r.seq = a.seq) AS r
        LEFT JOIN holding AS h
            ON r.page = h.page AND r.life = h.life AND h.from_seq < r.seq AND coalesce(h.until_seq > r.seq, true)
        WHERE r.mode = 'read' AND NOT EXISTS (
            FROM own AS x WHERE x.seq = r.seq AND x.page = r.page AND x.first <= r.first AND x.end >= r.end
        )
    ),
    -- Who reads something else of the same holder, too, may have made the one of the other, and have read that again.
    made AS (
        SELECT a.seq, a.page, a.life
        FROM (FROM asked AS a SEMI JOIN elsewhere AS e ON a.seq = e.seq) AS a
        LEFT JOIN holding AS h
            ON a.page = h.page AND a.life = h.life AND h.from_seq < a.seq AND coalesce(h.until_seq > a.seq, true)
        JOIN elsewhere AS e ON a.seq = e.seq AND coalesce(h.holder = e.holder, true)
    )
SELECT a.seq, a.page, a.life, a.first, a.end, a.actor IS NOT NULL
FROM asked AS a ANTI JOIN made AS m ON a.seq = m.seq AND a.page = m.page AND a.life = m.life;
