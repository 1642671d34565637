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
            CASE WHEN m.identity <> t.identity THEN 'identity' ELSE 'tokens' END AS reason, NULL AS page, NULL AS life
        FROM matched AS m ASOF JOIN told AS t ON m.node = t.node AND m.seq > t.seq
        WHERE m.identity <> t.identity OR m.digest <> t.digest
        UNION ALL
        -- A tail is a page of another node; its tokens are those of whole pages and a few more: no digest tells.
        SELECT h.seq, h.request, h.cached_node, h.cached_seq, 'identity', NULL, NULL
        FROM _hit AS h WHERE h.cached = 'insert' AND h.identity <> h.cached_identity
        UNION ALL
        -- What came back from the host tier has other tokens than what it is cached as from then on.
        SELECT m.seq, m.request, m.node, m.source_seq, m.reason, m.page, m.life FROM _misloaded AS m
        UNION ALL
        -- What comes back is what another request had offloaded to the same slot since.
        SELECT z.seq, z.request, NULL, z.source_seq, 'slot', z.page, z.life FROM _refilled AS z
        UNION ALL
        -- What a row takes for a part of its sequence is another part of one.
        SELECT f.seq, f.request, NULL, f.other_seq, 'entry', f.page, f.life FROM _foreign AS f
    ),
    first_broken AS (
        SELECT * FROM broken QUALIFY row_number() OVER (
            PARTITION BY coalesce(page, node), life ORDER BY seq, reason, told_seq DESC
        ) = 1
    )
SELECT
    'TR501' AS code,
    'prefix-identity' AS name,
    b.seq,
    'content' AS class,
    -- Two requests may have the same tokens: of these no digest tells.
    CASE WHEN b.reason = 'slot' THEN 'suspected' ELSE _confidence(false, w.holes) END AS confidence,
    CASE
        WHEN b.reason = 'entry' THEN _launch_named(r.launch, r.kernel, rn.name) || ' reads page ' || f.page || '.'
            || f.life || ' as entry ' || f.index || ' of request ' || f.request || '; '
            || coalesce('request ' || f.other_request, 'another') || ' computed '
            || CASE WHEN f.via_seq IS NULL THEN 'it' ELSE 'what was copied there' END || ' as entry ' || f.other_index
            || ': other positions of a sequence'
        WHEN b.reason = 'slot' THEN _launch_named(l.launch, l.kernel, s.name) || ' loads slot ' || z.slot
            || ' of the host tier into page ' || b.page || '.' || b.life || ' of request ' || b.request
            || ', whose page ' || z.lost_page || '.' || z.lost_life || ' had been offloaded there at event '
            || z.lost_seq || '; since then ' || _launch_named(e.launch, e.kernel, es.name)
            || ' has offloaded page ' || z.source_page || '.' || z.source_life || ' of request ' || z.source_request
            || ' to it, which that request alone had, and no match gave it to request ' || b.request
        WHEN b.page IS NOT NULL THEN _launch_named(l.launch, l.kernel, s.name) || ' loads slot ' || o.slot
            || ' of the host tier into page ' || b.page || '.' || b.life || coalesce(' of request ' || b.request, '')
            || ', which is cached as prefix ' || b.node || ' from event ' || o.node_seq
            || ' on; but the slot has prefix ' || o.source_node || ', offloaded from page ' || o.source_page || '.'
            || o.source_life || ' by ' || _launch_named(e.launch, e.kernel, es.name)
            || CASE b.reason WHEN 'identity' THEN ', for another model, adapter, salt or weights epoch'
                ELSE ': other tokens' END
            || coalesce('; what was wanted had been offloaded there at event ' || o.lost_seq, '')
        WHEN b.reason = 'identity' THEN 'request ' || b.request || ' hits prefix ' || b.node
            || ', which was inserted at event ' || b.told_seq || ' for another model, adapter, salt or weights epoch'
        ELSE 'request ' || b.request || ' hits prefix ' || b.node || ', whose tokens, as inserted at event '
            || b.told_seq || ', are not those of the request'
    END AS sentence,
    CASE WHEN b.page IS NULL THEN 'prefix' ELSE 'page' END AS resource_kind,
    coalesce(b.page, b.node) AS resource_id,
    b.life,
    coalesce(f.row, t.row) AS row,
    coalesce(f.generation, t.generation) AS generation,
    b.request,
    coalesce(r.launch, l.launch) AS launch,
    coalesce(r.on_stream, l.on_stream) AS stream,
    e.launch AS other_launch,
    e.on_stream AS other_stream,
    b.told_seq AS other_seq
FROM first_broken AS b
ASOF LEFT JOIN (FROM _tenancy WHERE request IS NOT NULL) AS t ON b.request = t.request AND b.seq < t.from_seq
LEFT JOIN _foreign AS f ON b.reason = 'entry' AND b.page = f.page AND b.life = f.life AND b.seq = f.seq
LEFT JOIN _act AS r ON f.seq = r.seq
LEFT JOIN _stream AS rn ON r.stream = rn.stream
LEFT JOIN _misloaded AS o ON b.page = o.page AND b.life = o.life AND b.seq = o.seq
LEFT JOIN _refilled AS z ON b.reason = 'slot' AND b.page = z.page AND b.life = z.life AND b.seq = z.seq
LEFT JOIN _act AS l ON coalesce(o.seq, z.seq) = l.seq
LEFT JOIN _stream AS s ON l.stream = s.stream
LEFT JOIN _act AS e ON coalesce(o.source_seq, z.source_seq) = e.seq
LEFT JOIN _stream AS es ON e.stream = es.stream
CROSS JOIN _window AS w
