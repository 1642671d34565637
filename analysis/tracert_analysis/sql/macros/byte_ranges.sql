-- The bytes that positions from `first` up to `until` have in a page: one row a layer and its keys or values. No row
-- when the header doesn't tell the layout.
-- * layer: The layer, from 0.
-- * part: keys or values.
-- * first: First byte of the page.
-- * end: Byte behind the last one.
CREATE MACRO byte_ranges(first, until) AS TABLE
SELECT
    (p.piece // 2)::UINTEGER AS layer, CASE p.piece % 2 WHEN 0 THEN 'keys' ELSE 'values' END AS part,
    (p.piece * p.page_size + a._first) * p.position_bytes AS first,
    (p.piece * p.page_size + least(a._until, p.page_size)) * p.position_bytes AS "end"
FROM
    -- No name here stands in the way of columns that are given for the positions.
    (SELECT greatest(first::BIGINT, 0) AS _first, until::BIGINT AS _until) AS a,
    (
        SELECT unnest(range(2 * l.layers)) AS piece, l.page_size, l.position_bytes FROM kv_layout AS l
    ) AS p
WHERE a._first < least(a._until, p.page_size)
ORDER BY p.piece;
