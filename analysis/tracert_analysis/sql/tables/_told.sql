-- Events as they were read, in a table for each family of kinds: one table with every column would be mostly null, and
-- six times as large. `_told_rest` has every column, in the order of `event`, and the kinds of no other family. Which
-- kinds go where `families.py` says. Rows lie in no order.
CREATE TABLE _told_rest (
    seq UBIGINT,
    t UBIGINT,
    kind kind,
    actor VARCHAR,
    page UINTEGER,
    life UINTEGER,
    holder VARCHAR,
    pool UINTEGER,
    mode VARCHAR,
    holders VARCHAR[],
    content VARCHAR,
    state VARCHAR,
    set UBIGINT,
    rows UINTEGER,
    fence UBIGINT,
    record_seq UBIGINT,
    device BOOLEAN,
    row USMALLINT,
    generation UINTEGER,
    index UINTEGER,
    request UBIGINT,
    staging UINTEGER,
    bytes UBIGINT,
    launch UBIGINT,
    stream USMALLINT,
    ordinal UBIGINT,
    kernel VARCHAR,
    phase VARCHAR,
    step UBIGINT,
    class VARCHAR,
    uses STRUCT(row USMALLINT, generation UINTEGER, start UINTEGER, "end" UINTEGER, walked UINTEGER, covers VARCHAR)[],
    reads BIGINT[][],
    writes BIGINT[][],
    resources VARCHAR[],
    source BIGINT[][],
    target BIGINT[][],
    "all" BOOLEAN,
    epoch UBIGINT,
    entries BIGINT[][],
    pages BIGINT[][],
    page_count UBIGINT,
    keyframe_pages STRUCT(page UINTEGER, life UINTEGER, state VARCHAR, holders VARCHAR[])[],
    transaction UBIGINT,
    op VARCHAR,
    frontier UBIGINT,
    positions UBIGINT,
    node UBIGINT,
    digest VARCHAR,
    parent UBIGINT,
    identity UBIGINT,
    hit_tokens UINTEGER,
    lookup_ns UBIGINT,
    snapshot UBIGINT,
    ranges BIGINT[][],
    "offset" UBIGINT,
    capacity UBIGINT,
    room UBIGINT,
    id VARCHAR,
    prompt_tokens UINTEGER,
    max_tokens UINTEGER,
    scheduled_tokens UINTEGER,
    computed_tokens UINTEGER,
    reason VARCHAR,
    drafts UINTEGER,
    accepted UINTEGER,
    walked UINTEGER,
    position UBIGINT,
    layer INTEGER,
    code BIGINT,
    name VARCHAR,
    message VARCHAR,
    observed_at VARCHAR,
    detail JSON
);

-- What was done to pages and to rows of the block table.
CREATE TABLE _told_page AS
SELECT seq, t, kind, actor, page, life, holder, pool, mode, fence, row, generation, index, request, pages
FROM _told_rest;

-- What orders work, and staging buffers that were filled.
CREATE TABLE _told_fence AS
SELECT seq, t, kind, actor, fence, record_seq, device, stream, ordinal, staging, bytes FROM _told_rest;

-- Work that was put on streams.
CREATE TABLE _told_launch AS
SELECT
    seq, t, kind, actor, launch, stream, ordinal, kernel, phase, step, class, uses, reads, writes, resources, row,
    generation, epoch, staging, entries, source, target, "all", page_count
FROM _told_rest;

-- What each step plans for each request, and what became of it.
CREATE TABLE _told_step AS
SELECT
    seq, t, kind, actor, request, row, phase, step, scheduled_tokens, computed_tokens, page_count, op, transaction,
    frontier
FROM _told_rest;

-- Blocks of the workspace.
CREATE TABLE _told_workspace AS
SELECT seq, t, kind, actor, launch, stream, "offset", bytes, capacity, room FROM _told_rest;
