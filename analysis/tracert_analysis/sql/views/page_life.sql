-- Holds that take a free page up again, in the life that it had: it is still cached, and was hit. Where the history
-- tells of no insert at all, or not of the life's beginning, what was not evicted may be cached. A life is over for
-- good when the next one was granted.
CREATE TABLE _taken_up (page UINTEGER, life UINTEGER, seq UBIGINT);

INSERT INTO _taken_up
WITH held AS (
    SELECT DISTINCT h.page, h.life, h.from_seq AS seq, g.begun
    FROM holding AS h
    JOIN (
        SELECT page, life, min(seq) FILTER (kind IN ('retire', 'free')) AS seq, bool_or(kind = 'alloc') AS begun
        FROM _page_event GROUP BY page, life
    ) AS g ON h.page = g.page AND h.life = g.life AND h.from_seq > g.seq
)
SELECT h.page, h.life, h.seq
FROM held AS h ASOF LEFT JOIN _kept AS k ON h.page = k.page AND h.life = k.life AND h.seq > k.seq
ASOF LEFT JOIN (SELECT page, life, seq FROM _page_event WHERE kind = 'alloc') AS n ON h.page = n.page AND h.seq > n.seq
CROSS JOIN _tells AS t
WHERE (k.kind = 'insert' OR k.kind IS NULL AND NOT (h.begun AND t.inserts)) AND coalesce(n.life <= h.life, true);

-- The lives of each page: from the grant until the page is free again. A page that is taken up again while it is free,
-- for it is still cached, goes on in its life.
CREATE TABLE page_life (
    -- The page.
    page UINTEGER,
    -- The life; each grant starts one.
    life UINTEGER,
    -- Event that granted it; null when that lies before the history.
    alloc_seq UBIGINT,
    -- Who it was granted to; null when that lies before the history, which then knows only who held it.
    owner VARCHAR,
    -- Event that retired it, for good: nobody holds it, a fence still guards it.
    retire_seq UBIGINT,
    -- The fence that guards it.
    fence UBIGINT,
    -- Event that freed it, for good.
    free_seq UBIGINT,
    -- From here on its holders are known; null when they never are.
    known_from UBIGINT,
    -- Event since which nobody holds it: the last drop, its retirement or its release; null while it is held.
    unheld_seq UBIGINT
);

INSERT INTO page_life
WITH
    folded AS (
        SELECT
            page,
            life,
            min(seq) FILTER (kind = 'alloc') AS alloc_seq,
            -- What is reserved was so from the start.
            arg_min(holder, seq) FILTER (
                kind = 'alloc' AND holder IS NOT NULL OR kind = 'keyframe' AND holder LIKE 'reserved:%'
            ) AS owner,
            max(seq) FILTER (kind = 'retire' AND ends) AS retire_seq,
            arg_max(fence, seq) FILTER (kind = 'retire' AND ends) AS fence,
            min(seq) FILTER (kind = 'free' AND ends) AS free_seq,
            min(seq) FILTER (kind IN ('alloc', 'keyframe')) AS known_from,
            min(seq) FILTER (kind IN ('retire', 'free') AND ends) AS gone_seq
        FROM (
            SELECT e.*, coalesce(e.seq > t.seq, true) AS ends
            FROM _page_event AS e
            LEFT JOIN (SELECT page, life, max(seq) AS seq FROM _taken_up GROUP BY page, life) AS t USING (page, life)
        )
        GROUP BY page, life
    ),
    held AS (
        SELECT page, life, max(until_seq) AS until_seq, bool_or(until_seq IS NULL) AS open
        FROM holding GROUP BY page, life
    )
SELECT
    f.page, f.life, f.alloc_seq, f.owner, f.retire_seq, f.fence, f.free_seq, f.known_from,
    least(
        f.gone_seq,
        CASE WHEN f.known_from IS NOT NULL AND NOT coalesce(h.open, false) THEN coalesce(h.until_seq, f.known_from) END
    )
FROM folded AS f LEFT JOIN held AS h USING (page, life)
ORDER BY f.page, f.life;

-- When nobody holds a life: before its grant, between the last drop and the next hold, and once it was retired or
-- freed, whoever may hold it then, until it is taken up again. Only where that is known.
CREATE TABLE _unheld (page UINTEGER, life UINTEGER, from_seq UBIGINT, until_seq UBIGINT);

INSERT INTO _unheld
WITH
    steps AS (
        SELECT h.page, h.life, h.from_seq AS seq, 1 AS step FROM holding AS h
        UNION ALL
        SELECT h.page, h.life, h.until_seq, -1 FROM holding AS h WHERE h.until_seq IS NOT NULL
        UNION ALL
        SELECT p.page, p.life, p.known_from, 0 FROM page_life AS p
    ),
    summed AS (
        SELECT page, life, seq, sum(sum(step)) OVER by_life AS held, lead(seq) OVER by_life AS until_seq
        FROM steps WHERE seq IS NOT NULL GROUP BY page, life, seq
        WINDOW by_life AS (PARTITION BY page, life ORDER BY seq)
    )
SELECT s.page, s.life, s.seq, s.until_seq
FROM summed AS s JOIN page_life AS p USING (page, life)
WHERE s.held <= 0 AND s.seq >= p.known_from
UNION ALL
SELECT e.page, e.life, min(e.seq), t.seq
FROM (FROM _page_event WHERE kind IN ('retire', 'free')) AS e
ASOF LEFT JOIN _taken_up AS t ON e.page = t.page AND e.life = t.life AND e.seq < t.seq
GROUP BY e.page, e.life, t.seq
UNION ALL
SELECT p.page, p.life, 0, p.alloc_seq FROM page_life AS p, _window AS w
WHERE p.alloc_seq IS NOT NULL OR p.known_from IS NULL AND w.complete;
