"""The launches around the act in question: a few of each stream that matters, and the fences between them."""

from tracert_analysis.report.acts import COLUMNS, Acts
from tracert_analysis.report.facts import Act, Edge, FenceFact
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.stories.surroundings import Surroundings

SHOWN = 12
"""So many launches at most."""
BEFORE, BEHIND = 2, 2
"""Launches of an act's own stream that are shown before and behind it."""
STREAMS = 4

# Of the streams of the two acts their neighbours there, of the others those that lie between.
LAUNCHES = f"""
SELECT {COLUMNS} FROM launch
WHERE stream = $stream AND ordinal BETWEEN $first AND $last AND seq >= $since OR launch = $also
    OR stream = $other_stream AND ordinal BETWEEN $other_first AND $other_last
    OR stream NOT IN ($stream, $other_stream) AND seq BETWEEN $from AND $to
ORDER BY seq LIMIT 200"""

# Neighbours of the earlier act that lie further back than the later stream's are no part of the scene.
SINCE = """
SELECT coalesce(min(seq), 0) AS since FROM (
    SELECT seq FROM launch WHERE stream = $stream AND seq < $before ORDER BY seq DESC LIMIT $most
)"""

# Fences right behind launches that are shown.
FENCES = """
SELECT fence, stream, ordinal, record_seq, wait_stream, wait_seq, passed_seq,
    stream = $stream AND ordinal >= $ordinal AS covers
FROM fence WHERE (stream, ordinal) IN ({places}) AND wait_seq <= $to
QUALIFY row_number() OVER (PARTITION BY stream, ordinal, wait_stream ORDER BY wait_seq) = 1
ORDER BY wait_seq"""


def surroundings(
    questions: Questions,
    acts: Acts,
    act: Act | None,
    other: Act | None,
    edge: Edge | None,
    also: Act | None = None,
) -> Surroundings | None:
    """What is drawn around `act`, and around the act that it should be ordered after.

    `also` is drawn whatever lies between: who put there what `act` finds.
    """
    if act is None or not act.launch:
        return None
    if other is None or not other.launch:
        # A writer without a stream is drawn nowhere.
        other, edge = act, None
    early, late = sorted((act, other), key=lambda found: found.seq)
    since = 0
    if early.stream != late.stream:
        near = questions.rows(SINCE, stream=late.stream, before=early.seq, most=BEFORE)
        since = min(near[0]["since"], early.seq)
    told = questions.ask(
        f"launches around launch {act.launch}",
        LAUNCHES,
        **{
            "stream": early.stream,
            "first": early.ordinal - BEFORE,
            "last": early.ordinal + BEHIND,
            "other_stream": late.stream,
            "other_first": late.ordinal - BEFORE,
            "other_last": late.ordinal + BEHIND,
            "since": since,
            "also": also.launch if also is not None else None,
            "from": early.seq,
            "to": late.seq,
        },
    )
    found = _nearest([acts.act(row) for row in told.rows], early, late, also)
    streams = dict.fromkeys(sorted({one.stream for one in found}))
    places = ", ".join(f"({one.stream}, {one.ordinal})" for one in found)
    fences = questions.ask(
        f"fences behind the launches around launch {act.launch}",
        FENCES.format(places=places or "(NULL, NULL)"),
        stream=early.stream,
        ordinal=early.ordinal,
        to=max((one.seq for one in found), default=act.seq),
    )
    return Surroundings(
        streams=tuple((stream, acts.stream_name(stream)) for stream in list(streams)[:STREAMS]),
        launches=tuple(found),
        fences=tuple(FenceFact(**row) for row in fences.rows),
        missing=edge,
        query=told.query,
    )


def _nearest(found: list[Act], early: Act, late: Act, also: Act | None) -> list[Act]:
    """The acts, their neighbours, and launches of other streams among these; in order, each once."""
    spans = []
    for one in (early, late):
        near = [
            act.seq for act in found if act.stream == one.stream and abs(act.ordinal - one.ordinal) <= BEFORE
        ]
        spans.append((min(near, default=one.seq), max(near, default=one.seq)))
    own = (early.stream, late.stream)
    needed = {one.launch for one in (early, late, also) if one is not None}
    once = {
        act.launch: act
        for act in found
        if act.seq <= spans[-1][1]
        and (
            act.stream in own
            or act.launch in needed
            or any(first <= act.seq <= last for first, last in spans)
        )
    }
    others = sorted({act.stream for act in once.values()} - set(own))[: STREAMS - len(set(own))]

    def distance(act: Act) -> tuple[bool, int]:
        far = min(abs(act.seq - early.seq), abs(act.seq - late.seq))
        return act.launch not in needed, far

    nearest = sorted((act for act in once.values() if act.stream in (*own, *others)), key=distance)[:SHOWN]
    return sorted(nearest, key=lambda act: act.seq)
