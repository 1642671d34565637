-- The edge between two acts whose lack a finding (its number in `finding`) tells of, and the call that adds it. No row
-- when no order lacks; of a page that is used anew before the streams of its life before are done (TR202), one for each
-- of these, and all of them are needed. Where a writer without a stream is at one end, its launch and stream are null:
-- what it does later, the host must wait before; what it did, the host must have seen done.
-- * from_launch: The launch that should have come first.
-- * from_stream: Its stream.
-- * from_name: Name of that stream, or of the writer.
-- * from_seq: Its event.
-- * to_launch: The launch that nothing orders after it.
-- * to_stream: Its stream.
-- * to_name: Name of that stream, or of the writer.
-- * to_seq: Its event.
-- * call: The call that orders them, anywhere between the two events.
-- * alternative: Another way, which nobody has tried: the earlier launch on the stream of the later one; the later one
--   on that of the earlier where only the earlier is a computation, which is harder to move.
CREATE MACRO missing_edge(finding) AS TABLE
WITH
    -- No name here stands in the way of a column that is given for the finding.
    _asked AS (SELECT finding AS _finding),
    _used AS (SELECT DISTINCT s.page, s.life FROM _span AS s),
    _pairs AS (
        SELECT early.seq AS early_seq, late.seq AS late_seq, true AS named
        FROM _asked AS a
        JOIN finding AS f ON f.finding = a._finding
        JOIN _act AS early
            ON CASE WHEN early.launch IS NULL THEN f.other_launch IS NULL AND f.other_seq = early.seq
                ELSE f.other_launch = early.launch END
        JOIN _act AS late
            ON CASE WHEN late.launch IS NULL THEN f.launch IS NULL AND f.seq = late.seq ELSE f.launch = late.launch END
        UNION ALL
        SELECT max(s.last_seq), any_value(f.seq), false
        FROM _asked AS a
        JOIN finding AS f ON f.finding = a._finding AND f.code = 'TR202' AND f.resource_kind = 'page'
        JOIN _span AS s ON s.page = f.resource_id AND s.last_seq < f.seq AND s.life = (
            SELECT max(u.life) FROM _used AS u WHERE u.page = f.resource_id AND u.life < f.life
        )
        JOIN _act AS other ON other.seq = f.other_seq AND other.stream <> s.stream
        GROUP BY s.stream
    )
SELECT
    early.launch AS from_launch, early.on_stream AS from_stream, from_name.name AS from_name, early.seq AS from_seq,
    late.launch AS to_launch, late.on_stream AS to_stream, to_name.name AS to_name, late.seq AS to_seq,
    CASE
        WHEN early.launch IS NULL THEN 'wait for the completion of ' || coalesce(early.kernel || ' of ', '')
            || from_name.name
        ELSE 'fence = device.record(' || _variable(from_name.name) || '); '
            || CASE WHEN late.launch IS NULL THEN 'device.sync(fence)'
                ELSE 'device.wait(' || _variable(to_name.name) || ', fence)' END
    END AS call,
    CASE
        WHEN early.launch IS NULL OR late.launch IS NULL THEN NULL
        WHEN early.kind = 'launch' AND late.kind <> 'launch'
            THEN 'device.launch(' || _variable(from_name.name) || ', ' || coalesce(late.kernel, '...') || ', ...)'
        ELSE 'device.launch(' || _variable(to_name.name) || ', ' || coalesce(early.kernel, '...') || ', ...)'
    END AS alternative
FROM _pairs AS p
JOIN _act AS early ON p.early_seq = early.seq
JOIN _act AS late ON p.late_seq = late.seq
JOIN _stream AS from_name ON early.stream = from_name.stream
JOIN _stream AS to_name ON late.stream = to_name.stream
WHERE early.seq < late.seq AND early.stream <> late.stream
    AND late.clock[early.stream + 1] < early.ordinal
ORDER BY p.named DESC, early.seq;
