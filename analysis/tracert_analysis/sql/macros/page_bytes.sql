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
CREATE MACRO page_bytes(page, before := 4611686018427387904) AS TABLE
WITH RECURSIVE
    followed AS (
        SELECT p.position, page::BIGINT AS at_page, p.position AS at_position, before::BIGINT AS before_seq,
            NULL::UBIGINT AS seq, NULL::BIGINT AS life, NULL::VARCHAR AS class, 0 AS depth, true AS open
        FROM (SELECT unnest(range(w.page_size::BIGINT)) AS position FROM _window AS w) AS p
        UNION ALL
        SELECT
            f.position,
            coalesce(b.source_page, f.at_page),
            CASE WHEN b.source_page IS NULL THEN f.at_position ELSE b.source_first + f.at_position - b.first END,
            coalesce(b.source_seq, 0)::BIGINT,
            b.seq, b.life, b.class, f.depth + 1,
            b.source_seq IS NOT NULL
        FROM followed AS f
        JOIN byte_write AS b
            ON b.page = f.at_page AND b.first <= f.at_position AND b.end > f.at_position AND b.seq < f.before_seq
        WHERE f.open AND f.depth < 64
        QUALIFY row_number() OVER (PARTITION BY f.position ORDER BY b.seq DESC) = 1
    ),
    told AS (
        SELECT
            f.position, f.seq, f.life, f.class, o.at_page AS origin_page, o.seq AS origin_seq,
            o.life AS origin_life, o.class AS origin_class
        FROM followed AS f
        JOIN (
            FROM followed WHERE depth > 0 QUALIFY row_number() OVER (PARTITION BY position ORDER BY depth DESC) = 1
        ) AS o USING (position)
        WHERE f.depth = 1
    ),
    numbered AS (
        SELECT *, position - row_number() OVER (
            PARTITION BY seq, origin_seq, origin_page ORDER BY position
        ) AS run
        FROM told
    )
SELECT
    page AS page, min(n.position) AS first, max(n.position) + 1 AS "end", any_value(n.life) AS life,
    any_value(n.class) AS class, n.seq, any_value(l.launch) AS launch, any_value(l.on_stream) AS stream,
    any_value(CASE WHEN l.launch IS NOT NULL THEN l.kernel END) AS kernel,
    any_value(n.origin_class) AS origin_class, n.origin_page, any_value(n.origin_life) AS origin_life, n.origin_seq,
    any_value(o.launch) AS origin_launch, any_value(x.actor) AS actor
FROM numbered AS n JOIN _act AS l ON n.seq = l.seq JOIN _act AS o ON n.origin_seq = o.seq
LEFT JOIN _outside AS x ON n.seq = x.seq
GROUP BY n.seq, n.origin_seq, n.origin_page, n.run
ORDER BY first;
