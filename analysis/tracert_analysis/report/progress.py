"""How far things had come at the end: streams, and lanes."""

from tracert_analysis.report.acts import COLUMNS, Acts
from tracert_analysis.report.facts import Lane, StreamFact
from tracert_analysis.report.questions import Questions

STREAMS = "SELECT stream, name, blocking, launched, started, finished FROM stream_state ORDER BY stream"

UNFINISHED = f"""
SELECT {COLUMNS} FROM launch WHERE state IN ('running', 'waiting') ORDER BY stream, ordinal LIMIT 200"""

LANES = """
SELECT "row", state, generation, request, phase, step, frontier, committed, provisional, transaction
FROM lane_state
ORDER BY "row\""""


def streams(questions: Questions, acts: Acts) -> tuple[StreamFact, ...]:
    """Each stream's progress words and its launches that had not finished."""
    unfinished = [acts.act(row) for row in questions.ask("launches that had not finished", UNFINISHED).rows]
    return tuple(
        StreamFact(
            stream=row["stream"],
            name=acts.stream_name(row["stream"]),
            blocking=row["blocking"],
            launched=row["launched"] or 0,
            started=row["started"] or 0,
            finished=row["finished"] or 0,
            running=tuple(a for a in unfinished if a.stream == row["stream"] and a.state == "running"),
            waiting=tuple(a for a in unfinished if a.stream == row["stream"] and a.state == "waiting"),
        )
        for row in questions.ask("progress of each stream", STREAMS).rows
    )


def lanes(questions: Questions) -> tuple[Lane, ...]:
    """Each row's frontier and transaction."""
    return tuple(Lane(**row) for row in questions.ask("frontier and transaction of each row", LANES).rows)
