-- The rows of `_blemish` as sentences need them: who read, where, for whom, and whether it visibly went wrong.
CREATE TABLE _met (
    kind VARCHAR, page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, seq UBIGINT, origin_seq UBIGINT,
    origin_page UINTEGER, origin_life UINTEGER, origin_class VARCHAR, via_seq UBIGINT, clear_seq UBIGINT,
    launch UBIGINT, stream USMALLINT, step UBIGINT, row USMALLINT, generation UINTEGER, request UBIGINT,
    reader VARCHAR, place VARCHAR, observed BOOLEAN
);

INSERT INTO _met
WITH
    reader AS (
        SELECT b.kind, b.page, b.life, b.first, b.end, b.seq, b.origin_seq, b.origin_page, b.origin_life,
            b.origin_class, b.via_seq, b.clear_seq, l.launch, l.on_stream AS stream, l.step, t.row, t.generation,
            n.request,
            _launch_named(l.launch, l.kernel, s.name) AS reader,
            CASE
                WHEN b.end - b.first = 1 THEN 'position ' || b.first
                ELSE 'positions ' || b.first || ' to ' || (b.end - 1)
            END || ' of page ' || b.page || '.' || b.life
            || coalesce(' of request ' || n.request, '') AS place
        FROM _blemish AS b
        JOIN _act AS l ON b.seq = l.seq
        JOIN _stream AS s ON l.stream = s.stream
        LEFT JOIN _touch AS t
            ON t.page = b.page AND t.life = b.life AND t.mode = 'read' AND t.stream = l.stream
            AND b.seq BETWEEN t.first_seq AND t.last_seq
            AND EXISTS (
                FROM _use AS u
                WHERE u.seq = b.seq AND u.row = t.row AND u.generation = t.generation AND u.depth > t.index
            )
        LEFT JOIN _tenancy AS n ON t.row = n.row AND t.generation = n.generation
        QUALIFY row_number() OVER (PARTITION BY b.kind, b.page, b.life ORDER BY b.seq, t.row) = 1
    ),
    -- Outputs that were not finite, with the launch and the step that gave them.
    seen AS (
        SELECT e.seq, e.launch, e.request, l.step
        FROM _told_rest AS e LEFT JOIN launch AS l USING (launch) WHERE e.kind = 'nonfinite'
    ),
    -- Until when a reader meets what it met: the page's next clear, for these positions.
    cleared AS (
        SELECT b.kind, b.page, b.life, min(x.seq) AS clear_seq
        FROM _blemish AS b
        JOIN _extent AS x
            ON x.source = 'clear' AND x.page = b.page AND x.seq > b.seq AND x.first <= b.first AND x.end >= b.end
        GROUP BY b.kind, b.page, b.life
    )
SELECT
    r.*,
    EXISTS (
        FROM seen AS s
        WHERE s.seq > r.seq AND coalesce(s.seq < c.clear_seq, true)
            AND (s.launch = r.launch OR s.request = r.request OR r.request IS NULL AND s.step = r.step)
    ) AS observed
FROM reader AS r LEFT JOIN cleared AS c USING (kind, page, life);
