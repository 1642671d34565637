-- Everything that happened to a page, in the order of events: grants, holders, releases, where it was mapped and
-- published, and launches that read or wrote it (the first of a run on one stream).
-- * seq: The event.
-- * what: Its kind, or how it touched the page: read, write, or that behind copy, clear, extent, offload or load.
-- * life: The life.
-- * holder: Who holds it from here on, or no more.
-- * mode: What the holder may do: read or write.
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
    h._seq AS seq, h._what AS what, h._life AS life, h._holder AS holder, h._mode AS mode, h._launch AS launch,
    h._stream AS stream, h._row AS row, h._generation AS generation, h._request AS request, h._fence AS fence,
    h._until_seq AS until_seq, h._actor AS actor
FROM (
    -- No name here stands in the way of a column that is given for the page.
    SELECT * FROM (
        SELECT
            e.page AS _page, e.seq AS _seq, e.kind::VARCHAR AS _what, e.life AS _life, e.holder AS _holder,
            e.mode AS _mode, NULL AS _launch, NULL AS _stream, NULL AS _row, NULL AS _generation, NULL AS _request,
            e.fence AS _fence, NULL AS _until_seq, NULL AS _actor
        FROM _page_event AS e
        UNION ALL
        SELECT
            m.x[1], m.seq, m.kind::VARCHAR, m.x[2], NULL, NULL, NULL, NULL, m.row, m.generation, NULL, NULL, NULL,
            NULL
        FROM (
            SELECT e.seq, e.kind, e.row, e.generation,
                unnest(coalesce(e.pages, [[e.page::BIGINT, e.life::BIGINT]])) AS x
            FROM _told_page AS e WHERE e.kind IN ('map', 'unmap')
        ) AS m
        UNION ALL
        SELECT
            c.page, c.seq, 'publish', c.life, NULL, NULL, c.launch, c.stream, c.row, c.generation, n.request, NULL,
            c.until_seq, NULL
        FROM row_content AS c LEFT JOIN _tenancy AS n ON c.row = n.row AND c.generation = n.generation
        WHERE c.launch IS NOT NULL
        UNION ALL
        SELECT
            t.page, t.first_seq, t.mode, t.life, NULL, NULL, l.launch, t.stream, t.row, t.generation, n.request, NULL,
            t.last_seq, NULL
        FROM _touch AS t
        JOIN launch AS l ON t.first_seq = l.seq
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        WHERE t.mode <> 'walk'
        UNION ALL
        SELECT x.page, x.seq, x.source || ' ' || x.mode, x.life, NULL, NULL, x.launch,
            CASE WHEN x.launch IS NOT NULL THEN x.stream END, NULL, NULL, NULL, NULL, NULL, x.actor
        FROM _extent AS x
    ) AS _h WHERE _h._page = page
) AS h
ORDER BY h._seq, h._what;
