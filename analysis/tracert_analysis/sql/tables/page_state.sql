-- The last facts of each page at the end, kept outside the ring: they outlive a history that was overwritten.
CREATE TABLE page_state (
    -- The page.
    page UINTEGER,
    -- Its last life.
    life UINTEGER,
    -- free, held or retired.
    state VARCHAR,
    -- Who took it last: it holds it, unless `given_back`; others that took it before may hold it still.
    holder VARCHAR,
    -- That holder gave it back.
    given_back BOOLEAN,
    -- Who took it last in the life before.
    previous_holder VARCHAR,
    -- Event that granted this life.
    alloc_seq UBIGINT,
    -- Last launch that wrote it, by explicit extent or by the rows it used.
    writer UBIGINT,
    -- Stream of that launch.
    writer_stream USMALLINT,
    -- Event of that launch.
    writer_seq UBIGINT,
    -- Life in which it was written.
    writer_life UINTEGER,
    -- Last fence that guarded its retirement.
    fence UBIGINT,
    -- Event that freed it last.
    freed_seq UBIGINT
);
