"""What if the calls that order streams had stood there? Every rule is checked again with them.

A call belongs to a place in the code, not to one launch: a fence is added behind every launch of the
earlier act's kernel and stream, and a wait before the next launch of the later act's stream. Where the
verdict is still there, for it lacks order with other streams, too, they are waited for as well.
"""

from typing import NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.added import WAITED, fences, with_added
from tracert_analysis.report.again import Edited, checked_again, count, rows
from tracert_analysis.report.questions import Row, literal

# Of the verdict alone: what other findings lack is no answer to it.
PLACE = """
SELECT DISTINCT early.kernel, early.stream, late.stream AS to_stream, early.launch, late.launch AS to_launch
FROM main.finding f
JOIN main.launch early ON early.launch = f.other_launch
JOIN main.launch late ON late.launch = f.launch
WHERE f.finding = $verdict AND early.seq < late.seq AND early.stream <> late.stream
    AND late.clock[early.stream + 1] < early.ordinal AND early.kernel IS NOT NULL"""

# Who used the life before a page's new one, on each stream last, and is not ordered before its first use.
USERS = """
SELECT DISTINCT early.kernel, early.stream, late.stream AS to_stream, early.launch, late.launch AS to_launch
FROM main.finding f
JOIN main.launch late ON late.launch = f.launch
JOIN (
    SELECT page, life, lag(life) OVER (PARTITION BY page ORDER BY life) AS previous
    FROM (SELECT DISTINCT page, life FROM main._span)
) AS b ON b.page = f.resource_id AND b.life = f.life
JOIN main._span s
    ON s.page = b.page AND s.life = b.previous AND s.stream <> late.stream AND s.last_seq < late.seq
JOIN main.launch early ON early.seq = s.last_seq
WHERE f.finding = $verdict AND f.code = 'TR202' AND late.clock[early.stream + 1] < early.ordinal
    AND early.kernel IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY early.stream ORDER BY early.seq DESC) = 1"""

ROUNDS = 8
"""So many streams at most are waited for beside the first."""

# Every launch of those kernels and the next one of the stream that goes on.
PAIRED = """
(SELECT l.*, p.to_stream FROM main.launch AS l JOIN (VALUES {places}) AS p (kernel, stream, to_stream)
    USING (kernel, stream)) AS early
ASOF JOIN main.launch AS late ON early.to_stream = late.stream AND early.seq < late.seq"""

FENCES = fences(f"""
    SELECT early.stream, early.ordinal, early.seq AS behind, late.stream AS to_stream, late.seq AS before
    FROM {PAIRED}""")

CALLS = f"SELECT count(*) FROM {PAIRED}"


class Place(NamedTuple):
    """Where order lacks: behind the launches of a kernel on a stream, before the next ones of another."""

    kernel: str
    stream: int
    to_stream: int
    launch: int
    """The launch that shows it."""
    to_launch: int


def missing(dump: Dump, root: Row) -> list[Place]:
    """Where the verdict lacks order, what it names first; empty where that is not what it lacks."""
    named = [Place(**row) for row in rows(dump, PLACE, root["finding"])][:1]
    if not named or root["code"] != "TR202":
        return named
    users = [Place(**row) for row in rows(dump, USERS, root["finding"])]
    return [*named, *(place for place in users if place[:3] != named[0][:3])]


def ordered(dump: Dump, root: Row, places: list[Place]) -> Edited:
    """What is left with the calls at those places, and at others where the verdict still lacks them."""
    for _ in range(ROUNDS):
        listed = ", ".join(
            f"({literal(place.kernel)}, {place.stream}, {place.to_stream})" for place in places
        )
        left = checked_again(dump, (FENCES.format(places=listed), WAITED, with_added()))
        again = left.same(root)
        if again is None or not again["loose"] or again["early_kernel"] is None:
            break
        place = Place(
            again["early_kernel"],
            again["other_stream"],
            again["stream"],
            again["other_launch"],
            again["launch"],
        )
        if any(place[:3] == known[:3] for known in places):
            break
        places = [*places, place]
    calls = count(dump, CALLS.format(places=listed), root)
    times = "once" if calls == 1 else f"all {calls} times that this code ran"
    what = {1: "the call", 2: "both calls"}.get(len(places), f"all {len(places)} calls")
    sentence = left.told(f"with {what} added to the recorded history ({times})")
    beside = tuple((place.launch, place.to_launch) for place in places[1:])
    return Edited(sentence, again is None, beside, left)
