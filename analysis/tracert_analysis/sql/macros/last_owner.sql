-- Who a page was granted to last, and who held it last. One row; from the last facts of the page where the history
-- doesn't reach back to its grant. Columns: page, life, owner, holder, mode, from_seq, until_seq (null while it is
-- held), source (history or page_state).
CREATE MACRO last_owner(page) AS TABLE
WITH
    told AS (
        SELECT p.page, p.life, p.owner, h.holder, h.mode, h.from_seq, h.until_seq, 'history' AS source
        FROM page_life AS p LEFT JOIN holding AS h ON p.page = h.page AND p.life = h.life
        WHERE p.page = page AND (p.owner IS NOT NULL OR h.holder IS NOT NULL)
        ORDER BY p.life DESC, h.from_seq DESC NULLS LAST
        LIMIT 1
    ),
    state AS (
        SELECT s.page, s.life, NULL AS owner, s.holder, NULL AS mode, s.alloc_seq, s.freed_seq, 'page_state' AS source
        FROM page_state AS s
        WHERE s.page = page AND s.holder IS NOT NULL AND NOT EXISTS (FROM told)
    )
FROM told UNION ALL FROM state;
