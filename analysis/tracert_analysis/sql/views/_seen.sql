-- The kinds of events that there are, how many of each and from where to where; null stands for unknown kinds.
CREATE TABLE _seen AS
SELECT
    kind, count(*) AS events, min(seq) AS first_seq, max(seq) AS last_seq,
    -- Somebody else than the host acted.
    coalesce(bool_or(actor <> 'host'), false) AS outside
FROM (
    SELECT kind, seq, actor FROM _told_page
    UNION ALL
    SELECT kind, seq, actor FROM _told_fence
    UNION ALL
    SELECT kind, seq, actor FROM _told_launch
    UNION ALL
    SELECT kind, seq, actor FROM _told_step
    UNION ALL
    SELECT kind, seq, actor FROM _told_workspace
    UNION ALL
    SELECT kind, seq, actor FROM _told_rest
)
GROUP BY kind;
