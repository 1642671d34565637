-- A holder gives back only what it holds, and a page is released once, when nobody holds it.
WITH
    counted AS (
        SELECT
            *,
            sum(CASE kind WHEN 'drop' THEN -1 ELSE 1 END) OVER (
                PARTITION BY page, life, holder ORDER BY seq ROWS UNBOUNDED PRECEDING
            ) AS held
        FROM _page_event WHERE known AND kind IN ('alloc', 'hold', 'drop', 'keyframe') AND holder IS NOT NULL
    ),
    released AS (
        -- What was taken up again is free once more.
        SELECT e.*, row_number() OVER (PARTITION BY e.page, e.life, e.kind, t.seq ORDER BY e.seq) AS times
        FROM (FROM _page_event WHERE known AND kind IN ('retire', 'free')) AS e
        ASOF LEFT JOIN _taken_up AS t ON e.page = t.page AND e.life = t.life AND e.seq > t.seq
    ),
    broken AS (
        SELECT seq, page, life, holder, 'drop' AS act, NULL AS still FROM counted WHERE kind = 'drop' AND held < 0
        UNION ALL
        SELECT r.seq, r.page, r.life, NULL, r.kind::VARCHAR, min(h.holder)
        FROM released AS r
        JOIN holding AS h
            ON r.page = h.page AND r.life = h.life AND h.from_seq < r.seq AND coalesce(h.until_seq > r.seq, true)
        GROUP BY r.seq, r.page, r.life, r.kind
        UNION ALL
        SELECT r.seq, r.page, r.life, NULL, 'again', NULL
        FROM released AS r WHERE r.kind = 'free' AND r.times > 1
    ),
    first_broken AS (
        SELECT * FROM broken QUALIFY row_number() OVER (PARTITION BY page, life ORDER BY seq, act) = 1
    )
SELECT
    'TR203' AS code,
    'double-free' AS name,
    b.seq,
    'lifetime' AS class,
    _confidence(false, w.holes) AS confidence,
    CASE b.act
        WHEN 'drop' THEN b.holder || ' gives back page ' || b.page || '.' || b.life || ', which it does not hold'
        WHEN 'again' THEN 'page ' || b.page || '.' || b.life || ' is freed a second time'
        WHEN 'free' THEN 'page ' || b.page || '.' || b.life || ' is freed while ' || b.still || ' holds it'
        ELSE 'page ' || b.page || '.' || b.life || ' is retired while ' || b.still || ' holds it'
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    NULL AS row,
    NULL AS generation,
    CASE
        WHEN b.holder LIKE 'request:%' THEN TRY_CAST(split_part(b.holder, ':', 2) AS UBIGINT)
        WHEN b.still LIKE 'request:%' THEN TRY_CAST(split_part(b.still, ':', 2) AS UBIGINT)
    END AS request,
    NULL AS launch,
    NULL AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    coalesce(p.unheld_seq, p.alloc_seq) AS other_seq
FROM first_broken AS b LEFT JOIN page_life AS p ON b.page = p.page AND b.life = p.life
CROSS JOIN _window AS w
