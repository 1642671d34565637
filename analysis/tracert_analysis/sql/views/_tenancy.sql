-- Which request had which generation of a row. A row of request 0 is nobody's: it pads the batch.
CREATE TABLE _tenancy (row USMALLINT, generation UINTEGER, request UBIGINT, from_seq UBIGINT, until_seq UBIGINT);

INSERT INTO _tenancy
SELECT
    e.row, e.generation,
    arg_min(e.request, e.seq) FILTER (e.kind <> 'row_release'),
    min(e.seq) FILTER (e.kind <> 'row_release'),
    max(e.seq) FILTER (e.kind = 'row_release')
FROM (
    SELECT kind, seq, row, generation, request, NULL AS set FROM _told_page
    WHERE kind = 'row_acquire' AND request > 0 OR kind = 'row_release'
    UNION ALL
    SELECT kind, seq, row, generation, request, set FROM _told_rest WHERE kind = 'keyframe_row' AND request > 0
) AS e, _window AS w
WHERE (e.kind <> 'keyframe_row' OR e.set = w.base_set) AND e.row IS NOT NULL AND e.generation IS NOT NULL
GROUP BY e.row, e.generation
HAVING count(*) FILTER (e.kind <> 'row_release') > 0;

-- Tenancies of a row that another request had, too: from `from_seq` on, for by then the other was given the row, or had
-- not given it back. What the host maps and publishes is from there on of both.
CREATE TABLE _two_tenants (row USMALLINT, generation UINTEGER, from_seq UBIGINT, other_generation UINTEGER);

INSERT INTO _two_tenants
WITH told AS (
    SELECT row, generation, from_seq, coalesce(until_seq, 18446744073709551615) AS until_seq FROM _tenancy
)
SELECT row, generation, CASE WHEN kept_until > from_seq THEN from_seq ELSE next_seq END,
    CASE WHEN kept_until > from_seq THEN keeper ELSE next_generation END
FROM (
    SELECT *,
        max(until_seq) OVER former AS kept_until, arg_max(generation, until_seq) OVER former AS keeper,
        lead(from_seq) OVER by_row AS next_seq, lead(generation) OVER by_row AS next_generation
    FROM told
    WINDOW by_row AS (PARTITION BY row ORDER BY from_seq),
        former AS (PARTITION BY row ORDER BY from_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
WHERE kept_until > from_seq OR next_seq < until_seq;
