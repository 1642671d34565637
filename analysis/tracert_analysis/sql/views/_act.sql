-- What writers without a stream did, with what is ordered before it.
CREATE TABLE _outside_act (
    seq UBIGINT, stream USMALLINT, ordinal UBIGINT, kind VARCHAR, kernel VARCHAR, state VARCHAR, clock UBIGINT[]
);

INSERT INTO _outside_act
SELECT
    o.seq, o.stream, o.ordinal, CASE WHEN o.actor = 'host' THEN 'write' ELSE 'transfer' END,
    'transaction ' || o.transaction,
    -- Where the host never learned that it was done, it may have been.
    CASE WHEN o.done_seq IS NOT NULL THEN 'finished' END,
    s.clock
FROM _outside AS o ASOF LEFT JOIN _segment AS s ON o.stream = s.stream AND o.seq >= s.from_seq;

-- All that touches pages: launches, and what writers without a stream did. These have no `launch`, and no `on_stream`,
-- which is a stream of the device; `stream` is one for the clocks. Their `kernel` is what a sentence calls them by.
CREATE VIEW _act AS
SELECT seq, kind, launch, stream, ordinal, kernel, step, state, clock, stream AS on_stream FROM launch
UNION ALL
SELECT seq, kind, NULL, stream, ordinal, kernel, NULL, state, clock, NULL FROM _outside_act;
