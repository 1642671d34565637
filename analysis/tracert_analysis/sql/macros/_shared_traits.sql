-- What a kernel author would ask about a launch, of the launch in question and of all before it that ran the same
-- kernel. A launch over several rows of the block table is asked through one of them: the row that a finding tells of,
-- else the one with the most positions. Two sorts of rows: a trait that the launch has, with how many of the others
-- had it (`bit` is its place in masks), and a mask, with the traits that some row of an earlier launch shared with it.
CREATE MACRO _shared_traits(launch) AS TABLE
WITH
    -- No name here stands in the way of a column that is given for the launch.
    _asked AS (SELECT launch AS _launch),
    this AS MATERIALIZED (
        SELECT l.* FROM launch AS l JOIN _asked AS a ON l.launch = a._launch ORDER BY l.seq LIMIT 1
    ),
    recent AS (
        SELECT l.seq, l.launch, l.stream, l.phase, l.step, l.row, l.generation
        FROM launch AS l, this
        WHERE l.seq <= this.seq AND l.kind = this.kind AND l.kernel IS NOT DISTINCT FROM this.kernel
        ORDER BY l.seq DESC LIMIT 5001
    ),
    peer AS MATERIALIZED (SELECT r.*, h.clock FROM recent AS r ASOF LEFT JOIN _host AS h ON r.seq >= h.from_seq),
    -- Everything that is asked of events, in one look at them.
    seen AS MATERIALIZED (
        SELECT e.seq, e.kind, e.launch, e.request, e.row, e.step, e.hit_tokens, e.bytes, e.room, e.drafts
        FROM _told_rest AS e, this
        WHERE e.kind IN ('match', 'propose', 'evict', 'preempt', 'finish', 'fail', 'snapshot_save', 'snapshot_restore',
            'snapshot_release') AND e.seq < this.seq
        UNION ALL BY NAME
        SELECT e.seq, e.kind, e.launch, e.row, e.step FROM _told_launch AS e, this
        WHERE e.kind IN ('offload', 'load', 'copy', 'clear') AND e.seq < this.seq AND e.all IS NULL
        UNION ALL BY NAME
        SELECT e.seq, e.kind, e.launch, e.bytes, e.room FROM _told_workspace AS e, this
        WHERE e.kind = 'workspace_plan' AND e.seq < this.seq
        UNION ALL BY NAME
        SELECT e.seq, e.kind, e.request, e.row FROM _told_page AS e, this
        WHERE e.kind = 'row_acquire' AND e.seq < this.seq
    ),
    use AS MATERIALIZED (FROM _use AS u SEMI JOIN peer AS p ON u.seq = p.seq),
    tenancy AS (SELECT DISTINCT row, generation FROM use),
    -- Entries of rows, in order, as each tenancy published them first: what it published later may be poison.
    entry AS (
        SELECT c.row, c.generation, c.index, min_by(c.page, c.seq) AS page, min_by(c.life, c.seq) AS life,
            min(c.seq) AS published
        FROM row_content AS c SEMI JOIN tenancy AS n ON c.row = n.row AND c.generation = n.generation, this
        WHERE c.seq <= this.seq GROUP BY ALL
    ),
    -- What wrote a life last; the life behind it finds that.
    written AS (
        SELECT page, life, max_by(class, last_seq) AS last
        FROM (
            SELECT t.page, t.life, t.last_seq, 1 AS class FROM _touch AS t WHERE t.mode = 'write'
            UNION ALL
            SELECT x.page, x.life, x.seq, CASE
                WHEN x.source = 'clear' THEN 0 WHEN x.source = 'load' THEN 3 WHEN x.source = 'copy' THEN 4
                WHEN l.class = 'rows' THEN 2 ELSE 1 END
            FROM _extent AS x JOIN launch AS l ON x.seq = l.seq WHERE x.mode = 'write'
        ) GROUP BY page, life
    ),
    found AS (
        SELECT page, life, CASE lag(last) OVER (PARTITION BY page ORDER BY life)
            WHEN 0 THEN 'zeros' WHEN 1 THEN 'keys and values' WHEN 2 THEN 'state rows' WHEN 3 THEN 'a host copy'
            WHEN 4 THEN 'a copy' END AS held
        FROM written
    ),
    -- What a launch meets that follows the entries of a tenancy up to this one.
    walk AS (
        SELECT e.row, e.generation, e.index, e.page AS last_page, coalesce(f.held, 'nothing') AS held,
            first_value(e.page) OVER front AS first_page,
            sum((e.page <> e.before + 1)::INTEGER) OVER front AS runs,
            max(e.life) OVER front AS high, min(e.life) OVER front AS low, max(e.published) OVER front AS published,
            max((f.held = 'state rows')::INTEGER) OVER front = 1 AS had_rows
        FROM (
            SELECT *, coalesce(lag(page) OVER (PARTITION BY row, generation ORDER BY index), -2) AS before FROM entry
        ) AS e
        LEFT JOIN found AS f ON e.page = f.page AND e.life = f.life
        WINDOW front AS (PARTITION BY e.row, e.generation ORDER BY e.index ROWS UNBOUNDED PRECEDING)
    ),
    reach AS (SELECT row, generation, max(index) AS last FROM entry GROUP BY ALL),
    begun AS (
        SELECT u.row, u.generation, min(u.seq) AS seq
        FROM _use AS u SEMI JOIN tenancy AS n ON u.row = n.row AND u.generation = n.generation GROUP BY ALL
    ),
    hit AS (
        SELECT s.request, max_by(s.hit_tokens, s.seq) AS tokens FROM seen AS s WHERE s.kind = 'match' GROUP BY ALL
    ),
    staged AS (
        SELECT l.seq, l.stream,
            CASE
                WHEN l.staging IS NOT NULL THEN row_number() OVER (PARTITION BY l.staging ORDER BY l.seq) > 1
            END AS again
        FROM launch AS l WHERE l.kind = 'publish'
    ),
    drafted AS (SELECT s.step, s.row, max(s.drafts) AS drafts FROM seen AS s WHERE s.kind = 'propose' GROUP BY ALL),
    used AS (
        SELECT u.seq, u.row, u.generation, u.walked, u.end - least(u.start, u.end) AS positions, u.start, u.end,
            u.covers, k.last_page, k.held, k.first_page, k.runs, k.high, k.low, k.had_rows,
            CASE WHEN k.published IS NOT NULL THEN coalesce(s.stream, 65535) END AS published_on, s.again,
            t.tokens, b.seq = u.seq AS begins
        FROM use AS u
        LEFT JOIN reach AS r ON u.row = r.row AND u.generation = r.generation
        LEFT JOIN walk AS k
            ON u.row = k.row AND u.generation = k.generation
            AND u.walked > 0 AND k.index = least(greatest(u.walked, 1) - 1, r.last)
        LEFT JOIN staged AS s ON k.published = s.seq
        LEFT JOIN hit AS t ON u.request = t.request
        LEFT JOIN begun AS b ON u.row = b.row AND u.generation = b.generation
    ),
    batch AS (SELECT seq, count(*) AS rows, sum(positions) AS positions FROM used GROUP BY seq),
    -- Launches that name extents instead of rows.
    spread AS (
        SELECT x.seq, count(DISTINCT x.page) AS pages, min(x.page) AS first_page, max(x.page) AS last_page,
            max(x.life) AS high, min(x.life) AS low, sum(greatest(x.end, x.first) - x.first) AS positions
        FROM _extent AS x SEMI JOIN peer AS p ON x.seq = p.seq GROUP BY x.seq
    ),
    published AS (
        SELECT c.seq, count(*) AS pages, min(c.page) AS first_page, max(c.page) AS last_page, max(c.life) AS high,
            min(c.life) AS low
        FROM row_content AS c SEMI JOIN peer AS p ON c.seq = p.seq GROUP BY c.seq
    ),
    lanes AS (
        SELECT seq, sum(sum(step)) OVER (ORDER BY seq) AS lanes FROM (
            SELECT from_seq AS seq, 1 AS step FROM _tenancy UNION ALL
            SELECT until_seq, -1 FROM _tenancy WHERE until_seq IS NOT NULL
        ) GROUP BY seq
    ),
    grants AS (
        SELECT seq, sum(sum(step)) OVER (ORDER BY seq) AS pages FROM (
            SELECT coalesce(alloc_seq, 0) AS seq, 1 AS step FROM page_life UNION ALL
            SELECT free_seq, -1 FROM page_life WHERE free_seq IS NOT NULL
        ) GROUP BY seq
    ),
    -- Streams that had been given more than the host knew to be done.
    pending AS (
        SELECT p.seq,
            sum(CASE WHEN x.ordinal > coalesce(p.clock[x.stream + 1], 0) THEN 1 << x.stream ELSE 0 END) AS streams
        FROM (
            SELECT p.seq, p.clock, s.stream
            FROM peer AS p JOIN (SELECT DISTINCT stream FROM launch) AS s ON p.stream <> s.stream
            WHERE s.stream < 24
        ) AS p
        ASOF JOIN launch AS x ON p.stream = x.stream AND p.seq > x.seq
        GROUP BY p.seq
    ),
    planned AS (
        SELECT s.launch, max(s.bytes) AS bytes, min(s.room) AS room FROM seen AS s
        WHERE s.kind = 'workspace_plan' GROUP BY ALL
    ),
    -- What happened that moves pages, each act at the launch before which it happened.
    acts AS (
        SELECT p.seq, bit_or(1::BIGINT << a.act) AS acts FROM (
            SELECT s.seq, list_position(
                ['evict', 'preempt', 'finish', 'fail', 'row_acquire', 'match', 'offload', 'load', 'copy', 'clear',
                    'snapshot_save', 'snapshot_restore', 'snapshot_release'],
                s.kind::VARCHAR
            ) - 1 AS act
            FROM seen AS s
            WHERE s.kind NOT IN ('workspace_plan', 'propose') AND (s.kind <> 'match' OR s.hit_tokens > 0)
        ) AS a ASOF JOIN peer AS p ON a.seq < p.seq
        GROUP BY p.seq
    ),
    moment AS (
        SELECT p.seq, p.stream, p.phase, p.row, p.generation, p.step, l.lanes, g.pages AS granted,
            coalesce(w.streams, 0) AS pending, m.bytes, m.room, b.rows, b.positions,
            coalesce(x.pages, o.pages) AS pages, coalesce(x.first_page, o.first_page) AS first_page,
            coalesce(x.last_page, o.last_page) AS last_page, coalesce(x.high, o.high) AS high,
            coalesce(x.low, o.low) AS low, x.positions AS moved,
            CASE WHEN p.seq = (SELECT min(seq) FROM peer) THEN 0 ELSE coalesce(a.acts, 0) END AS behind,
            bit_or(coalesce(a.acts, 0)) OVER (ORDER BY p.seq ROWS UNBOUNDED PRECEDING) AS after
        FROM peer AS p
        ASOF LEFT JOIN lanes AS l ON p.seq > l.seq
        ASOF LEFT JOIN grants AS g ON p.seq > g.seq
        LEFT JOIN pending AS w ON p.seq = w.seq
        LEFT JOIN planned AS m ON p.launch = m.launch
        LEFT JOIN batch AS b ON p.seq = b.seq
        LEFT JOIN spread AS x ON p.seq = x.seq
        LEFT JOIN published AS o ON p.seq = o.seq
        LEFT JOIN acts AS a ON p.seq = a.seq
    ),
    asked AS MATERIALIZED (
        SELECT m.seq, m.stream, m.phase, m.lanes, m.granted, m.pending, m.bytes, m.room, m.rows, m.positions AS total,
            m.behind, m.after, coalesce(u.row, m.row) AS row, coalesce(u.generation, m.generation) AS generation,
            coalesce(u.walked, m.pages) AS pages, coalesce(u.positions, m.moved) AS positions,
            CASE WHEN u.positions > 1 THEN u.start END AS chunk,
            u.start % w.page_size AS start_in_page,
            CASE WHEN w.page_size <> 128 THEN u.start % 128 END AS start_in_128,
            CASE WHEN u.end > 0 THEN (u.end - 1) % w.page_size + 1 END AS tail, u.end,
            u.runs, coalesce(u.first_page, m.first_page) AS first_page,
            coalesce(u.last_page, m.last_page) AS last_page, coalesce(u.high, m.high) AS high,
            coalesce(u.low, m.low) AS low, u.held, u.had_rows, u.published_on, u.again,
            u.tokens // w.page_size AS hit_pages, nullif(u.tokens % w.page_size, 0) AS hit_tail, u.begins, u.covers,
            d.drafts
        FROM moment AS m LEFT JOIN used AS u ON m.seq = u.seq
        LEFT JOIN drafted AS d ON m.step = d.step AND u.row = d.row
        CROSS JOIN _window AS w
    ),
    own AS MATERIALIZED (
        SELECT a.* FROM asked AS a, this WHERE a.seq = this.seq
        ORDER BY EXISTS (
            FROM finding AS f WHERE f.launch = this.launch AND f.row = a.row AND f.generation = a.generation
        ) DESC, a.positions DESC NULLS LAST, a.row LIMIT 1
    ),
    shared AS (
        SELECT a.seq,
            (a.stream = o.stream)::BIGINT
            | (coalesce(a.phase = o.phase, false)::BIGINT << 1)
            | (coalesce(a.rows = o.rows, false)::BIGINT << 2)
            | (coalesce(a.lanes >= o.lanes, false)::BIGINT << 3)
            | (coalesce(a.total >= o.total, false)::BIGINT << 4)
            | ((a.pending = o.pending)::BIGINT << 5)
            | (coalesce(a.bytes >= o.bytes, false)::BIGINT << 6)
            | (coalesce(a.room <= o.room, false)::BIGINT << 7)
            | (coalesce(a.granted >= o.granted, false)::BIGINT << 8)
            | (coalesce(a.drafts >= o.drafts, false)::BIGINT << 9)
            | (coalesce(a.pages >= o.pages, false)::BIGINT << 10)
            | (coalesce(a.positions >= o.positions, false)::BIGINT << 11)
            | (coalesce(a.chunk = o.chunk, false)::BIGINT << 12)
            | (coalesce(a.start_in_page = o.start_in_page, false)::BIGINT << 13)
            | (coalesce(a.start_in_128 = o.start_in_128, false)::BIGINT << 14)
            | (coalesce(a.tail = o.tail, false)::BIGINT << 15)
            | (coalesce(a.end >= o.end, false)::BIGINT << 16)
            | (coalesce(a.runs >= o.runs, false)::BIGINT << 17)
            | (coalesce(a.first_page = o.first_page, false)::BIGINT << 18)
            | (coalesce(a.last_page = o.last_page, false)::BIGINT << 19)
            | (coalesce(a.high >= o.high, false)::BIGINT << 20)
            | (coalesce(a.low >= o.low, false)::BIGINT << 21)
            | (coalesce(a.held = o.held, false)::BIGINT << 22)
            | (coalesce(a.had_rows AND o.had_rows, false)::BIGINT << 23)
            | (coalesce(a.hit_pages = o.hit_pages, false)::BIGINT << 24)
            | (coalesce(a.hit_tail = o.hit_tail, false)::BIGINT << 25)
            | (coalesce(a.begins AND o.begins, false)::BIGINT << 26)
            | (coalesce(a.generation >= o.generation, false)::BIGINT << 27)
            | (coalesce(a.published_on = o.published_on, false)::BIGINT << 28)
            | (coalesce(a.again = o.again, false)::BIGINT << 29)
            | (coalesce(a.covers = o.covers, false)::BIGINT << 30)
            | (coalesce(a.row = o.row AND a.generation = o.generation, false)::BIGINT << 31)
            | ((a.behind & o.behind) << 32)
            | ((a.after & o.after) << 45) AS mask
        FROM asked AS a, own AS o, this WHERE a.seq < this.seq
    ),
    traits AS (
        SELECT unnest([
            {'bit': 0, 'trait': 'stream of ' || this.kernel, 'value': s.name},
            {'bit': 1, 'trait': 'phase', 'value': o.phase},
            {'bit': 2, 'trait': 'rows used', 'value': o.rows::VARCHAR},
            {'bit': 3, 'trait': 'rows that requests have, at least', 'value': o.lanes::VARCHAR},
            {'bit': 4, 'trait': 'positions computed in all, at least', 'value': o.total::VARCHAR},
            {'bit': 5, 'trait': 'work that the host has not seen end, on', 'value': coalesce((
                SELECT string_agg(n.name, ', ' ORDER BY n.stream) FROM _stream AS n
                WHERE n.stream < 24 AND o.pending >> n.stream & 1 = 1
            ), 'no other stream')},
            {'bit': 6, 'trait': 'workspace bytes planned, at least', 'value': o.bytes::VARCHAR},
            {'bit': 7, 'trait': 'room in one piece of the workspace, at most', 'value': o.room::VARCHAR},
            {'bit': 8, 'trait': 'pages of the pool in use, at least', 'value': o.granted::VARCHAR},
            {'bit': 9, 'trait': 'drafts, at least', 'value': o.drafts::VARCHAR},
            {'bit': 10, 'trait':
                CASE WHEN o.rows IS NULL THEN 'pages' ELSE 'entries followed in a row' END || ', at least',
                'value': o.pages::VARCHAR},
            {'bit': 11, 'trait': 'positions computed in a row, at least', 'value': o.positions::VARCHAR},
            {'bit': 12, 'trait': 'chunk of several positions starts at', 'value': o.chunk::VARCHAR},
            {'bit': 13, 'trait': 'first position computed, modulo page', 'value': o.start_in_page::VARCHAR},
            {'bit': 14, 'trait': 'first position computed, modulo 128', 'value': o.start_in_128::VARCHAR},
            {'bit': 15, 'trait': 'positions in the last page', 'value': o.tail::VARCHAR},
            {'bit': 16, 'trait': 'positions of the sequence, at least', 'value': o.end::VARCHAR},
            {'bit': 17, 'trait': 'runs of neighbouring pages, at least', 'value': o.runs::VARCHAR},
            {'bit': 18, 'trait': 'first page', 'value': o.first_page::VARCHAR},
            {'bit': 19, 'trait': 'last page', 'value': o.last_page::VARCHAR},
            {'bit': 20, 'trait': 'highest life of its pages, at least', 'value': o.high::VARCHAR},
            {'bit': 21, 'trait': 'lowest life of its pages, at least', 'value': o.low::VARCHAR},
            {'bit': 22, 'trait': 'the last page in its life before held', 'value': o.held},
            {'bit': 23, 'trait': 'some page in its life before held', 'value':
                CASE WHEN o.had_rows THEN 'state rows' END},
            {'bit': 24, 'trait': 'pages that its request found cached', 'value': o.hit_pages::VARCHAR},
            {'bit': 25, 'trait': 'positions of a tail that its request found cached', 'value': o.hit_tail::VARCHAR},
            {'bit': 26, 'trait': 'launch of its tenancy', 'value': CASE WHEN o.begins THEN 'the first' END},
            {'bit': 27, 'trait': 'tenants that its row has had, at least', 'value': nullif(o.generation, 1)::VARCHAR},
            {'bit': 28, 'trait': 'row published on', 'value': coalesce(
                (SELECT n.name FROM _stream AS n WHERE n.stream = o.published_on),
                CASE WHEN o.published_on = 65535 THEN 'an unknown stream' END)},
            {'bit': 29, 'trait': 'staging buffer of its row', 'value':
                CASE WHEN o.again THEN 'used before' WHEN NOT o.again THEN 'new' END},
            {'bit': 30, 'trait': 'positions that its kernel loads', 'value':
                CASE o.covers WHEN 'page' THEN 'whole pages' ELSE o.covers END},
            {'bit': 31, 'trait': 'tenancy', 'value': 'row ' || o.row || ' generation ' || o.generation}
        ], recursive := true)
        FROM own AS o CROSS JOIN this LEFT JOIN _stream AS s ON o.stream = s.stream
        UNION ALL
        SELECT 32 + k.bit, 'since the launch before', k.name
        FROM own AS o, (SELECT unnest(range(13)) AS bit, unnest([
            'an eviction', 'a preemption', 'a request finished', 'a request failed', 'a row was given to a request',
            'a cache hit', 'an offload to the host', 'a load from the host', 'a copy', 'a clear',
            'a snapshot was saved', 'a snapshot was restored', 'a snapshot was released']) AS name) AS k
        WHERE o.behind >> k.bit & 1 = 1
        UNION ALL
        SELECT 45 + k.bit, 'there had been', k.name
        FROM own AS o, (SELECT unnest(range(13)) AS bit, unnest([
            'an eviction', 'a preemption', 'a request that finished', 'a request that failed',
            'a row given to a request', 'a cache hit', 'an offload to the host', 'a load from the host', 'a copy',
            'a clear', 'a snapshot saved', 'a snapshot restored', 'a snapshot released']) AS name) AS k
        WHERE o.after >> k.bit & 1 = 1
    ),
    launches AS (
        SELECT mask, count(*) AS launches FROM (SELECT seq, bit_or(mask) AS mask FROM shared GROUP BY seq) GROUP BY mask
    ),
    earlier AS (SELECT coalesce(sum(launches), 0)::BIGINT AS earlier FROM launches)
SELECT
    t.bit, t.trait, t.value,
    coalesce((SELECT sum(l.launches) FROM launches AS l WHERE l.mask >> t.bit & 1 = 1), 0)::BIGINT AS support,
    e.earlier, NULL::BIGINT AS mask
FROM traits AS t, earlier AS e WHERE t.value IS NOT NULL
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, mask FROM shared GROUP BY mask;
