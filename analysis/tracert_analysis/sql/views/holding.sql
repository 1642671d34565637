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
    )
SELECT g.page, g.life, g.holder, g.mode, g.seq, CASE WHEN d.seq > g.seq THEN d.seq END
FROM granted AS g LEFT JOIN dropped AS d USING (page, life, holder, n)
ORDER BY g.page, g.life, g.seq, g.place;
