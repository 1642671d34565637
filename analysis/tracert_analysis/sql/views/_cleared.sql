-- Of positions in `_met` that a clear should have reached: the clear of the page for that life that came nearest, where
-- it cleared and what it spared. There is none where no clear of the page ran for that life, after what they met.
CREATE TABLE _spared (
    kind VARCHAR, page UINTEGER, life UINTEGER, seq UBIGINT, first UBIGINT, "end" UBIGINT, clear_seq UBIGINT,
    launch UBIGINT, clear_first UBIGINT, clear_end UBIGINT, told VARCHAR
);

INSERT INTO _spared
SELECT m.kind, m.page, m.life, m.seq, m.first, m.end, x.seq, x.launch, x.first, x.end,
    _launch_named(l.launch, l.kernel, n.name) || ' cleared ' || _positions(x.first, x.end) || ' of page ' || m.page
    || '.' || m.life || ' and left ' || _positions(m.first, m.end)
FROM _met AS m
JOIN _extent AS x
    ON x.source = 'clear' AND x.page = m.page AND x.seq < m.seq AND x.seq > coalesce(m.via_seq, m.origin_seq, 0)
    AND x.first < x.end AND (x.end <= m.first OR x.first >= m.end)
JOIN _act AS l ON x.seq = l.seq
JOIN _stream AS n ON l.stream = n.stream
-- Valid positions must be computed: no clear is missing there.
WHERE m.kind IN ('stale', 'unwritten') AND NOT coalesce(m.meant, false) AND (
        x.life = m.life
        -- When nobody holds a page any more, a clear prepares its next life.
        OR x.life + 1 = m.life AND EXISTS (
            FROM _unheld AS u WHERE u.page = x.page AND u.life = x.life AND u.from_seq < x.seq
        )
    )
QUALIFY row_number() OVER (
    PARTITION BY m.kind, m.page, m.life, m.seq, m.first ORDER BY x.end = m.first OR x.first = m.end DESC, x.seq DESC
) = 1;

-- Clears that wiped what somebody reads, each with the positions that it clears. `reaches` tells that the act which had
-- put them there put more there, which the clear leaves: then it is its range that is wrong, not its place.
CREATE TABLE _wiping (
    page UINTEGER, life UINTEGER, clear_seq UBIGINT, early_seq UBIGINT, first UBIGINT, "end" UBIGINT,
    wiped_first UBIGINT, wiped_end UBIGINT, reaches BOOLEAN
);

INSERT INTO _wiping
SELECT m.page, m.life, m.clear_seq, m.early_seq, x.first, x.end, min(m.first) OVER met, max(m.end) OVER met, EXISTS (
        FROM byte_write AS b
        WHERE b.seq = m.early_seq AND b.page = m.page AND b.life = m.life AND (b.first < x.first OR b.end > x.end)
    )
FROM (
    SELECT clear_page AS page, clear_life AS life, clear_seq, coalesce(via_seq, origin_seq) AS early_seq,
        clear_first AS first, clear_first + "end" - first AS "end"
    FROM _met WHERE kind = 'wiped'
) AS m
JOIN _extent AS x
    ON x.source = 'clear' AND x.seq = m.clear_seq AND x.page = m.page AND x.life = m.life
    AND x.first <= m.first AND m.end <= x.end
-- By several readers: what they miss together.
WINDOW met AS (PARTITION BY m.page, m.life, m.clear_seq, x.first, x.end)
QUALIFY row_number() OVER (PARTITION BY m.page, m.life, m.clear_seq ORDER BY x.first, x.end, m.first, m.end) = 1;
