-- What each publish put in each entry of a row, until the next publish overwrote it. Program order.
CREATE TABLE row_content (
    -- Number of this content, for joins.
    content UBIGINT,
    -- The row of the block table.
    row USMALLINT,
    -- The row's generation when it was published.
    generation UINTEGER,
    -- The entry.
    index UBIGINT,
    -- The page that the entry names; a number outside the pool is poison.
    page BIGINT,
    -- The life that was meant.
    life BIGINT,
    -- Event of the publish, or of the keyframe that knew the entry.
    seq UBIGINT,
    -- The publish; null when only a keyframe knew the entry.
    launch UBIGINT,
    -- Stream of the publish.
    stream USMALLINT,
    -- Event of the publish that overwrote the entry; null when none did.
    until_seq UBIGINT
);

INSERT INTO row_content
WITH
    published AS (
        SELECT row, generation, seq, launch, stream, unnest(entries) AS x
        FROM _told_launch WHERE kind = 'publish' AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
    ),
    known AS (
        SELECT e.row, e.generation, e.seq, unnest(e.entries) AS x
        FROM _told_rest AS e, _window AS w WHERE e.kind = 'keyframe_row' AND e.set = w.base_set
    ),
    entries AS (
        SELECT row, generation, x[1]::UBIGINT AS index, x[2] AS page, x[3] AS life, seq, launch, stream
        FROM published WHERE x[1] BETWEEN 0 AND 1048575
        UNION ALL
        SELECT k.row, k.generation, k.x[1], k.x[2], k.x[3], k.seq, NULL, NULL FROM known AS k
        WHERE k.x[1] BETWEEN 0 AND 1048575 AND NOT EXISTS (
            FROM published AS p WHERE p.row = k.row AND p.x[1] = k.x[1] AND p.seq < k.seq
        )
    )
SELECT row_number() OVER (ORDER BY seq, row, index), *, lead(seq) OVER (PARTITION BY row, index ORDER BY seq)
FROM entries WHERE row IS NOT NULL AND generation IS NOT NULL AND page IS NOT NULL AND life IS NOT NULL
ORDER BY seq, row, index;
