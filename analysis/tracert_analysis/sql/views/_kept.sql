-- What entered prefix caches and left them: one row an insert or evict and page.
CREATE TABLE _kept (
    seq UBIGINT, kind kind, node UBIGINT, identity UBIGINT, positions UBIGINT, page UINTEGER, life UINTEGER
);

INSERT INTO _kept
SELECT seq, kind, node, identity, positions, TRY_CAST(x[1] AS UINTEGER), TRY_CAST(x[2] AS UINTEGER)
FROM (
    SELECT seq, kind, node, identity, positions, unnest(pages) AS x
    FROM _told_rest WHERE kind IN ('insert', 'evict') AND len(pages) > 0
    UNION ALL
    SELECT seq, kind, node, identity, positions, [page::BIGINT, life::BIGINT]
    FROM _told_rest WHERE kind IN ('insert', 'evict') AND page IS NOT NULL
);
