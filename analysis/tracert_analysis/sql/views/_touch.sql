-- The first and the last launch on one stream that touched a content of an entry in one mode: walk (followed the
-- entry), read or write (its page). `generation` is that of the uses: it differs from that of the publish where a
-- launch follows what an earlier tenant left. Filled by Python.
CREATE TABLE _touch (
    content UBIGINT, row USMALLINT, generation UINTEGER, published_generation UINTEGER, index UBIGINT,
    page BIGINT, life BIGINT, stream USMALLINT, mode VARCHAR, first_seq UBIGINT, last_seq UBIGINT
);

-- Entries that launches followed, from `seq` on and before `before_seq`, though nothing is known to have been
-- published in them. Filled by Python.
CREATE TABLE _unpublished (
    row USMALLINT, generation UINTEGER, index UBIGINT, stream USMALLINT, seq UBIGINT, before_seq UBIGINT
);

-- Of the launches that read a page through a row, by generation and stream: the first one, and how much of the page
-- they wrote themselves. `front`: positions below are not their own; `valid`: positions meant at the first read;
-- `whole`: some load the whole page; `full_seq`: the launch by which they had written all of it. Filled by Python.
CREATE TABLE _reading (
    page UINTEGER, life UINTEGER, row USMALLINT, index UBIGINT, generation UINTEGER, stream USMALLINT,
    first_seq UBIGINT, front UBIGINT, valid UBIGINT, whole BOOLEAN, full_seq UBIGINT
);

-- Positions of a sequence, `first` up to `end`, that no launch of its row and generation had computed when one started
-- behind them, at `seq`; the launch before that had come furthest is at `before_seq`. Filled by Python.
CREATE TABLE _skip (
    row USMALLINT, generation UINTEGER, stream USMALLINT, seq UBIGINT, first UBIGINT, "end" UBIGINT, before_seq UBIGINT
);

-- The same page by page, for the pages in which the launch at `seq` reads them: `first` up to `end` of the page.
CREATE VIEW _skipped AS
SELECT DISTINCT t.page, t.life, s.seq, greatest(s.first, t.index * w.page_size) - t.index * w.page_size AS first,
    least(s.end - t.index * w.page_size, w.page_size) AS "end", s.row, s.generation, s.first AS skip_first,
    s.end AS skip_end, s.before_seq
FROM _skip AS s
JOIN _touch AS t
    ON s.row = t.row AND s.generation = t.generation AND s.stream = t.stream AND t.mode = 'read'
    AND s.seq BETWEEN t.first_seq AND t.last_seq
CROSS JOIN _window AS w
WHERE s.first < (t.index + 1) * w.page_size AND s.end > t.index * w.page_size AND t.life > 0 AND t.page >= 0
    AND t.page < coalesce(w.kv_pages, 4294967296) AND t.life < 4294967296;
