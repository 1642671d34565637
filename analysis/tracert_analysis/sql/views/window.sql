-- Acts of writers without a stream that are not understood, by their events.
CREATE TABLE _puzzling (seq UBIGINT);

INSERT INTO _puzzling
SELECT seq FROM _told_rest WHERE kind IN ('host_write', 'external_begin') AND (
    coalesce(len(reads), 0) + coalesce(len(writes), 0) = 0
    OR list_bool_or(list_transform(coalesce(reads, []) || coalesce(writes, []), lambda x:
        len(x) <> 4 OR list_min(x) < 0 OR list_max(x) >= 4294967296))
)
UNION ALL
-- What was done is not told, where nothing was begun.
SELECT d.seq FROM _told_rest AS d
WHERE d.kind = 'external_done' AND d.transaction IS NOT NULL AND (SELECT min(first_seq) FROM _seen) = 1
    AND NOT EXISTS (
        FROM _told_rest AS e
        WHERE e.kind = 'external_begin' AND e.actor = d.actor AND e.transaction = d.transaction AND e.seq < d.seq
    )
UNION ALL
-- Of more writers at once than there are channels no clock tells.
SELECT e.seq FROM _told_rest AS e ANTI JOIN _outside AS o USING (seq) WHERE e.kind IN ('host_write', 'external_begin');

-- What part of the history this dump holds, and the figures of the configuration that rules need. One row.
CREATE TABLE _window (
    first_seq UBIGINT,
    last_seq UBIGINT,
    -- The history starts with the recorder: nothing before the first event is missing.
    complete BOOLEAN,
    -- The keyframe that stands in for the lost beginning; null when nothing is lost or no keyframe is whole.
    base_set UBIGINT,
    -- From here on pages, holders and rows are known; null when they never are.
    known_from UBIGINT,
    -- Events are missing somewhere in the middle, or not understood: an edge between streams may be missing, too.
    holes BOOLEAN,
    -- Some events this reader doesn't understand: their kind, who acted, or what a writer wrote. They may have written.
    strange BOOLEAN,
    page_size UBIGINT,
    kv_pages UBIGINT,
    -- It was written whole as the engine went down in good order: what is still kept at its end was never given back.
    orderly BOOLEAN
);

INSERT INTO _window
WITH
    bounds AS (SELECT min(first_seq) AS first_seq, max(last_seq) AS last_seq FROM _seen),
    started AS (
        SELECT set, min(seq) AS from_seq, count(*) FILTER (kind = 'keyframe_row') AS row_count,
            coalesce(sum(coalesce(len(keyframe_pages), 1)) FILTER (kind = 'keyframe'), 0) AS pages
        FROM _told_rest WHERE kind IN ('keyframe', 'keyframe_row') AND set IS NOT NULL GROUP BY set
    ),
    ended AS (
        SELECT set, min(seq) AS end_seq, any_value(page_count) AS pages, any_value(rows) AS row_count
        FROM _told_rest WHERE kind = 'keyframe_end' GROUP BY set
    ),
    base AS (
        SELECT e.set, coalesce(s.from_seq, e.end_seq) AS from_seq
        FROM ended AS e LEFT JOIN started AS s USING (set)
        WHERE coalesce(s.pages, 0) = e.pages AND coalesce(s.row_count, 0) = e.row_count
        ORDER BY e.end_seq LIMIT 1
    ),
    understood AS (
        SELECT NOT EXISTS (
            FROM _seen WHERE kind IS NULL OR outside AND kind NOT IN ('external_begin', 'external_done')
        ) AND NOT EXISTS (
            FROM _told_launch WHERE launch IS NULL OR stream IS NULL OR ordinal IS NULL
                OR kind = 'publish' AND (
                    row IS NULL OR generation IS NULL OR entries IS NULL
                    OR list_bool_or(list_transform(entries, lambda x: len(x) <> 3))
                )
                OR list_bool_or(list_transform(uses, lambda u: u.row IS NULL OR u.generation IS NULL
                    OR u.start IS NULL OR u.end IS NULL OR u.walked IS NULL))
        ) AND NOT EXISTS (
            FROM _told_fence
            WHERE kind = 'fence_record' AND (fence IS NULL OR stream IS NULL OR ordinal IS NULL)
                OR kind = 'fence_wait' AND (stream IS NULL OR fence IS NULL AND record_seq IS NULL)
                OR kind = 'fence_passed' AND fence IS NULL AND stream IS NULL AND device IS NULL
        ) AND NOT EXISTS (
            FROM _told_page
            WHERE kind NOT IN ('row_acquire', 'row_release') AND CASE
                    WHEN len(pages) > 0 THEN list_bool_or(list_transform(pages, lambda x:
                        len(x) <> 2 OR list_min(x) < 0 OR list_max(x) >= 4294967296))
                    ELSE page IS NULL OR life IS NULL
                END
                OR kind IN ('alloc', 'hold', 'drop') AND holder IS NULL
                OR kind IN ('map', 'unmap', 'row_acquire', 'row_release') AND (row IS NULL OR generation IS NULL)
                OR kind IN ('map', 'unmap') AND index IS NULL
        ) AND NOT EXISTS (FROM _puzzling) AS all_of_it
    )
SELECT
    b.first_seq,
    b.last_seq,
    b.first_seq = 1 AS complete,
    CASE WHEN b.first_seq = 1 THEN NULL ELSE base.set END,
    CASE WHEN b.first_seq = 1 THEN 0 ELSE base.from_seq END,
    NOT u.all_of_it,
    NOT u.all_of_it,
    -- Numbers that no engine has are none.
    CASE WHEN TRY_CAST(h.config ->> 'page_size' AS UBIGINT) BETWEEN 1 AND 1048576
        THEN TRY_CAST(h.config ->> 'page_size' AS UBIGINT) END,
    CASE WHEN TRY_CAST(h.config ->> 'kv_pages' AS UBIGINT) BETWEEN 1 AND 4294967295
        THEN TRY_CAST(h.config ->> 'kv_pages' AS UBIGINT) END,
    -- A crash leaves things as they were, and so does a file that was cut short of its end.
    coalesce(h.reason = 'exit', false) AND coalesce(json_type(h.error) <> 'OBJECT', true)
        AND coalesce(TRY_CAST(h.ring ->> 'last_seq' AS UBIGINT) <= b.last_seq, true)
FROM bounds AS b, understood AS u, header AS h LEFT JOIN base ON true;
