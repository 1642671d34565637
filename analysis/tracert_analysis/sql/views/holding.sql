-- Holders of a life in both modes: the hold that they give back is the one that the drop names.
CREATE TABLE _twofold (page UINTEGER, life UINTEGER, holder VARCHAR);

INSERT INTO _twofold
SELECT page, life, holder FROM _page_event WHERE kind IN ('alloc', 'hold', 'keyframe') AND holder IS NOT NULL
GROUP BY page, life, holder HAVING min(mode) <> max(mode);

-- What those hold.
CREATE TABLE _held_apart (
    page UINTEGER, life UINTEGER, holder VARCHAR, mode VARCHAR, from_seq UBIGINT, until_seq UBIGINT, place UBIGINT
);

INSERT INTO _held_apart
WITH
    -- Where a keyframe tells who holds a life, what came before it counts no more.
    framed AS (SELECT DISTINCT page, life FROM _page_event WHERE kind = 'keyframe'),
    acts AS (
        SELECT *, row_number() OVER () AS act,
            row_number() OVER (PARTITION BY page, life, holder, mode, kind = 'drop' ORDER BY seq, place) AS n
        FROM (FROM _page_event AS e SEMI JOIN _twofold USING (page, life, holder)) AS e
        ANTI JOIN framed AS f ON NOT e.known AND e.page = f.page AND e.life = f.life
        WHERE kind IN ('alloc', 'hold', 'keyframe', 'drop')
    ),
    named AS (
        SELECT g.act, d.act AS drop_act, d.seq AS until_seq
        FROM (FROM acts WHERE kind <> 'drop') AS g
        JOIN (FROM acts WHERE kind = 'drop') AS d USING (page, life, holder, mode, n)
        WHERE d.seq > g.seq
    ),
    -- What is left pairs as it comes: a drop may name no mode, or one in which nothing is held. The hold of one may lie
    -- before the history, too.
    granted AS (
        SELECT *, row_number() OVER (PARTITION BY page, life, holder ORDER BY seq, place) AS other
        FROM acts WHERE kind <> 'drop' AND act NOT IN (SELECT act FROM named)
    ),
    dropped AS (
        SELECT *, row_number() OVER (PARTITION BY page, life, holder ORDER BY seq) AS other
        FROM acts
        WHERE kind = 'drop' AND (known OR mode IS NULL) AND act NOT IN (SELECT drop_act FROM named)
    ),
    paired AS (
        SELECT act, until_seq FROM named
        UNION ALL
        SELECT g.act, d.seq FROM granted AS g JOIN dropped AS d USING (page, life, holder, other)
        WHERE d.seq > g.seq
    )
SELECT a.page, a.life, a.holder, a.mode, a.seq, p.until_seq, a.place
FROM acts AS a LEFT JOIN paired AS p USING (act) WHERE a.kind <> 'drop';

-- Who held which life of a page, from when until when.
CREATE TABLE holding (
    -- The page.
    page UINTEGER,
    -- The life.
    life UINTEGER,
    -- KIND:NUMBER, such as request:17 or prefix:3.
    holder VARCHAR,
    -- What the holder may do: write the page, or read what others share. It says of no act; `access` does.
    mode VARCHAR,
    -- Event since which it is held; where it was held before the history already, the keyframe that knew it.
    from_seq UBIGINT,
    -- Event that gave it back; null while it is held.
    until_seq UBIGINT
);

INSERT INTO holding
WITH
    -- Where a keyframe tells who holds a life, what came before it counts no more.
    framed AS (SELECT DISTINCT page, life FROM _page_event WHERE kind = 'keyframe'),
    counted AS (FROM _page_event AS e ANTI JOIN framed AS f ON NOT e.known AND e.page = f.page AND e.life = f.life),
    granted AS (
        SELECT *, row_number() OVER (PARTITION BY page, life, holder ORDER BY seq) AS n
        FROM counted WHERE kind IN ('alloc', 'hold', 'keyframe') AND holder IS NOT NULL
    ),
    dropped AS (
        SELECT *, row_number() OVER (PARTITION BY page, life, holder ORDER BY seq) AS n
        FROM counted AS d
        -- A drop whose hold lies before the history pairs with no later one.
        WHERE kind = 'drop' AND (known OR EXISTS (
            FROM granted AS g WHERE g.page = d.page AND g.life = d.life AND g.holder = d.holder AND g.seq < d.seq
        ))
    ),
    -- Where no holder is ever told to come or go, it is the release that gives a page back.
    freed AS (
        SELECT e.page, e.life, min(e.seq) AS seq FROM _page_event AS e, _tells AS t
        WHERE e.kind = 'free' AND NOT t.counts GROUP BY e.page, e.life
    )
SELECT page, life, holder, mode, from_seq, until_seq FROM (
    SELECT g.page, g.life, g.holder, g.mode, g.seq AS from_seq,
        CASE WHEN d.seq > g.seq THEN d.seq WHEN f.seq > g.seq THEN f.seq END AS until_seq, g.place
    FROM granted AS g LEFT JOIN dropped AS d USING (page, life, holder, n) LEFT JOIN freed AS f USING (page, life)
    ANTI JOIN _twofold AS t ON g.page = t.page AND g.life = t.life AND g.holder = t.holder
    UNION ALL
    FROM _held_apart
)
ORDER BY page, life, from_seq, place;
