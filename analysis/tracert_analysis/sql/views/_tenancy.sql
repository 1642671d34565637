-- Which request had which generation of a row.
CREATE TABLE _tenancy (row USMALLINT, generation UINTEGER, request UBIGINT, from_seq UBIGINT, until_seq UBIGINT);

INSERT INTO _tenancy
SELECT
    e.row, e.generation,
    arg_min(e.request, e.seq) FILTER (e.kind <> 'row_release'),
    min(e.seq) FILTER (e.kind <> 'row_release'),
    max(e.seq) FILTER (e.kind = 'row_release')
FROM (
    SELECT kind, seq, row, generation, request, NULL AS set FROM _told_page WHERE kind IN ('row_acquire', 'row_release')
    UNION ALL
    SELECT kind, seq, row, generation, request, set FROM _told_rest WHERE kind = 'keyframe_row' AND request > 0
) AS e, _window AS w
WHERE (e.kind <> 'keyframe_row' OR e.set = w.base_set) AND e.row IS NOT NULL AND e.generation IS NOT NULL
GROUP BY e.row, e.generation
HAVING count(*) FILTER (e.kind <> 'row_release') > 0;
