-- Launches that had not finished at the end, by the progress words of their streams. Columns: launch, kind, kernel,
-- stream, name, ordinal, state (running or waiting), seq, phase, step, row.
CREATE MACRO in_flight() AS TABLE
SELECT l.launch, l.kind, l.kernel, l.stream, s.name, l.ordinal, l.state, l.seq, l.phase, l.step, l.row
FROM launch AS l JOIN _stream AS s ON l.stream = s.stream
WHERE l.state <> 'finished'
ORDER BY l.seq;
