-- Launches whose explicit reads are of state rows: those that restored a snapshot, and those of class rows that write
-- nothing, for the class tells what a launch writes.
CREATE VIEW _rows_read AS
SELECT seq FROM _told_launch
WHERE kind = 'launch' AND (
    class = 'rows' AND coalesce(len(writes), 0) = 0
    OR launch IN (SELECT launch FROM _told_rest WHERE kind = 'snapshot_restore' AND launch IS NOT NULL)
);

-- Lives of pages in which a launch may have met bytes that it must not, with the first launch that may. All that were
-- met are among them; a history without whole-page kernels, copies and holes has hardly any, and is looked at no more.
CREATE TABLE _doubtful (page UINTEGER, life UINTEGER, seq UBIGINT);

INSERT INTO _doubtful
WITH RECURSIVE
    -- What put bytes into a life by explicit extents.
    put AS (SELECT page, life, first, "end", seq, source FROM _extent WHERE mode = 'write'),
    -- Clears of whole pages.
    zeroed AS (
        SELECT x.page, x.life, x.seq FROM put AS x, _window AS w
        WHERE x.source = 'clear' AND x.first = 0 AND x.end >= w.page_size
        UNION ALL
        SELECT unnest(range(least(coalesce(e.page_count, 0), coalesce(w.kv_pages, 0), 16777216)::BIGINT)), 0, e.seq
        FROM _told_launch AS e, _window AS w WHERE e.kind = 'clear' AND e.all AND e.launch IS NOT NULL
    ),
    touched AS (
        SELECT t.page, t.life, t.first_seq, CASE WHEN t.mode = 'write' THEN t.last_seq END AS dirty_seq
        FROM _touch AS t, _window AS w
        WHERE t.mode <> 'walk' AND t.page >= 0 AND t.page < coalesce(w.kv_pages, 4294967296)
        UNION ALL
        SELECT page, life, seq, CASE WHEN mode = 'write' AND source <> 'clear' THEN seq END FROM _extent
    ),
    lives AS (
        SELECT page, life, min(first_seq) AS first_seq,
            -- The last write of an earlier life.
            max(max(dirty_seq)) OVER (
                PARTITION BY page ORDER BY life ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS dirty_seq
        FROM touched GROUP BY page, life
    ),
    filled AS (SELECT page, life, min(full_seq) AS seq FROM _reading WHERE full_seq IS NOT NULL GROUP BY page, life),
    -- Readers that didn't write all of what they read themselves, nor did another before.
    partial AS (
        SELECT r.* FROM _reading AS r LEFT JOIN filled AS f ON r.page = f.page AND r.life = f.life, _window AS w
        WHERE coalesce(f.seq > r.first_seq, true) AND (r.front > 0 OR r.whole AND r.valid < w.page_size)
    ),
    helped AS (
        SELECT p.page, p.life, p.row, p.index, p.generation, p.stream, p.first_seq, p.front, p.valid, p.whole,
            max(x.end) FILTER (x.first = 0 AND x.source <> 'clear') AS front_end,
            min(x.first) FILTER (x.end >= w.page_size) AS tail
        FROM partial AS p
        LEFT JOIN put AS x ON p.page = x.page AND p.life = x.life AND x.seq < p.first_seq
        CROSS JOIN _window AS w
        GROUP BY ALL
    ),
    blank AS (
        SELECT l.page, l.life, min(z.seq) AS seq
        FROM lives AS l JOIN zeroed AS z ON l.page = z.page AND z.life <= l.life
        WHERE coalesce(z.seq > l.dirty_seq, true)
        GROUP BY l.page, l.life
    ),
    unclear AS (
        SELECT h.* FROM helped AS h
        LEFT JOIN blank AS b ON h.page = b.page AND h.life = b.life
        CROSS JOIN _window AS w
        -- Zeros are clean behind what is valid, and no keys and values before.
        WHERE NOT (h.front = 0 OR coalesce(h.front_end >= h.front, false))
            OR coalesce(b.seq > h.first_seq, true)
            AND NOT (NOT h.whole OR h.valid >= w.page_size OR coalesce(h.tail <= h.valid, false))
    ),
    -- Rows that wrote a page from where something had been put before them, and until where by then.
    asked AS (
        SELECT x.*, CASE WHEN i.seq IS NULL THEN x.seq ELSE x.seq - 1 END AS since_seq
        FROM _extent AS x
        LEFT JOIN _in_place AS i
            ON x.seq = i.seq AND x.page = i.page AND x.life = i.life AND x.first = i.first AND x.end = i.end
        WHERE x.mode = 'read' AND x.life > 0
    ),
    writers AS (
        SELECT r.page, r.life, r.row, r.generation, r.stream, r.index, r.first_seq
        FROM _reading AS r SEMI JOIN asked AS a ON r.page = a.page AND r.life = a.life
        LEFT JOIN put AS x ON r.page = x.page AND r.life = x.life AND x.seq < r.first_seq AND x.first = 0
        GROUP BY r.page, r.life, r.row, r.generation, r.stream, r.index, r.first_seq, r.front
        HAVING r.front = 0 OR max(x.end) >= r.front
    ),
    written AS (
        SELECT a.seq, a.page, a.life, a.index, u.end AS reached
        FROM (
            SELECT a.seq, a.page, a.life, w.row, w.generation, w.stream, w.index
            FROM asked AS a JOIN writers AS w ON a.page = w.page AND a.life = w.life AND w.first_seq < a.seq
        ) AS a
        ASOF JOIN _use AS u
            ON a.row = u.row AND a.generation = u.generation AND a.stream = u.stream AND a.seq > u.seq
    ),
    open_reads AS (
        SELECT a.page, a.life, a.seq, a.source FROM asked AS a
        LEFT JOIN filled AS f ON a.page = f.page AND a.life = f.life
        LEFT JOIN blank AS b ON a.page = b.page AND a.life = b.life
        CROSS JOIN _window AS w
        WHERE coalesce(f.seq > a.since_seq, true) AND (a.source <> 'extent' OR coalesce(b.seq > a.seq, true))
            AND NOT EXISTS (
                FROM put AS x WHERE x.page = a.page AND x.life = a.life AND x.seq <= a.since_seq
                    AND x.first <= a.first AND x.end >= a.end AND (a.source = 'extent' OR x.source <> 'clear')
            )
            AND NOT EXISTS (
                FROM written AS v WHERE v.page = a.page AND v.life = a.life AND v.seq = a.seq
                    AND v.reached >= v.index * w.page_size + a.end
            )
    ),
    passed_on AS (
        SELECT source_page, source_life, source_seq, page, life, seq FROM _moved WHERE source_seq IS NOT NULL
    ),
    -- What came from a slot of the host tier to which nothing had been offloaded.
    unfilled AS (
        SELECT m.page, m.life, m.seq FROM _moved AS m, _window AS w
        WHERE m.slot IS NOT NULL AND m.source_seq IS NULL AND w.complete
    ),
    -- Lives that have state rows, or are read for them.
    with_rows AS (
        SELECT x.page, x.life, min(x.seq) AS seq
        FROM _extent AS x
        JOIN (
            SELECT seq, 'write' AS mode FROM _told_launch WHERE kind = 'launch' AND class = 'rows'
            UNION ALL
            SELECT seq, 'read' FROM _rows_read
        ) AS l ON x.seq = l.seq AND x.mode = l.mode
        WHERE x.source = 'extent' GROUP BY x.page, x.life
    ),
    begun AS (
        SELECT page, life, first_seq AS seq FROM unclear
        UNION
        -- An earlier life's launch wrote after this one had begun.
        SELECT page, life, first_seq FROM lives WHERE dirty_seq > first_seq
        UNION
        SELECT page, life, seq FROM open_reads WHERE source = 'extent'
        UNION
        SELECT p.page, p.life, p.seq FROM open_reads AS o
        JOIN passed_on AS p ON o.page = p.source_page AND o.life = p.source_life AND o.seq = p.source_seq
        WHERE o.source <> 'extent'
        UNION
        -- What a clear wiped.
        SELECT c.page, c.life, c.seq FROM put AS c JOIN put AS x ON c.page = x.page AND c.life = x.life
        WHERE c.source = 'clear' AND x.source <> 'clear' AND x.seq < c.seq AND x.first < c.end AND c.first < x.end
        UNION
        SELECT c.page, c.life, c.seq FROM put AS c JOIN _touch AS t ON c.page = t.page AND c.life = t.life
        WHERE c.source = 'clear' AND t.mode = 'write' AND t.first_seq < c.seq
        UNION
        -- What no launch of a row computed.
        SELECT page, life, seq FROM _skipped
        UNION
        SELECT page, life, seq FROM unfilled
        UNION
        -- Of these, those that have keys and values, too, or pass on what they have.
        SELECT r.page, r.life, r.seq FROM with_rows AS r
        WHERE EXISTS (FROM _touch AS t WHERE t.page = r.page AND t.life = r.life AND t.mode <> 'walk')
            OR EXISTS (
                FROM _extent AS x LEFT JOIN _told_launch AS l ON x.seq = l.seq
                WHERE x.page = r.page AND x.life = r.life AND x.source <> 'clear' AND l.class IS DISTINCT FROM 'rows'
            )
    ),
    reached AS (
        SELECT page, life FROM begun
        UNION
        SELECT p.page, p.life FROM reached AS r JOIN passed_on AS p ON r.page = p.source_page AND r.life = p.source_life
    ),
    looked_at AS (
        SELECT page, life FROM reached
        UNION
        -- Who still reads the life before meets it, too.
        SELECT l.page, l.life FROM lives AS l SEMI JOIN reached AS r ON l.page = r.page WHERE EXISTS (FROM unfilled)
    )
SELECT r.page, r.life, min(coalesce(b.seq, l.first_seq)) AS seq
FROM looked_at AS r
LEFT JOIN begun AS b ON r.page = b.page AND r.life = b.life
LEFT JOIN lives AS l ON r.page = l.page AND r.life = l.life
WHERE r.life > 0 AND r.page NOT IN (SELECT page FROM page_life WHERE owner LIKE 'reserved:%')
GROUP BY r.page, r.life;
