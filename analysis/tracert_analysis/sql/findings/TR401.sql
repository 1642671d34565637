-- An entry of a row that a launch follows names a page of the pool.
WITH
    outside AS (
        SELECT t.*, greatest(t.first_seq, coalesce(d.last_seq + 1, 0)) AS from_seq
        FROM _touch AS t
        -- What lies behind the end of a mapped row is TR403's.
        ANTI JOIN _past_row AS x
            ON x.fresh AND t.content = x.content AND t.generation = x.generation AND t.stream = x.stream
        CROSS JOIN _window AS w
        -- What a launch may or may not have found is a matter of order, and TR102 tells of it.
        LEFT JOIN (
            SELECT content, generation, stream, max(last_seq) AS last_seq
            FROM _unordered_publish WHERE reason = 'publish' GROUP BY ALL
        ) AS d ON t.content = d.content AND t.generation = d.generation AND t.stream = d.stream
        WHERE t.mode = 'walk' AND (t.page < 0 OR t.page >= w.kv_pages)
    ),
    followed AS (
        SELECT o.content, o.row, o.generation, o.index, o.page, u.seq, u.request, NULL AS meant
        FROM outside AS o
        JOIN _use AS u
            ON o.row = u.row AND o.generation = u.generation AND o.stream = u.stream AND u.walked > o.index
            AND u.seq BETWEEN o.from_seq AND o.last_seq
        UNION ALL
        -- What a guarded kernel found there in the place of what had been published.
        SELECT g.content, g.row, g.generation, g.index, g.page, g.seq, g.request,
            coalesce('page ' || g.published_page || '.' || g.published_life, 'nothing')
        FROM _unexplained AS g CROSS JOIN _window AS w WHERE g.page < 0 OR g.page >= w.kv_pages
    ),
    broken AS (
        SELECT * FROM followed QUALIFY row_number() OVER (PARTITION BY row, generation ORDER BY seq, index) = 1
    )
SELECT
    'TR401' AS code,
    'index-out-of-range' AS name,
    b.seq,
    'mapping' AS class,
    _confidence(
        _seen_wrong(b.seq, b.row, NULL)
        OR EXISTS (FROM guard_entry AS g WHERE g.seq = b.seq AND g.row = b.row AND g.index = b.index),
        w.holes
    ) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name) || ' follows entry ' || b.index || ' of row ' || b.row
    || ', which names page ' || b.page || '; the pool has pages 0 to ' || (w.kv_pages - 1)
    || CASE
        WHEN b.meant IS NULL THEN ''
        ELSE '. The kernel itself saw that, and ' || b.meant || ' was published there'
    END
    || coalesce(
        CASE WHEN b.meant IS NULL THEN '. It was published by ' ELSE ', by ' END
        || _launch_named(early.launch, early.kernel, early_name.name), ''
    ) AS sentence,
    'row' AS resource_kind,
    b.row AS resource_id,
    NULL AS life,
    b.row,
    b.generation,
    b.request,
    late.launch,
    late.stream,
    early.launch AS other_launch,
    early.stream AS other_stream,
    c.seq AS other_seq
FROM broken AS b
LEFT JOIN row_content AS c ON b.content = c.content
JOIN launch AS late ON b.seq = late.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
LEFT JOIN launch AS early ON c.seq = early.seq
LEFT JOIN _stream AS early_name ON early.stream = early_name.stream
CROSS JOIN _window AS w
