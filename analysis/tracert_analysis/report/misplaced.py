"""Calls that are there, between two streams, and order nothing of what they should.

A stream waits for a fence that nobody had recorded, which CUDA takes for passed; the record stands before the
launch that it should cover; the wait stands behind the one that should have waited.
"""

from tracert_analysis.report.facts import Act, Misplaced
from tracert_analysis.report.questions import Questions

# A wait of the later act's stream that names no record, and none of its fence came before it.
IN_VAIN = """
SELECT w.seq, w.fence FROM event w, _window
WHERE w.kind = 'fence_wait' AND w.stream = $later_stream AND w.seq > $earlier AND w.seq < $later
    AND (w.record_seq = 0 OR w.record_seq IS NULL AND _window.complete)
    AND NOT EXISTS (FROM event r WHERE r.kind = 'fence_record' AND r.fence = w.fence AND r.seq < w.seq)
ORDER BY w.seq DESC LIMIT 1"""

# A fence that nothing else waits for: its record can be moved.
TOO_EARLY = """
SELECT fence, record_seq, max(wait_seq) AS wait_seq FROM fence
WHERE stream = $earlier_stream AND record_seq < $earlier AND ordinal < $ordinal
GROUP BY fence, record_seq HAVING count(wait_seq) = 1 AND max(wait_stream) = $later_stream
    AND max(wait_seq) > $earlier AND max(wait_seq) < $later
ORDER BY record_seq DESC LIMIT 1"""

# The later act is the last launch of its stream before the wait.
TOO_LATE = """
SELECT f.fence, f.record_seq, f.wait_seq FROM fence f
WHERE f.stream = $earlier_stream AND f.ordinal >= $ordinal AND f.record_seq < $later
    AND f.wait_stream = $later_stream AND f.wait_seq > $later
    AND NOT EXISTS (
        FROM launch l WHERE l.stream = $later_stream AND l.seq > $later AND l.seq < f.wait_seq
    )
ORDER BY f.wait_seq LIMIT 1"""


def misplaced(questions: Questions, earlier: Act, later: Act) -> Misplaced | None:
    """The calls between two launches that lack order, as they stand; None where there are none."""
    if not (earlier.launch and later.launch):
        return None
    behind, stream = f"{earlier.kernel} on {earlier.stream_name}", later.stream_name
    between = {"earlier": earlier.seq, "later": later.seq, "later_stream": later.stream}
    found = questions.rows(IN_VAIN, **between)
    if found:
        fence, seq = found[0]["fence"], found[0]["seq"]
        return Misplaced(
            f"{stream} waits for fence {fence} at seq {seq}, and nothing had recorded that: such a wait "
            "orders nothing",
            f"record fence {fence} after {behind} and before {stream} waits for it (seq {seq}): the wait is "
            "there, and finds no record",
        )
    between |= {"earlier_stream": earlier.stream, "ordinal": earlier.ordinal}
    found = questions.rows(TOO_EARLY, **between)
    if found:
        fence, record, wait = found[0]["fence"], found[0]["record_seq"], found[0]["wait_seq"]
        return Misplaced(
            f"{stream} waits for fence {fence} at seq {wait}, which is recorded at seq {record}, before "
            f"{earlier.name}",
            f"move the record of fence {fence} (seq {record}) to after {behind} and before {stream} waits "
            f"for it (seq {wait})",
        )
    found = questions.rows(TOO_LATE, **between)
    if found:
        fence, record, wait = found[0]["fence"], found[0]["record_seq"], found[0]["wait_seq"]
        return Misplaced(
            f"fence {fence} is recorded behind {earlier.name}, at seq {record}, and {stream} waits for it at "
            f"seq {wait}, after {later.name}",
            f"move the wait for fence {fence} (seq {wait}) to before {later.kernel} on {stream}",
        )
    return None
