-- Blocks of the execution workspace: which launch had which bytes, from when until when.
CREATE TABLE workspace (
    -- The launch that had the block.
    launch UBIGINT,
    -- Its stream.
    stream USMALLINT,
    -- First byte of the block.
    "offset" UBIGINT,
    -- Its length in bytes.
    bytes UBIGINT,
    -- Room of the workspace, in bytes.
    capacity UBIGINT,
    -- The largest piece that was still free behind it, in bytes.
    room UBIGINT,
    -- What the launch had planned altogether, in bytes; null when it told no plan.
    planned_bytes UBIGINT,
    -- Event that granted the block.
    alloc_seq UBIGINT,
    -- Event that gave it back; null while it is live.
    free_seq UBIGINT
);

INSERT INTO workspace
WITH
    blocks AS (
        SELECT seq, kind, launch, stream, "offset", bytes, capacity, room
        FROM _told_workspace WHERE kind IN ('workspace_alloc', 'workspace_free')
    ),
    plans AS (
        SELECT launch, arg_max(bytes, seq) AS bytes FROM _told_workspace WHERE kind = 'workspace_plan' GROUP BY launch
    )
SELECT a.launch, a.stream, a.offset, a.bytes, a.capacity, a.room, p.bytes, a.seq, f.seq
FROM (FROM blocks WHERE kind = 'workspace_alloc') AS a
ASOF LEFT JOIN (FROM blocks WHERE kind = 'workspace_free') AS f
    ON a.launch = f.launch AND a.offset = f.offset AND a.seq < f.seq
LEFT JOIN plans AS p ON a.launch = p.launch
ORDER BY a.seq;
