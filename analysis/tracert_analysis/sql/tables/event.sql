-- Every event of the dump, all kinds in one wide table; columns of other kinds are null. Rows lie in no order: sort by
-- `seq`.
CREATE TABLE event (
    -- Total order of the recording process. Gaps are no loss: a long record takes several numbers.
    seq UBIGINT,
    -- When it was recorded: nanoseconds of the monotonic clock.
    t UBIGINT,
    -- What happened; null for a kind that this reader doesn't know.
    kind kind,
    -- Who did it: host, or external:NAME for writers without a stream.
    actor VARCHAR,
    -- The page; null when the event names several (`pages`).
    page UINTEGER,
    -- The page's life: grows each time it leaves the free list.
    life UINTEGER,
    -- Who holds: KIND:NUMBER.
    holder VARCHAR,
    -- The pool that granted.
    pool UINTEGER,
    -- How a holder holds: read or write.
    mode VARCHAR,
    -- Holders of a page in a keyframe: KIND:NUMBER/MODE.
    holders VARCHAR[],
    -- What a keyframe knows of a page's bytes.
    content VARCHAR,
    -- State of a page in a keyframe: free, held or retired.
    state VARCHAR,
    -- The keyframe that a record belongs to.
    set UBIGINT,
    -- Rows in a complete keyframe.
    rows UINTEGER,
    -- The fence.
    fence UBIGINT,
    -- Event that recorded the fence which is waited for; null or 0 is no fence.
    record_seq UBIGINT,
    -- The host learned that the whole device has passed.
    device BOOLEAN,
    -- The row of the block table.
    row USMALLINT,
    -- The row's generation.
    generation UINTEGER,
    -- First index of a row that is mapped or unmapped.
    index UINTEGER,
    -- The engine's number of the request, never used again.
    request UBIGINT,
    -- The staging buffer.
    staging UINTEGER,
    -- Bytes that were written or are meant.
    bytes UBIGINT,
    -- The launch's number, counted over the device.
    launch UBIGINT,
    -- The stream.
    stream USMALLINT,
    -- The launch's number within its stream, or the launch behind which a fence stands.
    ordinal UBIGINT,
    -- Name of the kernel.
    kernel VARCHAR,
    -- What the step does: prefill, decode, mixed, sample.
    phase VARCHAR,
    -- Number of the step.
    step UBIGINT,
    -- What a launch's `writes` get, where it is not keys and values: rows (of a snapshot).
    -- Where a value was first not finite: keys, attention, logits.
    class VARCHAR,
    -- How a launch uses rows.
    uses STRUCT(row USMALLINT, generation UINTEGER, start UINTEGER, "end" UINTEGER, walked UINTEGER, covers VARCHAR)[],
    -- Extents read: [page, life, first, end].
    reads BIGINT[][],
    -- Extents written: [page, life, first, end].
    writes BIGINT[][],
    -- Other device memory that a launch touches: read:NAME, write:NAME.
    resources VARCHAR[],
    -- Extents that a copy reads.
    source BIGINT[][],
    -- Extents that a copy or a clear writes.
    target BIGINT[][],
    -- A clear of every page of the arena.
    "all" BOOLEAN,
    -- The publish's number within its row.
    epoch UBIGINT,
    -- What a publish writes: [index, page, life]; what an offload or a load moves: [slot, page, life];
    -- what a guarded kernel found that was not meant: [index, page].
    entries BIGINT[][],
    -- The pages of the event: [page, life].
    pages BIGINT[][],
    -- Where `pages` is a number: pages held (schedule), pages of the arena (clear), pages of a keyframe.
    page_count UBIGINT,
    -- The pages of a keyframe, as they stood.
    keyframe_pages STRUCT(page UINTEGER, life UINTEGER, state VARCHAR, holders VARCHAR[])[],
    -- The transaction.
    transaction UBIGINT,
    -- begin, commit or abort.
    op VARCHAR,
    -- Positions up to which a row is computed.
    frontier UBIGINT,
    -- Number of positions.
    positions UBIGINT,
    -- The prefix node; 0 is the root, or none.
    node UBIGINT,
    -- Keyed digest of the node's tokens: 16 hex digits.
    digest VARCHAR,
    -- The parent of the node.
    parent UBIGINT,
    -- Keyed hash of model, adapter, salt and weights epoch.
    identity UBIGINT,
    -- Tokens that a match found.
    hit_tokens UINTEGER,
    -- How long the match took, in nanoseconds.
    lookup_ns UBIGINT,
    -- The snapshot.
    snapshot UBIGINT,
    -- Byte ranges: [page, first, end].
    ranges BIGINT[][],
    -- Offset in the workspace, in bytes.
    "offset" UBIGINT,
    -- All bytes of the workspace.
    capacity UBIGINT,
    -- The largest piece of the workspace that is free, in bytes: before a plan, after a block was granted or given
    -- back.
    room UBIGINT,
    -- Public id of a request.
    id VARCHAR,
    -- Tokens of the prompt.
    prompt_tokens UINTEGER,
    -- Tokens that may be generated.
    max_tokens UINTEGER,
    -- Tokens computed in this step.
    scheduled_tokens UINTEGER,
    -- Tokens computed before this step.
    computed_tokens UINTEGER,
    -- Why it happened.
    reason VARCHAR,
    -- Drafts proposed.
    drafts UINTEGER,
    -- Drafts accepted.
    accepted UINTEGER,
    -- Entries that a guarded kernel followed.
    walked UINTEGER,
    -- A position of the sequence.
    position UBIGINT,
    -- Layer of the model, -1 when unknown.
    layer INTEGER,
    -- Code of an error, as the runtime gives it.
    code BIGINT,
    -- Name of an error, as the runtime gives it.
    name VARCHAR,
    -- Message of an error.
    message VARCHAR,
    -- The call at which the host learned it.
    observed_at VARCHAR,
    -- Sub-codes of an error, as the runtime gives them.
    detail JSON
);
