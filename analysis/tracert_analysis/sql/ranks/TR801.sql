-- Ranks of one engine make the same decisions in the same order.
WITH
    said AS (
        SELECT decision, what, count(*) AS ranks, min(rank) AS first_rank FROM decision GROUP BY decision, what
    ),
    -- What most ranks decided; of as many, what the lowest rank did.
    common AS (
        SELECT decision, arg_min(what, (-ranks, first_rank)) AS what, arg_min(first_rank, (-ranks, first_rank)) AS rank
        FROM said GROUP BY decision HAVING count(*) > 1
    ),
    broken AS (
        SELECT d.rank, d.seq, d.decision, d.request, d.row, d.what, c.rank AS other_rank, c.what AS other_what
        FROM decision AS d JOIN common AS c USING (decision) WHERE d.what <> c.what
        QUALIFY row_number() OVER (PARTITION BY d.rank ORDER BY d.decision) = 1
    )
SELECT
    b.rank,
    'TR801' AS code,
    'rank-divergence' AS name,
    b.seq,
    'order' AS class,
    CASE WHEN r.strange THEN 'suspected' ELSE 'proven' END AS confidence,
    'rank ' || b.rank || ' ' || b.what || ', where rank ' || b.other_rank || ' ' || b.other_what
    || CASE WHEN b.decision = 1 THEN ': it is their first decision that is known of both'
        ELSE ': the ' || (b.decision - 1) || ' decisions before it are alike' END AS sentence,
    'request' AS resource_kind,
    b.request AS resource_id,
    b.row,
    b.request
FROM broken AS b
JOIN rank AS r ON b.rank = r.rank
ORDER BY b.rank
