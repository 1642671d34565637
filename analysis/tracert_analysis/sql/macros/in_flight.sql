-- Launches that had not finished at the end, by the progress words of their streams.
-- * launch: The launch.
-- * kind: launch, publish, copy, clear, offload or load.
-- * kernel: Name of its kernel.
-- * stream: Its stream.
-- * name: Name of that stream.
-- * ordinal: Its number within the stream.
-- * state: running or waiting.
-- * seq: Its event.
-- * phase: What the step does: prefill, decode, mixed, sample.
-- * step: Number of the step.
-- * row: The row that it publishes, or the only row that it uses.
CREATE MACRO in_flight() AS TABLE
SELECT l.launch, l.kind, l.kernel, l.stream, s.name, l.ordinal, l.state, l.seq, l.phase, l.step, l.row
FROM launch AS l JOIN _stream AS s ON l.stream = s.stream
WHERE l.state <> 'finished'
ORDER BY l.seq;
