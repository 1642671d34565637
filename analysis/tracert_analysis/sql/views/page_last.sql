-- The last owner, writer and fence of every page of the pool, at the end: what `last_owner`, `last_writer` and
-- `last_fence` say, in one row a page.
CREATE VIEW page_last (
    -- The page.
    page,
    -- Its last life that was granted or held.
    life,
    -- Who that life was granted to; null when the grant lies before the history.
    owner,
    -- Who held it last, and holds it while `until_seq` is null.
    holder,
    -- What the holder may do: read or write; null when only the last facts are known.
    mode,
    -- Event since which it is held so, or the keyframe that knew that it was.
    from_seq,
    -- Event that gave it back; null while it is held.
    until_seq,
    -- The launch that wrote it last; null where an actor did without one, or nothing.
    writer,
    -- The life in which it was written; 0 for the clear of the whole arena.
    writer_life,
    -- Event of that launch, or of what the actor did.
    writer_seq,
    -- Stream of that launch.
    writer_stream,
    -- Its number within the stream.
    writer_ordinal,
    -- Name of its kernel.
    writer_kernel,
    -- The row through which it found the page; null for explicit extents.
    writer_row,
    -- The request that had the row; null where several had.
    writer_request,
    -- finished, running or waiting at the end.
    writer_state,
    -- First position that it wrote; null where only the last facts are known.
    first,
    -- Position behind the last one.
    "end",
    -- What it put there: kv, rows, zero, copy or host; null where only the last facts are known.
    class,
    -- host or external:NAME, where no launch wrote it.
    actor,
    -- The first fence that covers that write; where none does, the last one before; null where there is none.
    fence,
    -- The launch of the writer's stream behind which the fence stands.
    fence_ordinal,
    -- Event that recorded it.
    record_seq,
    -- Event since which a stream waits for it; null when none does.
    wait_seq,
    -- That stream.
    wait_stream,
    -- Event since which the host knows that it passed; null when it never learned.
    passed_seq,
    -- Does the fence stand behind the write?
    covers
) AS
SELECT
    p.page, o.life, o.owner, o.holder, o.mode, o.from_seq, o.until_seq, w.launch, w.life, w.seq, w.stream, w.ordinal,
    w.kernel, w.row, w.request, w.state, w.first, w.end, w.class, w.actor, w.fence,
    CASE WHEN w.fence IS NOT NULL THEN w.behind END, w.record_seq, w.wait_seq, w.wait_stream, w.passed_seq,
    CASE WHEN w.fence IS NOT NULL THEN w.covers END
FROM (
    SELECT unnest(range(least(coalesce(kv_pages, 0), 16777216)::BIGINT)) AS page FROM _window
    UNION
    -- Where the header doesn't say how many there are.
    SELECT page FROM page_life UNION SELECT page FROM page_state
) AS p
LEFT JOIN _last_owners(NULL) AS o ON p.page = o.page
LEFT JOIN _last_fences(NULL) AS w ON p.page = w.page;
