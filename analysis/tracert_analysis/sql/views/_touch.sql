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
