-- What set a launch apart from the launches of its kernel before it, at most the last 5,000: each of its traits, and
-- how many of these had it, the rarest first. Behind those that none had stand the smallest sets of traits (`together`)
-- that none had at once, of two, else of three, at most three sets: first those whose traits are the most common alone.
-- Of a launch over several rows it looks at the row that a finding tells of, else the one with the most positions; a
-- launch before it had a trait when one of its rows had. It counts, and claims no cause.
-- * trait: What was looked at, or `together`.
-- * value: What it was for this launch; of a set its traits.
-- * support: How many of the launches before had it.
-- * earlier: Of how many.
-- * alone: Of a set: the support of each of its traits; null otherwise.
CREATE MACRO what_was_new(launch) AS TABLE
WITH
    -- No name here stands in the way of a column that is given for the launch.
    _asked AS (SELECT launch AS _launch),
    this AS (SELECT l.* FROM launch AS l JOIN _asked AS a ON l.launch = a._launch ORDER BY l.seq LIMIT 1),
    told AS MATERIALIZED (FROM _shared_traits(launch)),
    met AS MATERIALIZED (SELECT mask FROM told WHERE bit IS NULL),
    -- Tenancies, tenants and page numbers are always new at some time, and what all had sets nothing apart.
    common AS MATERIALIZED (
        SELECT bit, trait || ' ' || value AS name, support, earlier, 1::BIGINT << bit AS mask
        FROM told WHERE bit NOT IN (18, 19, 27, 31) AND support > 0 AND support < earlier
    ),
    pair AS MATERIALIZED (
        SELECT a.name || ' and ' || b.name AS value, [a.support, b.support] AS alone, a.earlier,
            a.support::DOUBLE * b.support / a.earlier AS expected
        FROM common AS a JOIN common AS b ON a.bit < b.bit
        WHERE NOT EXISTS (FROM met AS m WHERE m.mask & (a.mask | b.mask) = a.mask | b.mask)
    ),
    triple AS (
        SELECT a.name || ' and ' || b.name || ' and ' || c.name AS value, [a.support, b.support, c.support] AS alone,
            a.earlier,
            a.support::DOUBLE * b.support * c.support / a.earlier / a.earlier AS expected
        FROM common AS a JOIN common AS b ON a.bit < b.bit JOIN common AS c ON b.bit < c.bit
        WHERE NOT EXISTS (FROM pair) AND NOT EXISTS (
            FROM met AS m WHERE m.mask & (a.mask | b.mask | c.mask) = a.mask | b.mask | c.mask
        )
    ),
    -- Launches of all kernels, for the kernel itself.
    kernel AS (
        SELECT this.kernel, count(*) FILTER (b.kernel = this.kernel) AS support, count(b.seq) AS earlier
        FROM this LEFT JOIN launch AS b ON b.seq < this.seq AND b.kind = this.kind
        WHERE this.kernel IS NOT NULL GROUP BY this.kernel
    ),
    counted AS (
        SELECT bit, trait, value, support, earlier, NULL::BIGINT[] AS alone FROM told WHERE bit IS NOT NULL
        UNION ALL
        SELECT -1, 'kernel', kernel, support, earlier, NULL FROM kernel
        UNION ALL
        SELECT 62 + row_number() OVER (ORDER BY s.expected DESC, s.value), 'together', s.value, 0, s.earlier, s.alone
        FROM (FROM pair UNION ALL FROM triple) AS s
        QUALIFY row_number() OVER (ORDER BY s.expected DESC, s.value) <= 3
    )
SELECT c.trait, c.value, c.support, c.earlier, c.alone
FROM counted AS c ORDER BY c.support, c.trait = 'together', c.earlier DESC, c.trait LIKE '%, at %', c.bit;
