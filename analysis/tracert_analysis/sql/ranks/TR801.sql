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
    ),
    -- Of the decisions before, those that both are known to have made.
    alike AS (
        SELECT b.rank, count(o.decision) AS decisions
        FROM broken AS b
        LEFT JOIN decision AS d ON b.rank = d.rank AND d.decision < b.decision
        LEFT JOIN decision AS o ON b.other_rank = o.rank AND d.decision = o.decision
        GROUP BY b.rank
    )
SELECT
    b.rank,
    'TR801' AS code,
    'rank-divergence' AS name,
    b.seq,
    'order' AS class,
    CASE WHEN r.strange OR o.strange OR EXISTS (FROM _doubt) THEN 'suspected' ELSE 'proven' END AS confidence,
    'rank ' || b.rank || ' ' || b.what || ', where rank ' || b.other_rank || ' ' || b.other_what
    || CASE a.decisions WHEN 0 THEN ': it is their first decision that is known of both'
        WHEN 1 THEN ': the decision before it is alike'
        ELSE ': the ' || a.decisions || ' decisions before it are alike' END AS sentence,
    'request' AS resource_kind,
    b.request AS resource_id,
    b.row,
    b.request
FROM broken AS b
JOIN alike AS a ON b.rank = a.rank
JOIN rank AS r ON b.rank = r.rank
JOIN rank AS o ON b.other_rank = o.rank
ORDER BY b.rank
