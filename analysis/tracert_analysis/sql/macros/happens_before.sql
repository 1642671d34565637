-- Is launch `a` done before launch `b` starts, whatever the device does? Null when the history has one of them not.
CREATE MACRO happens_before(a, b) AS (
    -- One row, unless the dump is damaged and has a launch twice.
    SELECT min(
        CASE WHEN x.stream = y.stream THEN x.ordinal < y.ordinal ELSE y.clock[x.stream + 1] >= x.ordinal END
    )
    FROM launch AS x, launch AS y
    WHERE x.launch = a AND y.launch = b
);
