-- One row a launch and a row of the block table that it uses.
CREATE TABLE _use (
    seq UBIGINT, launch UBIGINT, stream USMALLINT, ordinal UBIGINT, row USMALLINT, generation UINTEGER, request UBIGINT,
    start UBIGINT, "end" UBIGINT, walked UBIGINT,
    -- Entries whose pages it reads: all that it follows when it covers whole pages, else those that hold its positions.
    depth UBIGINT,
    covers VARCHAR,
    -- The launch uses no other row.
    alone BOOLEAN
);

INSERT INTO _use
WITH unnested AS (
    SELECT seq, launch, stream, ordinal, unnest(uses) AS u, len(uses) = 1 AS alone FROM _told_launch
    WHERE kind = 'launch' AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL AND len(uses) > 0
)
SELECT
    n.seq, n.launch, n.stream, n.ordinal, n.u.row, n.u.generation, t.request, n.u.start, n.u.end, n.u.walked,
    CASE
        WHEN n.u.covers = 'page' OR w.page_size IS NULL THEN n.u.walked
        ELSE least(n.u.walked, (n.u.end::UBIGINT + w.page_size - 1) // w.page_size)
    END,
    coalesce(n.u.covers, 'valid'), n.alone
FROM unnested AS n CROSS JOIN _window AS w
LEFT JOIN _tenancy AS t ON n.u.row = t.row AND n.u.generation = t.generation
WHERE n.u.row IS NOT NULL AND n.u.generation IS NOT NULL AND n.u.start IS NOT NULL
    AND n.u.end IS NOT NULL AND n.u.walked IS NOT NULL;
