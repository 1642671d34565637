-- The first fence that covers the last write of a page: what waits for it, or knows it passed, is ordered after the
-- write. Where none covers it, the last fence before. No row when the writer's stream has no fence, or when it has no
-- stream.
-- * page: The page.
-- * life: The life that was written last.
-- * writer: The launch that wrote it last.
-- * fence: The fence.
-- * stream: The stream of the writer and of the fence.
-- * ordinal: The launch of that stream behind which the fence stands.
-- * record_seq: Event that recorded it.
-- * wait_seq: Event since which a stream waits for it; null when none does.
-- * wait_stream: That stream.
-- * passed_seq: Event since which the host knows that it passed; null when it never learned.
-- * covers: Does it stand behind the write?
CREATE MACRO last_fence(page) AS TABLE
SELECT
    w.page, w.life, w.launch AS writer, f.fence, f.stream, f.ordinal, f.record_seq, f.wait_seq, f.wait_stream,
    f.passed_seq, f.ordinal >= w.ordinal AS covers
FROM (
    SELECT s.page, s.life, l.launch, l.stream, l.ordinal
    FROM _span AS s JOIN _act AS l ON s.last_seq = l.seq
    WHERE s.page = page AND s.mode = 'write'
    ORDER BY s.last_seq DESC LIMIT 1
) AS w
JOIN fence AS f ON w.stream = f.stream
ORDER BY
    covers DESC,
    CASE WHEN f.ordinal >= w.ordinal THEN f.record_seq ELSE -f.record_seq::BIGINT END,
    f.wait_seq
LIMIT 1;
