-- Of every page, who held it and what wrote it last before an event, and the fence behind that; null asks for the end.
-- The event may be a column of another table: it is looked up where no name of these queries stands in its way.

-- The last life that was granted or held by then, and its last holder. One row a page.
CREATE MACRO _last_owners(before) AS TABLE
WITH
    _asked AS (SELECT before::UBIGINT AS _before),
    told AS (
        SELECT p.page, p.life, p.owner, h.holder, h.mode, h.from_seq,
            CASE WHEN coalesce(h.until_seq < a._before, true) THEN h.until_seq END AS until_seq,
            CASE WHEN h.from_seq = w.known_from AND NOT w.complete THEN 'keyframe' ELSE 'history' END AS source,
            -- Of those that a keyframe knew, the one that it lists last took the page last.
            h.rowid AS place
        FROM page_life AS p CROSS JOIN _asked AS a CROSS JOIN _window AS w
        LEFT JOIN holding AS h ON p.page = h.page AND p.life = h.life AND coalesce(h.from_seq < a._before, true)
        WHERE (p.owner IS NOT NULL OR h.holder IS NOT NULL)
            AND coalesce(least(p.known_from, h.from_seq) < a._before, true)
        UNION ALL
        SELECT s.page, s.life, NULL, s.holder, NULL, s.alloc_seq, s.freed_seq, 'page_state', NULL
        FROM page_state AS s, _asked AS a WHERE s.holder IS NOT NULL AND a._before IS NULL
    )
SELECT t.* EXCLUDE (place) FROM told AS t
QUALIFY row_number() OVER (
    -- Where the end of the history is cut off, the last facts may be of a later life.
    PARTITION BY t.page ORDER BY t.life DESC, t.source = 'page_state', t.from_seq DESC NULLS LAST, t.place DESC
) = 1;

-- The last write by then, of all positions. One row a page.
CREATE MACRO _last_writes(before) AS TABLE
WITH
    _asked AS (SELECT before::UBIGINT AS _before),
    written AS (
        SELECT t.page, t.life, t.row, t.generation, t.index, t.last_seq AS seq, NULL AS first, NULL AS "end",
            NULL AS class
        FROM _touch AS t, _asked AS a WHERE t.mode = 'write' AND coalesce(t.last_seq < a._before, true)
        UNION ALL
        -- Of a run that goes on, what had been launched by then.
        SELECT t.page, t.life, t.row, t.generation, t.index, max(u.seq), NULL, NULL, NULL
        FROM _asked AS a
        JOIN _touch AS t ON t.mode = 'write' AND t.first_seq < a._before AND t.last_seq >= a._before
        JOIN _use AS u
            ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
            AND u.seq >= t.first_seq AND u.seq < a._before
        CROSS JOIN _window AS w
        WHERE u.end > u.start AND u.start < (t.index + 1) * w.page_size AND u.end > t.index * w.page_size
        GROUP BY t.page, t.life, t.row, t.generation, t.index
        UNION ALL
        SELECT x.page, x.life, NULL, NULL, NULL, x.seq, x.first, x.end, x.source
        FROM _extent AS x, _asked AS a WHERE x.mode = 'write' AND coalesce(x.seq < a._before, true)
        UNION ALL
        SELECT unnest(range(least(coalesce(e.page_count, 0), coalesce(w.kv_pages, 0), 16777216)::BIGINT)), 0, NULL,
            NULL, NULL, e.seq, 0, w.page_size, 'clear'
        FROM _told_launch AS e, _window AS w, _asked AS a
        WHERE e.kind = 'clear' AND e.all AND e.launch IS NOT NULL AND e.stream IS NOT NULL AND e.ordinal IS NOT NULL
            AND coalesce(e.seq < a._before, true)
    ),
    latest AS (SELECT w.* FROM written AS w QUALIFY rank() OVER (PARTITION BY w.page ORDER BY w.seq DESC) = 1),
    placed AS (
        SELECT l.page, l.seq, max(l.life) AS life, any_value(l.row) AS row,
            CASE WHEN min(u.request) = max(u.request) THEN min(u.request) END AS request,
            min(coalesce(l.first, greatest(u.start, l.index * w.page_size) - l.index * w.page_size)) AS first,
            max(coalesce(l.end, least(u.end, (l.index + 1) * w.page_size) - l.index * w.page_size)) AS "end",
            min(l.class) AS class
        FROM latest AS l
        LEFT JOIN _use AS u ON l.seq = u.seq AND l.row = u.row AND l.generation = u.generation
        CROSS JOIN _window AS w
        GROUP BY l.page, l.seq
    ),
    told AS (
        SELECT p.page, p.life, l.launch, p.seq, l.stream, l.ordinal, l.kernel, p.row, p.request,
            CASE WHEN o.done_seq IS NOT NULL THEN 'finished' ELSE l.state END AS state, 'history' AS source,
            p.first::BIGINT AS first, p.end::BIGINT AS "end",
            CASE
                WHEN p.class = 'clear' THEN 'zero'
                WHEN p.class = 'load' THEN 'host'
                WHEN p.class = 'copy' THEN 'copy'
                WHEN l.class = 'rows' THEN 'rows'
                ELSE 'kv'
            END AS class,
            o.actor
        FROM placed AS p LEFT JOIN launch AS l ON p.seq = l.seq LEFT JOIN _outside AS o ON p.seq = o.seq
        UNION ALL
        SELECT s.page, s.writer_life, s.writer, s.writer_seq, s.writer_stream, NULL, NULL, NULL, NULL, NULL,
            'page_state', NULL, NULL, NULL, NULL
        FROM page_state AS s, _asked AS a WHERE s.writer IS NOT NULL AND a._before IS NULL
    )
