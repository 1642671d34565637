-- Where each row's request stood at the end: its frontier and the transaction that was open.
CREATE TABLE lane_state (
    -- The row of the block table.
    row USMALLINT,
    -- held or released; null when only publishes are known.
    state VARCHAR,
    -- The row's generation: grows at each acquire.
    generation UINTEGER,
    -- The request that has the row, or had it last.
    request UBIGINT,
    -- Positions that were launched.
    frontier UBIGINT,
    -- Positions that the host has seen pass.
    committed UBIGINT,
    -- Positions launched and not yet seen to pass.
    provisional UBIGINT,
    -- The transaction that was open, null when none was.
    transaction UBIGINT,
    -- What the last step did for it: prefill or decode.
    phase VARCHAR,
    -- Number of that step.
    step UBIGINT,
    -- Tokens that it was to compute.
    scheduled_tokens UINTEGER,
    -- Tokens computed before.
    computed_tokens UINTEGER,
    -- Pages that it held.
    pages UINTEGER,
    -- The last publish's number within the row.
    epoch UBIGINT,
    -- The last publish.
    publish_launch UBIGINT,
    -- Its stream.
    publish_stream USMALLINT,
    -- Its event.
    publish_seq UBIGINT
);
