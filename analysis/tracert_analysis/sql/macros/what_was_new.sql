-- What set a launch apart from the launches before it: each of its traits, and how many earlier ones had it, the
-- rarest first. It counts, and claims no cause. Columns: trait, value, support, earlier.
CREATE MACRO what_was_new(launch) AS TABLE
WITH
    this AS (FROM launch AS l WHERE l.launch = launch ORDER BY l.seq LIMIT 1),
    before AS (SELECT l.* FROM launch AS l, this WHERE l.seq < this.seq AND l.kind = this.kind),
    uses AS (
        SELECT u.seq, count(*) AS rows, max(u.walked) AS walked, max(greatest(u.end, u.start) - u.start) AS positions
        FROM _use AS u WHERE u.seq <= (SELECT seq FROM this) GROUP BY u.seq
    ),
    own_use AS (SELECT u.* FROM _use AS u, this WHERE u.seq = this.seq),
    -- Contents of entries, and since when some launch followed them: the rows of this launch, and those before it.
    followed AS (
        SELECT DISTINCT t.row, t.generation, t.first_seq, t.last_seq, c.launch, s.name
        FROM _touch AS t JOIN row_content AS c USING (content) JOIN _stream AS s ON c.stream = s.stream, this
        WHERE t.mode = 'walk' AND t.first_seq <= this.seq AND t.stream = this.stream
    ),
    own_followed AS (
        SELECT DISTINCT f.launch, f.name FROM followed AS f, this, own_use AS u
        WHERE f.row = u.row AND f.generation = u.generation AND this.seq BETWEEN f.first_seq AND f.last_seq
    ),
    traits AS (
        SELECT 'kernel' AS trait, this.kernel AS value,
            (SELECT count(*) FROM before AS b WHERE b.kernel = this.kernel) AS support,
            (SELECT count(*) FROM before) AS earlier
        FROM this
        UNION ALL
        SELECT 'stream of ' || this.kernel, s.name,
            (SELECT count(*) FROM before AS b WHERE b.kernel = this.kernel AND b.stream = this.stream),
            (SELECT count(*) FROM before AS b WHERE b.kernel = this.kernel)
        FROM this JOIN _stream AS s USING (stream)
        UNION ALL
        SELECT 'phase', this.phase,
            (SELECT count(*) FROM before AS b WHERE b.phase = this.phase), (SELECT count(*) FROM before)
        FROM this WHERE this.phase IS NOT NULL
        UNION ALL
        SELECT 'rows used', u.rows::VARCHAR,
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq AND o.rows = u.rows),
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq)
        FROM uses AS u JOIN this USING (seq)
        UNION ALL
        SELECT 'entries followed in a row, at least', u.walked::VARCHAR,
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq AND o.walked >= u.walked),
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq)
        FROM uses AS u JOIN this USING (seq)
        UNION ALL
        SELECT 'positions computed in a row, at least', u.positions::VARCHAR,
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq AND o.positions >= u.positions),
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq)
        FROM uses AS u JOIN this USING (seq)
        UNION ALL
        SELECT 'tenancy', 'row ' || u.row || ' generation ' || u.generation,
            (
                SELECT count(*) FROM _use AS o
                WHERE o.seq < u.seq AND o.row = u.row AND o.generation = u.generation
            ),
            (SELECT count(*) FROM uses AS o WHERE o.seq < u.seq)
        FROM own_use AS u
        UNION ALL
        SELECT 'row published on', o.name,
            (
                SELECT count(DISTINCT f.launch) FROM followed AS f
                WHERE f.name = o.name AND f.launch NOT IN (SELECT w.launch FROM own_followed AS w)
            ),
            (SELECT count(DISTINCT f.launch) FROM followed AS f WHERE f.launch NOT IN (SELECT w.launch FROM own_followed AS w))
        FROM (SELECT DISTINCT name FROM own_followed) AS o
    )
SELECT t.trait, t.value, t.support, t.earlier FROM traits AS t ORDER BY t.support, t.earlier DESC, t.trait, t.value;
