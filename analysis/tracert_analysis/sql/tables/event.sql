-- Every event of the dump, all kinds in one wide view; columns of other kinds are null. Rows lie in no order: sort by
-- `seq`.
CREATE VIEW event (
    -- Total order of the recording process. Gaps are no loss: a long record takes several numbers.
    seq,
    -- When it was recorded: nanoseconds of the monotonic clock.
    t,
    -- What happened; null for a kind that this reader doesn't know.
    kind,
    -- Who did it: host, or external:NAME for writers without a stream.
    actor,
    -- The page; null when the event names several (`pages`).
    page,
    -- The page's life: grows each time it leaves the free list.
    life,
    -- Who holds: KIND:NUMBER.
    holder,
    -- The pool that granted.
    pool,
    -- How a holder holds: read or write.
    mode,
    -- Holders of a page in a keyframe: KIND:NUMBER/MODE.
    holders,
    -- What a keyframe knows of a page's bytes.
    content,
    -- State of a page in a keyframe: free, held or retired.
    state,
    -- The keyframe that a record belongs to.
    set,
    -- Rows in a complete keyframe.
    rows,
    -- The fence.
    fence,
    -- Event that recorded the fence which is waited for; null or 0 is no fence.
    record_seq,
    -- The host learned that the whole device has passed.
    device,
    -- The row of the block table.
    row,
    -- The row's generation.
    generation,
    -- First index of a row that is mapped or unmapped.
    index,
    -- The engine's number of the request, never used again.
    request,
    -- The staging buffer.
    staging,
    -- Bytes that were written or are meant.
    bytes,
    -- The launch's number, counted over the device.
    launch,
    -- The stream.
    stream,
    -- The launch's number within its stream, or the launch behind which a fence stands.
    ordinal,
    -- Name of the kernel.
    kernel,
    -- What the step does: prefill, decode, mixed, sample.
    phase,
    -- Number of the step.
    step,
    -- What a launch's `writes` get, where it is not keys and values: rows (of a snapshot).
    -- Where a value was first not finite: keys, attention, logits.
    class,
    -- How a launch uses rows.
    uses,
    -- Extents read: [page, life, first, end].
    reads,
    -- Extents written: [page, life, first, end].
    writes,
    -- Other device memory that a launch touches: read:NAME, write:NAME.
    resources,
    -- Extents that a copy reads.
    source,
    -- Extents that a copy or a clear writes.
    target,
    -- A clear of every page of the arena.
    "all",
    -- The publish's number within its row.
    epoch,
    -- What a publish writes: [index, page, life]; what an offload or a load moves: [slot, page, life];
    -- what a guarded kernel found that was not meant: [index, page].
    entries,
    -- The pages of the event: [page, life].
    pages,
    -- Where `pages` is a number: pages held (schedule), pages of the arena (clear), pages of a keyframe.
    page_count,
    -- The pages of a keyframe, as they stood.
    keyframe_pages,
    -- The transaction.
    transaction,
    -- begin, commit or abort.
    op,
    -- Positions up to which a row is computed.
    frontier,
    -- Number of positions.
    positions,
    -- The prefix node; 0 is the root, or none.
    node,
    -- Keyed digest of the node's tokens: 16 hex digits.
    digest,
    -- The parent of the node.
    parent,
    -- Keyed hash of model, adapter, salt and weights epoch.
    identity,
    -- Tokens that a match found.
    hit_tokens,
    -- How long the match took, in nanoseconds.
    lookup_ns,
    -- The snapshot.
    snapshot,
    -- Byte ranges: [page, first, end].
    ranges,
    -- Offset in the workspace, in bytes.
    "offset",
    -- All bytes of the workspace.
    capacity,
    -- The largest piece of the workspace that is free, in bytes: before a plan, after a block was granted or given
    -- back.
    room,
    -- Public id of a request.
    id,
    -- Tokens of the prompt.
    prompt_tokens,
    -- Tokens that may be generated.
    max_tokens,
    -- Tokens computed in this step.
    scheduled_tokens,
    -- Tokens computed before this step.
    computed_tokens,
    -- Why it happened.
    reason,
    -- Drafts proposed.
    drafts,
    -- Drafts accepted.
    accepted,
    -- Entries that a guarded kernel followed.
    walked,
    -- A position of the sequence.
    position,
    -- Layer of the model, -1 when unknown.
    layer,
    -- Code of an error, as the runtime gives it.
    code,
    -- Name of an error, as the runtime gives it.
    name,
    -- Message of an error.
    message,
    -- The call at which the host learned it.
    observed_at,
    -- Sub-codes of an error, as the runtime gives them.
    detail
) AS
SELECT
    seq, t, kind, actor, page, life, holder, pool, mode, holders, content, state, set, rows, fence, record_seq,
    device, row, generation, index, request, staging, bytes, launch, stream, ordinal, kernel, phase, step, class,
    uses, reads, writes, resources, source, target, "all", epoch, entries, pages, page_count, keyframe_pages,
    transaction, op, frontier, positions, node, digest, parent, identity, hit_tokens, lookup_ns, snapshot, ranges,
    "offset", capacity, room, id, prompt_tokens, max_tokens, scheduled_tokens, computed_tokens, reason, drafts,
    accepted, walked, position, layer, code, name, message, observed_at, detail
FROM (
    FROM _told_rest
    UNION ALL BY NAME
    FROM _told_page
    UNION ALL BY NAME
    FROM _told_fence
    UNION ALL BY NAME
    FROM _told_launch
    UNION ALL BY NAME
    FROM _told_step
    UNION ALL BY NAME
    FROM _told_workspace
);
