-- What the ranks decided, numbered alike from where all of them are known: a rank without holes only.
CREATE TABLE decision (
    -- The rank.
    rank UINTEGER,
    -- Which decision of the rank, from 1.
    decision UBIGINT,
    -- The rank's event.
    seq UBIGINT,
    -- When: nanoseconds of Unix time.
    at_ns BIGINT,
    -- The request that it is about.
    request UBIGINT,
    -- The row that it is about, if it is about one.
    row USMALLINT,
    -- What it decided, in words: the same words, the same decision.
    what VARCHAR
);

INSERT INTO decision
WITH
    -- A rank that has lost its beginning is known from its second step on.
    lost AS (
        SELECT d.rank, min(d.step) + 1 AS step FROM _decided AS d JOIN rank AS r USING (rank)
        WHERE NOT r.complete GROUP BY d.rank
    ),
    start AS (SELECT max(step) AS step FROM lost),
    begins AS (
        SELECT r.rank, CASE WHEN s.step IS NULL THEN 0 ELSE min(d.seq) END AS seq
        FROM rank AS r CROSS JOIN start AS s LEFT JOIN _decided AS d ON r.rank = d.rank AND d.step = s.step
        WHERE NOT r.holes GROUP BY r.rank, s.step
    )
SELECT
    d.rank, row_number() OVER (PARTITION BY d.rank ORDER BY d.seq), d.seq, TRY(d.t::BIGINT + r.offset_ns),
    d.request, d.row, d.what
FROM _decided AS d JOIN begins AS b USING (rank) JOIN rank AS r USING (rank) WHERE d.seq >= b.seq
ORDER BY d.rank, d.seq;
