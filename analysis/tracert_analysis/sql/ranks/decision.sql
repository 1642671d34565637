-- What the ranks decided, numbered alike from where all of them are known: a rank without holes only. When requests
-- came in, failed, or were ended from outside is nobody's decision, and not here.
CREATE TABLE decision (
    -- The rank.
    rank UINTEGER,
    -- Which decision, from 1: the same number in every rank that made it. Schedules are numbered in their order; what
    -- belongs to the schedule of a request (how much it found cached, its row) stands right before it, what came of
    -- it right behind, whenever the rank's own device let it come.
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
        SELECT r.rank, CASE WHEN s.step IS NULL THEN 1 ELSE min(d.turn) END AS turn
        FROM rank AS r CROSS JOIN start AS s
        LEFT JOIN _decided AS d ON r.rank = d.rank AND d.kind = 'schedule' AND d.step = s.step
        WHERE NOT r.holes GROUP BY r.rank, s.step
    ),
    placed AS (
        SELECT d.*, CASE d.kind WHEN 'finish' THEN min(d.turn - b.turn) OVER (PARTITION BY d.kind, d.request)
            ELSE d.turn - b.turn END AS place
        FROM _decided AS d JOIN begins AS b USING (rank) WHERE d.turn >= b.turn
    )
SELECT
    d.rank,
    -- Of a schedule the place alone counts: whose turn it is, is what is compared.
    dense_rank() OVER (ORDER BY d.place,
        list_position(['match', 'row_acquire', 'schedule', 'verify', 'preempt', 'finish'], d.kind),
        CASE WHEN d.kind <> 'schedule' THEN d.request END),
    d.seq, TRY(d.t::BIGINT + r.offset_ns), d.request, d.row, d.what
FROM placed AS d JOIN rank AS r USING (rank)
ORDER BY d.rank, 2;
