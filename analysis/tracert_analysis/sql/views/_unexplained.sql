-- Of what guarded kernels found, what differs from the history for no reason that another rule tells of: neither is
-- the row published without order (TR102), nor does the entry lie behind the end of what the row maps (TR403).
CREATE VIEW _unexplained AS
SELECT
    g.seq, g.launch, g.stream, g.row, g.generation, g.request, g.index, g.page, g.content, g.published_page,
    g.published_life, g.differs
FROM guard_entry AS g
ANTI JOIN _unordered_publish AS d
    ON g.row = d.row AND g.generation = d.generation AND g.stream = d.stream AND g.index = d.index
    AND g.seq >= d.first_seq AND coalesce(g.seq <= d.last_seq, true)
ANTI JOIN _past_row AS x
    ON x.fresh AND g.row = x.row AND g.generation = x.generation AND g.index = x.index AND g.stream = x.stream
WHERE g.differs;