SELECT t.* FROM told AS t CROSS JOIN _window AS w CROSS JOIN header AS h
QUALIFY row_number() OVER (
    -- Where the end of the history is cut off, the last facts may be newer.
    PARTITION BY t.page ORDER BY coalesce(
        t.source = 'page_state' AND t.seq > w.last_seq AND TRY_CAST(h.ring ->> 'last_seq' AS UBIGINT) >= t.seq, false
    ) DESC, t.source
) = 1;

-- That write with the first fence behind it, and the first wait for that; where none stands behind it, with the last
-- fence of its stream. One row a page; without a fence where there is none at all. Of a write that only the last facts
-- tell of, it is the first fence that the history has.
CREATE MACRO _last_fences(before) AS TABLE
WITH
    _asked AS (SELECT before::UBIGINT AS _before),
    known AS NOT MATERIALIZED (
        SELECT f.fence, f.stream, f.ordinal, f.record_seq,
            CASE WHEN coalesce(f.wait_seq < a._before, true) THEN f.wait_seq END AS wait_seq,
            CASE WHEN coalesce(f.wait_seq < a._before, true) THEN f.wait_stream END AS wait_stream,
            CASE WHEN coalesce(f.passed_seq < a._before, true) THEN f.passed_seq END AS passed_seq
        FROM fence AS f, _asked AS a WHERE coalesce(f.record_seq < a._before, true)
    ),
    -- What wrote before the first launch that the history has of a stream is no later than the one before that.
    written AS (
        SELECT w.* REPLACE (coalesce(w.ordinal, o.ordinal) AS ordinal), w.ordinal AS told_ordinal
        FROM _last_writes(before) AS w
        LEFT JOIN (
            SELECT l.stream, min(l.ordinal) - 1 AS ordinal, min(l.seq) AS seq FROM launch AS l
            WHERE l.ordinal > 0 GROUP BY l.stream
        ) AS o ON w.stream = o.stream AND w.seq < o.seq AND w.source = 'page_state'
    ),
    behind AS (
        SELECT w.*, coalesce(n.ordinal, l.ordinal) AS behind
        FROM written AS w
        ASOF LEFT JOIN (SELECT k.stream, k.ordinal FROM known AS k) AS n
            ON w.stream = n.stream AND w.ordinal <= n.ordinal
        LEFT JOIN (SELECT k.stream, max(k.ordinal) AS ordinal FROM known AS k GROUP BY k.stream) AS l
            ON w.stream = l.stream
    )
SELECT b.page, b.life, b.launch, b.seq, b.stream, b.told_ordinal AS ordinal, b.kernel, b.row, b.request, b.state,
    b.source, b.first, b.end, b.class, b.actor, f.fence, b.behind, f.record_seq, f.wait_seq, f.wait_stream,
    f.passed_seq, b.behind >= b.ordinal AS covers
FROM behind AS b LEFT JOIN known AS f ON b.stream = f.stream AND b.behind = f.ordinal
QUALIFY row_number() OVER (
    PARTITION BY b.page
    ORDER BY CASE WHEN b.behind >= b.ordinal THEN f.record_seq::BIGINT ELSE -f.record_seq::BIGINT END, f.wait_seq
) = 1;
