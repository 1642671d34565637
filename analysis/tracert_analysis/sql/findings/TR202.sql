-- The first access of a life of a page is ordered after every access of the life before.
WITH
    touched AS (
        SELECT page, life, stream, min(first_seq) AS first_seq, max(last_seq) AS last_seq
        FROM _span GROUP BY page, life, stream
    ),
    lives AS (
        SELECT page, life, lag(life) OVER (PARTITION BY page ORDER BY life) AS previous
        FROM (SELECT DISTINCT page, life FROM touched)
    ),
    -- The life before, on each stream: its last access before the new life's first one. What comes after that is use
    -- after free, and TR201 tells of it.
    pairs AS (
        SELECT
            b.page, b.life, b.stream, b.first_seq, l.previous, a.stream AS other_stream,
            CASE
                WHEN a.last_seq < b.first_seq THEN a.last_seq
                ELSE (
                    SELECT max(n.seq) FROM _near AS n
                    WHERE n.page = a.page AND n.life = a.life AND n.stream = a.stream AND n.seq < b.first_seq
                )
            END AS other_seq
        FROM lives AS l
        JOIN touched AS b ON l.page = b.page AND l.life = b.life
        JOIN touched AS a ON l.page = a.page AND l.previous = a.life
        WHERE a.stream <> b.stream
        UNION ALL
        -- A clear of the whole arena comes before every first life.
        SELECT b.page, b.life, b.stream, b.first_seq, 0, e.stream, e.seq
        FROM lives AS l
        JOIN touched AS b ON l.page = b.page AND l.life = b.life
        JOIN _told_launch AS e ON e.kind = 'clear' AND e.all AND e.stream <> b.stream AND e.seq < b.first_seq
        WHERE l.previous IS NULL
    ),
    broken AS (
        SELECT p.*, NULL AS request, NULL AS slot, NULL AS other_kind
        FROM pairs AS p
        JOIN _act AS late ON p.first_seq = late.seq
        JOIN _act AS early ON p.other_seq = early.seq
        WHERE late.clock[early.stream + 1] < early.ordinal
        QUALIFY row_number() OVER (PARTITION BY p.page, p.life ORDER BY p.first_seq, p.other_seq DESC) = 1
        UNION ALL BY NAME
        -- A slot of the host tier is filled anew in order after what was copied from it, and into it.
        SELECT page, life, seq AS first_seq, other_seq, request, slot, other_kind FROM _slot_race WHERE kind = 'offload'
    )
SELECT
    'TR202' AS code,
    'unordered-reuse' AS name,
    b.first_seq AS seq,
    'lifetime' AS class,
    _confidence(_overtook(late.state, early.state) OR _seen_wrong(b.first_seq, NULL, NULL), w.holes) AS confidence,
    _launch_named(late.launch, late.kernel, late_name.name)
    || CASE WHEN b.slot IS NOT NULL THEN ' fills slot ' || b.slot || ' of the host tier anew'
        ELSE ' is the first to touch page ' || b.page || '.' || b.life END
    || ', and nothing orders it after ' || _launch_named(early.launch, early.kernel, early_name.name)
    || CASE
        WHEN b.other_kind = 'load' THEN ', which loads the slot into page ' || b.page || '.' || b.life
        WHEN b.slot IS NOT NULL THEN ', which fills it, too'
        ELSE ', which touches page ' || b.page || '.' || b.previous || coalesce(
            ' of ' || p.owner,
            CASE WHEN b.previous = 0 OR w.complete THEN ' of nobody' ELSE ', granted before the history' END
        )
    END AS sentence,
    'page' AS resource_kind,
    b.page AS resource_id,
    b.life,
    u.row,
    u.generation,
    coalesce(u.request, b.request) AS request,
    late.launch,
    late.on_stream AS stream,
    early.launch AS other_launch,
    early.on_stream AS other_stream,
    b.other_seq
FROM broken AS b
JOIN _act AS late ON b.first_seq = late.seq
JOIN _act AS early ON b.other_seq = early.seq
JOIN _stream AS late_name ON late.stream = late_name.stream
JOIN _stream AS early_name ON early.stream = early_name.stream
LEFT JOIN page_life AS p ON b.page = p.page AND b.previous = p.life
LEFT JOIN (
    SELECT t.page, t.life, t.first_seq, min(t.row) AS row, arg_min(t.generation, t.row) AS generation,
        arg_min(n.request, t.row) AS request
    FROM _touch AS t LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
    GROUP BY t.page, t.life, t.first_seq
) AS u ON b.page = u.page AND b.life = u.life AND b.first_seq = u.first_seq AND b.slot IS NULL
CROSS JOIN _window AS w
