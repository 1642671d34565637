-- Which acts the history tells of at all. Where it has none of a kind, its engine may not tell of them, and what rests
-- on them is unknown. One row.
CREATE TABLE _tells AS
SELECT
    coalesce(bool_or(kind IN ('alloc', 'keyframe')), false) AS grants,
    -- Holders are counted: pages are shared and given back as somebody says so.
    coalesce(bool_or(kind IN ('hold', 'drop', 'retire')), false) AS counts,
    coalesce(bool_or(kind = 'free'), false) AS frees,
    coalesce(bool_or(kind = 'publish'), false) AS publishes,
    coalesce(bool_or(kind = 'insert'), false) AS inserts,
    -- Launches use rows, and what those name is never told: they may have stored anywhere.
    NOT coalesce(bool_or(kind IN ('publish', 'keyframe_row')), false)
        AND EXISTS (FROM _told_launch WHERE len(uses) > 0) AS blind
FROM _seen;
