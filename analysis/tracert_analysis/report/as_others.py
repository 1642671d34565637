"""What if launches that lack order went the way that others of their kernel go, which have it every time?

On the others' stream, with a fence behind each and a wait before the next launch of the stream that goes on.
Every rule is checked again with that: it is told as a repair where it is one.
"""

from typing import NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.added import WAITED, fences, with_added
from tracert_analysis.report.again import EVENTS_MAX, checked_again
from tracert_analysis.report.contrast import right_ways
from tracert_analysis.report.facts import Edge
from tracert_analysis.report.moved import PLACED
from tracert_analysis.report.questions import Questions, Row, literal

CODE = "TR102"

FENCES = fences("""
    SELECT early.to_stream AS stream, early.ordinal, early.seq AS behind, late.stream AS to_stream,
        late.seq AS before
    FROM (
        SELECT l.seq, p.stream AS to_stream, p.ordinal, {late}::USMALLINT AS late
        FROM main.launch AS l JOIN _placed AS p USING (seq) WHERE l.kernel = {kernel} AND l.stream = {stream}
    ) AS early
    ASOF JOIN main.launch AS late ON early.late = late.stream AND early.seq < late.seq""")

EVENTS = with_added(
    "coalesce(p.stream, e.stream) AS stream, coalesce(p.ordinal, e.ordinal) AS ordinal",
    "LEFT JOIN _placed AS p ON e.seq = p.seq",
)


class Alike(NamedTuple):
    """The way of the others; both empty where there is none, or it repairs nothing."""

    fix: str = ""
    told: str = ""


def as_others(questions: Questions, acts: Acts, dump: Dump, root: Row, edges: tuple[Edge, ...]) -> Alike:
    """What is left of the findings when the earlier launches of the missing edge go the way of the others."""
    if root["code"] != CODE or len(edges) != 1 or dump.evidence.events > EVENTS_MAX:
        return Alike()
    early, late = edges[0].earlier, edges[0].later
    ways = [way for way in right_ways(questions) if way["kernel"] == early.kernel]
    ways = [way for way in ways if way["stream"] not in (early.stream, late.stream)]
    if not ways or not (early.launch and late.launch):
        return Alike()
    way = max(ways, key=lambda found: found["followed"])
    stream = way["stream"]
    kernel = literal(early.kernel)
    left = checked_again(
        dump,
        (
            PLACED.format(kernel=kernel, stream=early.stream, to_stream=stream),
            FENCES.format(kernel=kernel, stream=early.stream, late=late.stream),
            WAITED,
            EVENTS,
        ),
    )
    if left.same(root) is not None or left.breaks:
        return Alike()
    name, times = acts.stream_name(stream), way["followed"]
    what = f"{early.kernel} enqueued on stream {name} and waited for"
    return Alike(
        f"or enqueue {early.kernel} on stream {name}, and let {late.stream_name} wait for a fence behind it: "
        f"so the same kernel goes there, in order {times} of {times} times",
        left.told(f"; with {what},"),
    )
