-- How far each stream had come at the end, from the progress words that launches leave in host memory.
CREATE TABLE stream_state (
    -- The stream; 0 is the legacy default stream.
    stream USMALLINT,
    -- Its name in the engine, as a call would say it.
    name VARCHAR,
    -- Does it order itself with the legacy default stream?
    blocking BOOLEAN,
    -- Ordinal of the last launch that was enqueued.
    launched UBIGINT,
    -- Ordinal of the last launch that started.
    started UBIGINT,
    -- Ordinal of the last launch that finished.
    finished UBIGINT
);
