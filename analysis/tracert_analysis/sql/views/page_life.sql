-- The lives of each page: from the grant until the page is free again.
CREATE TABLE page_life (
    -- The page.
    page UINTEGER,
    -- The life; each grant starts one.
    life UINTEGER,
    -- Event that granted it; null when that lies before the history.
    alloc_seq UBIGINT,
    -- Who it was granted to, or the first holder that a keyframe knew.
    owner VARCHAR,
    -- Event that retired it: nobody holds it, a fence still guards it.
    retire_seq UBIGINT,
    -- The fence that guards it.
    fence UBIGINT,
    -- Event that freed it.
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
            arg_min(holder, seq) FILTER (kind IN ('alloc', 'keyframe') AND holder IS NOT NULL) AS owner,
            max(seq) FILTER (kind = 'retire') AS retire_seq,
            arg_max(fence, seq) FILTER (kind = 'retire') AS fence,
            min(seq) FILTER (kind = 'free') AS free_seq,
            min(seq) FILTER (kind IN ('alloc', 'keyframe')) AS known_from,
            max(seq) FILTER (kind IN ('alloc', 'hold')) AS held_seq,
            max(seq) FILTER (kind = 'drop' OR kind = 'keyframe' AND holder IS NULL) AS dropped_seq,
            count(*) FILTER (known AND (kind IN ('alloc', 'hold') OR kind = 'keyframe' AND holder IS NOT NULL)) AS holds,
            count(*) FILTER (known AND kind = 'drop') AS drops
        FROM _page_event GROUP BY page, life
    )
SELECT
    page, life, alloc_seq, owner, retire_seq, fence, free_seq, known_from,
    least(
        free_seq,
        CASE WHEN retire_seq > coalesce(held_seq, 0) THEN retire_seq END,
        CASE WHEN known_from IS NOT NULL AND drops >= holds THEN dropped_seq END
    )
FROM folded ORDER BY page, life;
