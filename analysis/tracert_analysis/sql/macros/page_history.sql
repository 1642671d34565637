-- Everything that happened to a page, in the order of events: grants, holders, releases, where it was mapped and
-- published, and launches that read or wrote it (the first of a run on one stream).
-- * seq: The event.
-- * what: Its kind, or how it touched the page: read, write, or that behind copy, clear, extent, offload or load.
-- * life: The life.
-- * holder: Who holds it from here on, or no more.
-- * mode: How a holder holds: read or write.
-- * launch: The launch.
-- * stream: Its stream.
-- * row: The row that names the page.
-- * generation: The row's generation.
-- * request: The request that had the row.
-- * fence: The fence behind which it was retired.
-- * until_seq: Of a publish the event that overwrote it, of reads and writes the last of the run.
-- * actor: host or external:NAME, where it was touched without a launch.
CREATE MACRO page_history(page) AS TABLE
SELECT
    e.seq, e.kind::VARCHAR AS what, e.life, e.holder, e.mode, NULL AS launch, NULL AS stream, NULL AS row,
    NULL AS generation, NULL AS request, e.fence, NULL AS until_seq, NULL AS actor
FROM _page_event AS e WHERE e.page = page
UNION ALL
SELECT
    m.seq, m.kind::VARCHAR, m.x[2], NULL, NULL, NULL, NULL, m.row, m.generation, NULL, NULL, NULL, NULL
FROM (
    SELECT seq, kind, row, generation, unnest(coalesce(pages, [[e.page::BIGINT, e.life::BIGINT]])) AS x
    FROM _told_page AS e WHERE e.kind IN ('map', 'unmap')
) AS m WHERE m.x[1] = page
UNION ALL
SELECT
    c.seq, 'publish', c.life, NULL, NULL, c.launch, c.stream, c.row, c.generation, n.request, NULL, c.until_seq, NULL
FROM row_content AS c LEFT JOIN _tenancy AS n ON c.row = n.row AND c.generation = n.generation
WHERE c.page = page AND c.launch IS NOT NULL
UNION ALL
SELECT
    t.first_seq, t.mode, t.life, NULL, NULL, l.launch, t.stream, t.row, t.generation, n.request, NULL, t.last_seq, NULL
FROM _touch AS t
JOIN launch AS l ON t.first_seq = l.seq
LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
WHERE t.page = page AND t.mode <> 'walk'
UNION ALL
SELECT x.seq, x.source || ' ' || x.mode, x.life, NULL, NULL, x.launch,
    CASE WHEN x.launch IS NOT NULL THEN x.stream END, NULL, NULL, NULL, NULL, NULL, x.actor
FROM _extent AS x WHERE x.page = page
ORDER BY seq, what;
