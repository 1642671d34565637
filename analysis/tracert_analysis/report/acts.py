"""Launches, and the streams they are on, as a report names them."""

from typing import Any

from tracert_analysis.report.facts import Act, FenceFact
from tracert_analysis.report.questions import Questions, Row

COLUMNS = 'launch, seq, kind, kernel, stream, ordinal, phase, step, "row", generation, state'

ONE_LAUNCH = f"SELECT {COLUMNS} FROM launch WHERE launch = $launch"

OUTSIDE = """
SELECT 0 AS launch, seq, kind, kernel, stream, ordinal, NULL AS phase, step, NULL AS "row",
    NULL AS generation, state FROM _act WHERE launch IS NULL AND seq = $seq"""

JOINING_FENCE = """
SELECT fence, stream, ordinal, record_seq,
    CASE WHEN wait_stream = $to_stream AND wait_seq < $before THEN wait_stream END AS wait_stream,
    CASE WHEN wait_stream = $to_stream AND wait_seq < $before THEN wait_seq END AS wait_seq,
    CASE WHEN passed_seq < $before THEN passed_seq END AS passed_seq,
    ordinal >= $ordinal AS covers
FROM fence
WHERE stream = $stream AND record_seq < $before
    AND ((wait_stream = $to_stream AND wait_seq < $before) OR passed_seq < $before)
ORDER BY ordinal DESC, record_seq DESC LIMIT 1"""


class Acts:
    """Looks up launches by number; each only once."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._names = {row["stream"]: row["name"] for row in questions.rows("FROM _stream")}

    def stream_name(self, stream: int) -> str:
        """The engine's name of a stream, as a call would say it."""
        return str(self._names.get(stream, f"stream {stream}"))

    def launch(self, launch: int | None) -> tuple[Act | None, int]:
        """The launch of that number and the question's number; no act when the history does not have it."""
        if launch is None:
            return None, 0
        told = self._questions.ask(f"launch {launch}", ONE_LAUNCH, launch=launch)
        return (self.act(told.first) if told.first else None), told.query

    def of(self, launch: int | None, seq: int | None) -> Act | None:
        """The launch of that number; without one what a writer without a stream did at `seq`, if anything."""
        if launch is not None:
            return self.launch(launch)[0]
        told = self._questions.rows(OUTSIDE, seq=seq)
        return self.act(told[0]) if told else None

    def act(self, row: Row) -> Act:
        """A row of the view `launch` as an act."""
        return Act(
            launch=row["launch"],
            seq=row["seq"],
            kind=str(row["kind"]),
            kernel=row["kernel"] or str(row["kind"]),
            stream=row["stream"],
            stream_name=self.stream_name(row["stream"]),
            ordinal=row["ordinal"],
            phase=row["phase"],
            step=row["step"],
            row=row["row"],
            generation=row["generation"],
            state=row["state"],
        )

    def joining_fence(self, earlier: Act, stream: int, before: int) -> tuple[FenceFact | None, int]:
        """The last fence that joined the stream of `earlier` to `stream`, or to the host, before a seq."""
        told = self._questions.ask(
            f"the last fence that joined {earlier.stream_name} to {self.stream_name(stream)} before {before}",
            JOINING_FENCE,
            stream=earlier.stream,
            to_stream=stream,
            ordinal=earlier.ordinal,
            before=before,
        )
        return (fence(told.first) if told.first else None), told.query


def fence(row: Row) -> FenceFact:
    """A row of the query above."""
    values: dict[str, Any] = dict(row)
    values["covers"] = bool(values["covers"])
    return FenceFact(**values)
