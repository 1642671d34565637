-- The rules that this history breaks, each at the first event that breaks it. Sorted: by event, then by class.
CREATE TABLE finding (
    -- Number of the finding, from 1. The first is the root cause, unless it has nothing to do with what failed: then a
    -- report says which is.
    finding UBIGINT,
    -- Its code, such as TR102.
    code VARCHAR,
    -- Its name, such as unordered-publish.
    name VARCHAR,
    -- The event that breaks the rule.
    seq UBIGINT,
    -- order, lifetime, mapping, content, resource or symptom.
    class VARCHAR,
    -- observed (bytes or outputs went wrong), proven (the history alone breaks the rule) or suspected (it has holes).
    confidence VARCHAR,
    -- What happened, in a sentence.
    sentence VARCHAR,
    -- page, row, request, staging or workspace.
    resource_kind VARCHAR,
    -- Its number.
    resource_id BIGINT,
    -- The page's life.
    life BIGINT,
    -- The row that the launch used.
    row USMALLINT,
    -- The row's generation.
    generation UINTEGER,
    -- The request that had the row.
    request UBIGINT,
    -- The launch that breaks the rule; null when the host does.
    launch UBIGINT,
    -- Its stream.
    stream USMALLINT,
    -- The earlier launch that it should have been ordered after; null when there is none.
    other_launch UBIGINT,
    -- The stream of that launch.
    other_stream USMALLINT,
    -- The earlier event: that launch, or what ended the hold.
    other_seq UBIGINT
);
