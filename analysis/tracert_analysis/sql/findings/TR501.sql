-- A hit has the tokens, and the model, adapter, salt and weights epoch, of what was inserted.
WITH
    -- What a node is, the last insert of it tells.
    told AS (
        SELECT seq, node, digest, identity FROM _told_rest WHERE kind = 'insert' AND node > 0 AND digest IS NOT NULL
    ),
    matched AS (
        SELECT seq, request, node, digest, identity FROM _told_rest
        WHERE kind = 'match' AND node > 0 AND (len(pages) > 0 OR hit_tokens > 0)
    ),
    broken AS (
        SELECT m.seq, m.request, m.node, t.seq AS told_seq,
            CASE WHEN m.identity <> t.identity THEN 'identity' ELSE 'tokens' END AS reason
        FROM matched AS m ASOF JOIN told AS t ON m.node = t.node AND m.seq > t.seq
        WHERE m.identity <> t.identity OR m.digest <> t.digest
        UNION ALL
        -- A tail is a page of another node; its tokens are those of whole pages and a few more: no digest tells.
        SELECT h.seq, h.request, h.cached_node, h.cached_seq, 'identity'
        FROM _hit AS h WHERE h.cached = 'insert' AND h.identity <> h.cached_identity
    ),
    first_broken AS (
        SELECT * FROM broken QUALIFY row_number() OVER (PARTITION BY node ORDER BY seq, reason, told_seq DESC) = 1
    )
SELECT
    'TR501' AS code,
    'prefix-identity' AS name,
    b.seq,
    'content' AS class,
    _confidence(false, w.holes) AS confidence,
    CASE b.reason
        WHEN 'identity' THEN 'request ' || b.request || ' hits prefix ' || b.node
            || ', which was inserted at event ' || b.told_seq || ' for another model, adapter, salt or weights epoch'
        ELSE 'request ' || b.request || ' hits prefix ' || b.node || ', whose tokens, as inserted at event '
            || b.told_seq || ', are not those of the request'
    END AS sentence,
    'prefix' AS resource_kind,
    b.node AS resource_id,
    NULL AS life,
    t.row,
    t.generation,
    b.request,
    NULL AS launch,
    NULL AS stream,
    NULL AS other_launch,
    NULL AS other_stream,
    b.told_seq AS other_seq
FROM first_broken AS b
ASOF LEFT JOIN (FROM _tenancy WHERE request IS NOT NULL) AS t ON b.request = t.request AND b.seq < t.from_seq
CROSS JOIN _window AS w
