-- The edge between two launches whose lack a finding (its number in `finding`) tells of, and the call that adds it.
-- No row when no order between two streams lacks. Columns: from_launch, from_stream, from_name, from_seq, to_launch,
-- to_stream, to_name, to_seq, call (anywhere between the two events), alternative.
CREATE MACRO missing_edge(finding) AS TABLE
SELECT
    early.launch AS from_launch, early.stream AS from_stream, from_name.name AS from_name, early.seq AS from_seq,
    late.launch AS to_launch, late.stream AS to_stream, to_name.name AS to_name, late.seq AS to_seq,
    'fence = device.record(' || _variable(from_name.name) || '); device.wait(' || _variable(to_name.name) || ', fence)'
        AS call,
    'device.launch(' || _variable(to_name.name) || ', ' || coalesce(early.kernel, '...') || ', ...)' AS alternative
FROM finding AS f
JOIN launch AS early ON f.other_launch = early.launch
JOIN launch AS late ON f.launch = late.launch
JOIN _stream AS from_name ON early.stream = from_name.stream
JOIN _stream AS to_name ON late.stream = to_name.stream
WHERE f.finding = finding AND early.seq < late.seq AND early.stream <> late.stream
    AND late.clock[early.stream + 1] < early.ordinal;
