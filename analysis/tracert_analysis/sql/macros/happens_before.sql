-- Is launch `a` done before launch `b` starts, whatever the device does? Null when the history has one of them not.
CREATE MACRO happens_before(a, b) AS (
    -- One row, unless the dump is damaged and has a launch twice.
    SELECT min(
        CASE WHEN x.stream = y.stream THEN x.ordinal < y.ordinal ELSE y.clock[x.stream + 1] >= x.ordinal END
    )
    -- No name here stands in the way of columns that are given for the launches.
    FROM (SELECT a AS _a, b AS _b) AS asked
    JOIN launch AS x ON x.launch = asked._a
    JOIN launch AS y ON y.launch = asked._b
);
