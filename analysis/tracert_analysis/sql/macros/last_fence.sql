-- The first fence that covers the last write of a page, at the end or `before` an event: what waits for it, or knows it
-- passed, is ordered after the write. Where none covers it, the last fence before. No row when the writer's stream has
-- no fence, or when it has no stream. Of a write before the history, the first fence that the history has.
-- * page: The page.
-- * life: The life that was written last.
-- * writer: The launch that wrote it last.
-- * fence: The fence.
-- * stream: The stream of the writer and of the fence.
-- * ordinal: The launch of that stream behind which the fence stands.
-- * record_seq: Event that recorded it.
-- * wait_seq: Event since which a stream waits for it; null when none did.
-- * wait_stream: That stream.
-- * passed_seq: Event since which the host knows that it passed; null when it had not learned.
-- * covers: Does it stand behind the write?
CREATE MACRO last_fence(page, before := NULL) AS TABLE
SELECT
    f._page AS page, f._life AS life, f._launch AS writer, f._fence AS fence, f._stream AS stream, f._behind AS ordinal,
    f._record_seq AS record_seq, f._wait_seq AS wait_seq, f._wait_stream AS wait_stream, f._passed_seq AS passed_seq,
    f._covers AS covers
FROM (
    SELECT * FROM (
        SELECT l.page AS _page, l.life AS _life, l.launch AS _launch, l.stream AS _stream, l.fence AS _fence,
            l.behind AS _behind, l.record_seq AS _record_seq, l.wait_seq AS _wait_seq, l.wait_stream AS _wait_stream,
            l.passed_seq AS _passed_seq, l.covers AS _covers
        FROM _last_fences(before) AS l
    ) AS _l WHERE _l._page = page AND _l._fence IS NOT NULL
) AS f;
