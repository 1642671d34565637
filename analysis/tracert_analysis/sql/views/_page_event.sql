-- Every act on a page's life, one row a page; a keyframe that stands in for a lost beginning counts as one act a
-- holder. `known` tells whether the state before the act is known: it is when the history saw the life begin, or
-- knew the page from a keyframe by then. `place` is a holder's among those of a keyframe, which lists them in the order
-- in which they took the page.
CREATE TABLE _page_event (
    seq UBIGINT, kind kind, page UINTEGER, life UINTEGER, holder VARCHAR, mode VARCHAR, fence UBIGINT, known BOOLEAN,
    place UBIGINT
);

INSERT INTO _page_event
WITH
    listed AS (
        SELECT seq, kind, holder, mode, fence, unnest(coalesce(pages, [[page::BIGINT, life::BIGINT]])) AS x
        FROM _told_page WHERE kind IN ('alloc', 'hold', 'drop', 'retire', 'free')
    ),
    acts AS (
        SELECT seq, kind, TRY_CAST(x[1] AS UINTEGER) AS page, TRY_CAST(x[2] AS UINTEGER) AS life, holder,
            CASE kind WHEN 'alloc' THEN 'write' ELSE mode END AS mode, fence
        FROM listed
    ),
    begun AS (SELECT DISTINCT page, life FROM acts WHERE kind = 'alloc'),
    framed AS (
        SELECT e.set, unnest(coalesce(
            e.keyframe_pages, [{'page': e.page, 'life': e.life, 'state': e.state, 'holders': e.holders}]
        )) AS k
        FROM _told_rest AS e, _window AS w WHERE e.kind = 'keyframe' AND e.set = w.base_set
    ),
    base AS (
        SELECT k.page AS page, k.life AS life, k.state AS state,
            unnest(CASE WHEN len(k.holders) > 0 THEN k.holders ELSE [NULL] END) AS holder,
            unnest(range(greatest(coalesce(len(k.holders), 0), 1))) AS place
        FROM framed WHERE NOT EXISTS (FROM begun AS b WHERE b.page = k.page AND b.life = k.life)
    )
SELECT
    a.seq, a.kind, a.page, a.life, a.holder, a.mode, a.fence,
    b.page IS NOT NULL OR coalesce(a.seq >= w.known_from, false), NULL
FROM acts AS a LEFT JOIN begun AS b USING (page, life), _window AS w
WHERE a.page IS NOT NULL AND a.life IS NOT NULL
UNION ALL
SELECT w.known_from, 'keyframe', b.page, b.life, split_part(b.holder, '/', 1), split_part(b.holder, '/', 2), NULL, true,
    b.place
FROM base AS b, _window AS w
WHERE b.page IS NOT NULL AND b.life IS NOT NULL;
