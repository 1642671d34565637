-- Who a page was granted to last, and who held it last. One row; from the last facts of the page where the history
-- doesn't reach back to its grant.
-- * page: The page.
-- * life: Its last life.
-- * owner: Who that life was granted to; null when only the last facts are known.
-- * holder: Who held it last, and holds it while `until_seq` is null.
-- * mode: How: read or write; null when only the last facts are known.
-- * from_seq: Event since which it is held so.
-- * until_seq: Event that gave it back; null while it is held.
-- * source: history, or page_state where only the last facts are known.
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
