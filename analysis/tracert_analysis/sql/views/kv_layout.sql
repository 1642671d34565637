-- How token positions lie in the bytes of a page, the same in every page. A page is, layer by layer, the keys of its
-- positions and then their values. One row, from the header; columns are null where that doesn't say.
CREATE VIEW kv_layout (
    -- Positions of a page.
    page_size,
    -- Pages of the pool, reserved ones included.
    kv_pages,
    -- Layers of the model.
    layers,
    -- Heads of a layer that have keys and values.
    kv_heads,
    -- Numbers of a head.
    head_dim,
    -- What they are stored as.
    dtype,
    -- Bytes of one position in one layer's keys, or in its values.
    position_bytes,
    -- Bytes of one position in all: the keys and the values of all layers.
    token_bytes,
    -- Bytes of a page.
    page_bytes
) AS
SELECT
    w.page_size::BIGINT, w.kv_pages::BIGINT, l.layers, TRY_CAST(l.layout ->> 'kv_heads' AS BIGINT),
    TRY_CAST(l.layout ->> 'head_dim' AS BIGINT), l.layout ->> 'dtype', l.position_bytes,
    2 * l.layers * l.position_bytes, 2 * l.layers * l.position_bytes * w.page_size::BIGINT
FROM _window AS w LEFT JOIN (
    SELECT layout,
        -- Numbers that no engine has are none.
        CASE WHEN TRY_CAST(layout ->> 'layers' AS BIGINT) BETWEEN 1 AND 65536
            THEN TRY_CAST(layout ->> 'layers' AS BIGINT) END AS layers,
        CASE WHEN TRY_CAST(layout ->> 'position_bytes' AS BIGINT) BETWEEN 1 AND 16777216
            THEN TRY_CAST(layout ->> 'position_bytes' AS BIGINT) END AS position_bytes
    FROM (SELECT config -> 'layout' AS layout FROM header)
) AS l ON true;
