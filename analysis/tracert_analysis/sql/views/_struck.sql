-- Lives of pages that launches touched which visibly went wrong: where much is to be looked at, these come first.
CREATE TABLE _struck (page UINTEGER, life UINTEGER);

INSERT INTO _struck
SELECT DISTINCT t.page, t.life FROM _wrong AS x
JOIN _use AS u ON x.seq = u.seq AND coalesce(x.row = u.row, true)
JOIN _touch AS t
    ON u.row = t.row AND u.generation = t.generation AND u.stream = t.stream
    AND u.seq BETWEEN t.first_seq AND t.last_seq
WHERE t.mode <> 'walk' AND t.page BETWEEN 0 AND 4294967295 AND t.life BETWEEN 0 AND 4294967295
UNION
SELECT e.page, e.life FROM _wrong AS x JOIN _extent AS e USING (seq);
