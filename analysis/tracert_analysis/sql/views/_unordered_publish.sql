-- Publishes of an entry that aren't ordered with a launch that follows it, or with each other. `late_seq` is the
-- launch that breaks the order, `early_seq` the one that it should have been ordered after:
--   publish    a launch follows the entry, and its last publish isn't ordered before it;
--   overwrite  the entry is published again, and a launch that follows it isn't ordered before that;
--   republish  the entry was published again, the publish before isn't ordered before that, and a launch follows
--              whichever came last.
-- `seq` is the event at which it matters: the later of the two, and for a republish the launch that follows it.
-- `content` is what stood in the entry in program order, `other_content` what may have stood there instead, for
-- launches of `stream` from `first_seq` to `last_seq`.
CREATE TABLE _unordered_publish (
    reason VARCHAR, content UBIGINT, other_content UBIGINT, row USMALLINT, generation UINTEGER, index UBIGINT,
    stream USMALLINT, first_seq UBIGINT, last_seq UBIGINT, early_seq UBIGINT, late_seq UBIGINT, seq UBIGINT
);

INSERT INTO _unordered_publish
WITH
    walk AS (
        SELECT t.content, t.row, t.generation, t.index, t.stream, t.first_seq, t.last_seq, c.seq, c.until_seq,
            c.stream AS publish_stream
        FROM _touch AS t JOIN row_content AS c USING (content) WHERE t.mode = 'walk'
    ),
    before_publish AS (
        SELECT w.*, p.ordinal FROM walk AS w
        JOIN launch AS p ON w.seq = p.seq
        JOIN launch AS f ON w.first_seq = f.seq
        WHERE p.stream <> w.stream AND f.clock[p.stream + 1] < p.ordinal
    ),
    unordered_uses AS (
        SELECT b.content, b.generation, b.stream, max(u.seq) AS last_seq
        FROM before_publish AS b
        JOIN _use AS u
            ON b.row = u.row AND b.generation = u.generation AND b.stream = u.stream
            AND u.seq BETWEEN b.first_seq AND b.last_seq AND u.walked > b.index
        JOIN launch AS l ON u.seq = l.seq
        WHERE l.clock[b.publish_stream + 1] < b.ordinal
        GROUP BY ALL
    )
SELECT
    'publish', b.content, o.content, b.row, b.generation, b.index, b.stream,
    b.first_seq, u.last_seq, b.seq, b.first_seq, b.first_seq
FROM before_publish AS b
JOIN unordered_uses AS u USING (content, generation, stream)
LEFT JOIN row_content AS o ON b.row = o.row AND b.index = o.index AND b.seq = o.until_seq
UNION ALL
SELECT
    'overwrite', w.content, o.content, w.row, w.generation, w.index, w.stream,
    w.first_seq, w.last_seq, w.last_seq, w.until_seq, w.until_seq
FROM walk AS w
JOIN launch AS n ON w.until_seq = n.seq
JOIN launch AS l ON w.last_seq = l.seq
LEFT JOIN row_content AS o ON w.row = o.row AND w.index = o.index AND w.until_seq = o.seq
WHERE n.stream <> w.stream AND n.clock[w.stream + 1] < l.ordinal
UNION ALL
SELECT
    'republish', c.content, NULL, w.row, w.generation, c.index, c.stream, w.first_seq, NULL, c.seq, c.until_seq,
    w.first_seq
FROM row_content AS c
JOIN launch AS p ON c.seq = p.seq
JOIN launch AS n ON c.until_seq = n.seq
JOIN walk AS w ON c.row = w.row AND c.index = w.index AND c.until_seq = w.seq
WHERE p.stream <> n.stream AND n.clock[p.stream + 1] < p.ordinal;

-- Uses that may have found another content than program order gives.
CREATE VIEW _doubt AS
SELECT row, generation, index, stream, first_seq, last_seq, other_content
FROM _unordered_publish WHERE other_content IS NOT NULL AND reason <> 'republish';
