-- What the host knows of each stream, and since when: a later fence tells of an earlier one, too.
CREATE TABLE _learnt (stream USMALLINT, ordinal UBIGINT, seq UBIGINT);

INSERT INTO _learnt
SELECT stream, ordinal, min(from_seq)
FROM (SELECT from_seq, generate_subscripts(clock, 1) - 1 AS stream, unnest(clock) AS ordinal FROM _host)
GROUP BY stream, ordinal;

-- Fences: where each was recorded, which streams waited for it, and when the host learned that it had passed. One
-- row a fence and wait.
CREATE TABLE fence (
    -- The fence.
    fence UBIGINT,
    -- The stream it was recorded on.
    stream USMALLINT,
    -- The launch of that stream behind which it stands.
    ordinal UBIGINT,
    -- Event that recorded it.
    record_seq UBIGINT,
    -- Event since which a stream waits for it; null when none does.
    wait_seq UBIGINT,
    -- That stream.
    wait_stream USMALLINT,
    -- Event since which the host knows that what it stands behind is done; null when it never learned.
    passed_seq UBIGINT
);

INSERT INTO fence
WITH
    recorded AS (
        SELECT fence, stream, ordinal, seq AS record_seq FROM _told_fence
        WHERE kind = 'fence_record' AND fence IS NOT NULL AND stream IS NOT NULL
    ),
    waited AS (
        SELECT seq AS wait_seq, stream AS wait_stream, record_seq FROM _told_fence
        WHERE kind = 'fence_wait' AND record_seq IS NOT NULL
        UNION ALL
        -- A wait that doesn't say for which record is for the one that stood by then.
        SELECT e.seq, e.stream, r.record_seq FROM _told_fence AS e
        ASOF JOIN recorded AS r ON e.fence = r.fence AND e.seq > r.record_seq
        WHERE e.kind = 'fence_wait' AND e.record_seq IS NULL
    )
SELECT
    r.fence, r.stream, r.ordinal, r.record_seq, w.wait_seq, w.wait_stream,
    -- What the host knew before the record, it knows at the record; `greatest` would pass over a null.
    CASE WHEN k.seq < r.record_seq THEN r.record_seq ELSE k.seq END
FROM recorded AS r
LEFT JOIN waited AS w USING (record_seq)
ASOF LEFT JOIN _learnt AS k ON r.stream = k.stream AND r.ordinal <= k.ordinal
ORDER BY r.record_seq, w.wait_seq;

-- Of each life that was retired, the fence that guards it: the record that stood when it was retired, for a fence may
-- be recorded again and again; or the next one where none stood.
CREATE TABLE _retired (
    page UINTEGER, life UINTEGER, fence UBIGINT, stream USMALLINT, ordinal UBIGINT, record_seq UBIGINT,
    passed_seq UBIGINT
);

INSERT INTO _retired
WITH
    recorded AS (SELECT DISTINCT fence, stream, ordinal, record_seq, passed_seq FROM fence),
    guarded AS (SELECT page, life, fence, retire_seq FROM page_life WHERE fence IS NOT NULL),
    stood AS (
        SELECT p.page, p.life, r.*
        FROM guarded AS p ASOF JOIN recorded AS r ON p.fence = r.fence AND p.retire_seq > r.record_seq
    )
FROM stood
UNION ALL
SELECT p.page, p.life, r.*
FROM (FROM guarded ANTI JOIN stood USING (page, life)) AS p
ASOF JOIN recorded AS r ON p.fence = r.fence AND p.retire_seq < r.record_seq;
