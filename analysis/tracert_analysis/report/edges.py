"""The edge that is missing between two launches, and the call that would add it.

Derived from the two launches alone: what the finding is called does not matter, nor how it came about.
"""

import re
from typing import NamedTuple

from tracert_analysis.report.facts import Act, Edge
from tracert_analysis.report.misplaced import misplaced
from tracert_analysis.report.questions import Questions

ORDERED = """
SELECT late.clock[early.stream + 1] >= early.ordinal AS ordered, late.clock[early.stream + 1] AS reaches
FROM _act early, _act late WHERE early.seq = $earlier AND late.seq = $later LIMIT 1"""


COMPUTING = "SELECT stream, count(*) AS launches FROM launch WHERE kind = 'launch' GROUP BY stream"


def missing_edge(questions: Questions, one: Act | None, other: Act | None) -> Edge | None:
    """The edge from the earlier to the later of two acts; None when they are ordered, or not known."""
    if one is None or other is None or one.stream == other.stream:
        return None
    earlier, later = sorted((one, other), key=lambda act: act.seq)
    told = questions.ask(
        f"is {earlier.name} ordered before {later.name}?",
        ORDERED,
        earlier=earlier.seq,
        later=later.seq,
    )
    if told.first is None or told.first["ordered"] is not False:
        return None
    there = misplaced(questions, earlier, later)
    return Edge(earlier, later, call(earlier, later), told.first["reaches"] or 0, told.query, there)


def call(earlier: Act, later: Act) -> str:
    """The two calls; they belong behind the earlier launch and before the later one.

    A writer without a stream can't be told to wait, nor be waited for but by the host.
    """
    if not earlier.launch:
        return f"wait for the completion of {earlier.name}"
    if not later.launch:
        return f"fence = device.record({variable(earlier)}); device.sync(fence)"
    return f"fence = device.record({variable(earlier)}); device.wait({variable(later)}, fence)"


def variable(act: Act) -> str:
    """The stream's name as it would stand in a program."""
    return re.sub(r"\W", "_", act.stream_name, flags=re.ASCII)


class Move(NamedTuple):
    """Launches of a kernel on a stream, enqueued on another one."""

    kernel: str
    stream: int
    to_stream: int
    sentence: str
    what: str
    """How it is told of as tried."""


def move(questions: Questions, edge: Edge) -> Move | None:
    """Which of the two could be enqueued where the other is: what computes most stays where it is."""
    earlier, later = edge.earlier, edge.later
    if not (earlier.launch and later.launch):
        return None
    computes = {row["stream"]: row["launches"] for row in questions.rows(COMPUTING)}
    moved, staying = later, earlier
    if computes.get(later.stream, 0) > computes.get(earlier.stream, 0):
        moved, staying = earlier, later
    return Move(
        moved.kernel,
        moved.stream,
        staying.stream,
        f"enqueue {moved.kernel} on stream {staying.stream_name}, where {staying.kernel} is: "
        "a stream runs its launches in order",
        f"{moved.kernel} enqueued on stream {staying.stream_name}",
    )


def _place(act: Act) -> str:
    """The place in the code: what is missing is missing each time."""
    return f"{act.kernel} on {act.stream_name}"


def order(edges: tuple[Edge, ...]) -> str:
    """The calls that add the edges; all of them are needed."""
    first = edges[0]
    if any(edge.later != first.later for edge in edges):
        calls = "; ".join(f"between {edge.earlier.name} and {edge.later.name}: {edge.call}" for edge in edges)
        return f"order all {len(edges)}, {calls}"
    if len(edges) > 1:
        calls = "; ".join(f"behind {edge.earlier.name}: {edge.call}" for edge in edges)
        return f"order {first.later.name} after all {len(edges)}, {calls}"
    if first.misplaced is not None:
        return first.misplaced.fix
    if first.earlier.launch and first.later.launch:
        return (
            f"order the two streams, after {_place(first.earlier)} and before {_place(first.later)}: "
            f"{first.call}"
        )
    return f"on the host, between {first.earlier.name} and {first.later.name}: {first.call}"
