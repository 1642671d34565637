-- Whose bytes a page has, at the end or `before` an event: one row a run of positions that the same launch wrote last,
-- and where a copy or the host tier brought them, who wrote them first. No row for positions whose writer the history
-- doesn't have.
-- * page: The page.
-- * first: First position of the run.
-- * end: Position behind the last one.
-- * life: The life in which they were written.
-- * class: kv (keys and values), rows (a snapshot's), zero (a clear), copy (of another page) or host (the host tier).
-- * seq: Event of the launch that wrote them last, or of what the actor did.
-- * launch: That launch; null where an actor wrote without one.
-- * stream: Its stream.
-- * kernel: Name of its kernel.
-- * origin_class: What they were at first: kv, rows or zero; copy or host where the history ends before that.
-- * origin_page: The page that they were written to first.
-- * origin_life: The life of that page.
-- * origin_seq: Event of the launch that wrote them first.
-- * origin_launch: That launch.
-- * actor: host or external:NAME, where no launch wrote them last.
-- * request: The request that they were written for last; null where that is none, or not known, as for a copy.
-- * origin_request: The request that they were written for first.
CREATE MACRO page_bytes(page, before := NULL) AS TABLE
WITH RECURSIVE
    -- No name here stands in the way of a column that is given for the page or the event.
    own AS (
        SELECT * FROM (
            SELECT * FROM (
                SELECT b.page AS _page, b.first AS _first, b.end AS _end, b.seq AS _seq, b.life AS _life,
                    b.class AS _class, b.request AS _request, b.source_page AS _source_page,
                    b.source_first AS _source_first, b.source_seq AS _source_seq
                FROM byte_write AS b
            ) AS _b WHERE _b._page = page AND coalesce(_b._seq < before, true)
        ) AS b (page, first, "end", seq, life, class, request, source_page, source_first, source_seq)
    ),
    place AS (SELECT unnest(range(w.page_size::BIGINT)) AS position FROM _window AS w),
    -- The last write of each position.
    latest AS MATERIALIZED (
        SELECT w.page, p.position, w.first, w.seq, w.life, w.class, w.request, w.source_page,
            w.source_first + p.position - w.first AS source_position, w.source_seq
        FROM own AS w JOIN place AS p ON w.first <= p.position AND w.end > p.position
        QUALIFY row_number() OVER (PARTITION BY w.page, p.position ORDER BY w.seq DESC) = 1
    ),
    -- Pages whose bytes may have come here, and what was written in them.
    near AS (
        SELECT source_page AS page FROM latest WHERE source_page IS NOT NULL
        UNION
        SELECT m.source_page FROM near AS n JOIN _moved AS m ON n.page = m.page WHERE m.source_page IS NOT NULL
    ),
    elsewhere AS MATERIALIZED (
        SELECT t.page, greatest(u.start, t.index * w.page_size)::BIGINT - (t.index * w.page_size)::BIGINT AS first,
            least(u.end - t.index * w.page_size, w.page_size)::BIGINT AS "end", u.seq, t.life, 'kv' AS class, u.request,
            NULL::BIGINT AS source_page, NULL::BIGINT AS source_first, NULL::UBIGINT AS source_seq
        FROM (SELECT t.* FROM _touch AS t SEMI JOIN near AS n ON t.page = n.page WHERE t.mode = 'write') AS t
        JOIN _use AS u
            ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
            AND u.seq BETWEEN t.first_seq AND t.last_seq
        CROSS JOIN _window AS w
        WHERE u.end > u.start AND u.start < (t.index + 1) * w.page_size AND u.end > t.index * w.page_size
        UNION ALL
        SELECT b.page, b.first, b.end, b.seq, b.life, b.class, b.request, b.source_page, b.source_first, b.source_seq
        FROM _block_write AS b SEMI JOIN near AS n ON b.page = n.page
    ),
    -- Where the last write brought bytes from elsewhere, the last write of these before that, and so on.
    origin AS (
        SELECT l.page AS asked, l.position, 0 AS depth, l.page, l.seq, l.life, l.class, l.request, l.source_page,
            l.source_position, l.source_seq
        FROM latest AS l WHERE l.source_seq IS NOT NULL
        UNION ALL
        SELECT o.asked, o.position, o.depth + 1, b.page, b.seq, b.life, b.class, b.request, b.source_page,
            b.source_first + o.source_position - b.first, b.source_seq
        FROM origin AS o
        JOIN elsewhere AS b
            ON b.page = o.source_page AND b.first <= o.source_position AND b.end > o.source_position
            AND b.seq < o.source_seq
        WHERE o.depth < 63
        QUALIFY row_number() OVER (PARTITION BY o.asked, o.position ORDER BY b.seq DESC) = 1
    ),
    deepest AS (SELECT * FROM origin QUALIFY row_number() OVER (PARTITION BY asked, position ORDER BY depth DESC) = 1),
    numbered AS (
        SELECT l.page, l.position, l.seq, l.life, l.class, l.request, coalesce(o.page, l.page) AS origin_page,
            coalesce(o.seq, l.seq) AS origin_seq, coalesce(o.life, l.life) AS origin_life,
            coalesce(o.class, l.class) AS origin_class,
            CASE WHEN o.position IS NULL THEN l.request ELSE o.request END AS origin_request,
            l.position - row_number() OVER (
                PARTITION BY l.page, l.seq, l.request, o.seq, o.page, o.request ORDER BY l.position
            ) AS run
        FROM latest AS l LEFT JOIN deepest AS o ON l.page = o.asked AND l.position = o.position
    )
SELECT
    n.page, min(n.position) AS first, max(n.position) + 1 AS "end", any_value(n.life) AS life,
    any_value(n.class) AS class, n.seq, any_value(l.launch) AS launch, any_value(l.stream) AS stream,
    any_value(l.kernel) AS kernel,
    any_value(n.origin_class) AS origin_class, n.origin_page, any_value(n.origin_life) AS origin_life, n.origin_seq,
    any_value(o.launch) AS origin_launch, any_value(x.actor) AS actor, n.request, n.origin_request
FROM numbered AS n LEFT JOIN launch AS l ON n.seq = l.seq LEFT JOIN launch AS o ON n.origin_seq = o.seq
LEFT JOIN _outside AS x ON n.seq = x.seq
GROUP BY n.page, n.seq, n.request, n.origin_seq, n.origin_page, n.origin_request, n.run
ORDER BY first;
