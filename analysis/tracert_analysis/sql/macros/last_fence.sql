-- The first fence that covers the last write of a page: what waits for it, or knows it passed, is ordered after the
-- write. Where none covers it, the last fence before. No row when the writer's stream has no fence, or when it has
-- no stream. Columns: page,
-- life, writer, fence, stream, ordinal, record_seq, wait_seq, wait_stream, passed_seq, covers.
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
