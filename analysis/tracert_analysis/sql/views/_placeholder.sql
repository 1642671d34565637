-- Since when and until when (seqs) an entry of a row may name a reserved page: the host maps it to that, or whether it
-- does is unknown, for of the row no map is told at all, or the request had it before the history, which tells of no
-- map of the entry.
CREATE VIEW _placeholder AS
WITH
    reserved AS (SELECT DISTINCT page FROM page_life WHERE owner LIKE 'reserved:%'),
    walked AS (
        SELECT DISTINCT t.row, t.generation, t.index, t.page FROM _touch AS t SEMI JOIN reserved AS r ON t.page = r.page
        WHERE t.mode = 'walk'
    ),
    told AS (
        SELECT e.row, e.generation, e.index + unnest(range(greatest(coalesce(len(e.pages), 0), 1))) AS index, e.seq
        FROM _told_page AS e SEMI JOIN walked AS k ON e.row = k.row AND e.generation = k.generation
        WHERE e.kind IN ('map', 'unmap')
    )
SELECT m.row, m.generation, m.index, m.page, m.from_seq, m.until_seq
FROM _mapped AS m SEMI JOIN reserved AS r ON m.page = r.page
UNION ALL
SELECT k.row, k.generation, k.index, k.page, 0, min(t.seq)
FROM walked AS k
LEFT JOIN told AS t ON k.row = t.row AND k.generation = t.generation AND k.index = t.index
WHERE k.row NOT IN (SELECT row FROM _mapped) OR NOT EXISTS (
    FROM _tenancy AS n JOIN _told_page AS e ON e.kind = 'row_acquire' AND e.seq = n.from_seq
    WHERE n.row = k.row AND n.generation = k.generation
)
GROUP BY k.row, k.generation, k.index, k.page;
