-- Outputs are finite. A symptom: what made them so is another finding, if the history shows it.
WITH
    seen AS (
        SELECT seq, launch, request, row, position, layer, class,
            coalesce(pages[1], [page::BIGINT, life::BIGINT]) AS first_page
        FROM _told_rest WHERE kind = 'nonfinite'
        QUALIFY row_number() OVER (PARTITION BY launch, request, row ORDER BY seq) = 1
    )
SELECT
    'TR902' AS code,
    'non-finite' AS name,
    s.seq,
    'symptom' AS class,
    'observed' AS confidence,
    coalesce(_launch_named(l.launch, l.kernel, n.name), 'a launch') || ' gave a value that is not finite'
    || coalesce(' for request ' || s.request, '') || coalesce(' at position ' || s.position, '')
    || CASE WHEN s.layer >= 0 THEN ' in layer ' || s.layer ELSE '' END
    || CASE s.class
        WHEN 'keys' THEN ', first among the keys and values that it stored'
        WHEN 'attention' THEN ', first in what attention gave'
        WHEN 'logits' THEN ', first among its logits'
        ELSE ''
    END AS sentence,
    CASE WHEN s.row IS NULL THEN 'request' ELSE 'row' END AS resource_kind,
    coalesce(s.row, s.request) AS resource_id,
    NULL AS life,
    s.row,
    t.generation,
    s.request,
    s.launch,
    l.stream,
    NULL AS other_launch,
    NULL AS other_stream,
    l.seq AS other_seq
FROM seen AS s
LEFT JOIN launch AS l USING (launch)
LEFT JOIN _stream AS n USING (stream)
LEFT JOIN _use AS t ON t.seq = l.seq AND t.row = s.row
