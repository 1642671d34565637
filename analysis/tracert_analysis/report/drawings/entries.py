"""The entries of a row in time, on the axis of its generations: which page each names, from which publish on.

    seq         13 |                                            | 1811
    entries 0 to 7 |1.1==========xxxx16.1==========xxxxxxxx1.1.!| 1.1 ...
    entry 8        |     17.1====xxxx24.1==========xxxxxxxx9.1.!| 9.1

`=` named, behind the page and life of the first entry; `x` no page of the pool; `.` published, and the
publish had not executed at the end; `!` the act in question. What stood there before is not drawn.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tracert_analysis.report.drawings.figure import LETTER, Box, Figure, Shape, Stroke, Words, fitting, legend
from tracert_analysis.report.drawings.lives import BAR, LABEL, OWNER, WIDTH, column, scale, tells_at
from tracert_analysis.report.stories.row import Strip

LANES = 10
"""So many lines at most: of more the first ones and the last."""
STEP = 20
NOTHING = "nothing known to be published, and followed"


def lanes(strips: Sequence[Strip], walked: int = 0) -> list[tuple[int, int]]:
    """Entries that always changed together, first and end, in order.

    Those that a launch walked behind all that were published come last.
    """
    cuts = sorted({strip.first for strip in strips} | {strip.end for strip in strips})
    found = [span for span in pairwise(cuts) if _of(strips, span)]
    behind = max((strip.end for strip in strips), default=0)
    return [*found, (behind, walked)] if behind < walked else found


def shown(strips: Sequence[Strip], walked: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
    """The first lanes, the last ones, and how many entries between them are left out."""
    found = lanes(strips, walked)
    if len(found) <= LANES:
        return found, [], 0
    head, tail = found[: LANES // 2], found[-(LANES // 2) :]
    return head, tail, sum(end - first for first, end in found[LANES // 2 : -(LANES // 2)])


def name(strip: Strip, first: int) -> str:
    """What an entry of the strip names, as far as a drawing has room for it."""
    page, life = strip.pages[first - strip.first]
    return f"{page}.{life}" if strip.in_pool else "no page"


def label(lane: tuple[int, int]) -> str:
    """The entries of a lane."""
    first, end = lane
    return f"entry {first}" if end == first + 1 else f"entries {first} to {end - 1}"


def unexecuted(strip: Strip) -> bool:
    """Had the publish not executed at the end?"""
    return strip.state in ("running", "waiting")


def draw(strips: Sequence[Strip], start: int, last: int, mark: int, walked: int = 0) -> Iterator[str]:
    """The lines of the drawing between two seqs; `mark` is the act in question, which `walked` so many."""
    if not strips:
        return
    head, tail, left = shown(strips, walked)
    margin = max(len(label(lane)) for lane in (*head, *tail))
    yield f"{'seq':<{margin}}  {start} |{scale(start, last)}| {last}"
    for number, lane in enumerate((*head, *tail)):
        if left and number == len(head):
            yield f"({left} more entries not drawn)"
        bar, now = _bar(strips, lane, start, last, mark)
        yield f"{label(lane):<{margin}}  {' ' * len(str(start))} |{bar}| {now}".rstrip()


def signs(strips: Sequence[Strip], start: int, last: int, mark: int, walked: int = 0) -> set[str]:
    """The signs that the drawing has."""
    head, tail, _ = shown(strips, walked)
    return {sign for lane in (*head, *tail) for sign in _bar(strips, lane, start, last, mark, words=False)[0]}


def _bar(
    strips: Sequence[Strip], lane: tuple[int, int], start: int, last: int, mark: int, *, words: bool = True
) -> tuple[str, str]:
    """The columns of a lane, and what it names at the mark; `words`: with what the entries name in them."""
    columns = [" "] * WIDTH

    def at(seq: int) -> int:
        return column(seq, start, last)

    now = "" if _of(strips, lane) else NOTHING
    for strip in _of(strips, lane):
        begin = at(strip.seq)
        end = at(strip.until_seq) if strip.until_seq is not None else WIDTH
        sign = "." if unexecuted(strip) else "=" if strip.in_pool else "x"
        columns[begin : max(end, begin + 1)] = sign * max(end - begin, 1)
        word = name(strip, lane[0]) if strip.in_pool and words else ""
        if len(word) < end - begin:
            columns[begin : begin + len(word)] = word
        if strip.seq <= mark:
            now = name(strip, lane[0]) + (" ..." if lane[1] > lane[0] + 1 and strip.in_pool else "")
    columns[at(mark)] = "!"
    return "".join(columns), now


def _of(strips: Sequence[Strip], lane: tuple[int, int]) -> list[Strip]:
    return [strip for strip in strips if strip.first <= lane[0] and lane[1] <= strip.end]


def figure(strips: Sequence[Strip], start: int, last: int, mark: int, walked: int = 0) -> Figure | None:
    """The same as a figure: a box a strip with its page in it, dashed where the publish had not executed."""
    if not strips:
        return None
    head, tail, left = shown(strips, walked)
    shapes: list[Shape] = [
        Words(LABEL, 14, str(start), "quiet"),
        Words(LABEL + BAR, 14, str(last), "quiet", "end"),
        Words(LABEL + BAR / 2, 14, "event (seq)", "quiet", "middle"),
    ]
    top = 22.0
    for number, lane in enumerate((*head, *tail)):
        if left and number == len(head):
            shapes.append(Words(LABEL, top + 12, f"{left} more entries not drawn", "quiet"))
            top += STEP
        shapes += _lane(strips, lane, start, last, top, mark)
        top += STEP

    at = LABEL + BAR * min(1.0, max(0.0, (mark - start) / (last - start)))
    shapes.append(Stroke(at, 18, at, top, "wrong", about=f"the act in question, event {mark}"))
    boxes = {"entry": "names a page"}
    if any(not strip.in_pool for strip in strips):
        boxes["nopage"] = "no page of the pool"
    if any(map(unexecuted, strips)):
        boxes["entry waiting"] = "published, not executed"
    return Figure(
        LABEL + BAR + OWNER,
        top + 24,
        tuple(shapes),
        tuple(legend(LABEL, top + 12, boxes, {"wrong": "the act in question"})),
        tells_at=tells_at(mark, start, last, LABEL + BAR + OWNER),
    )


def _lane(
    strips: Sequence[Strip], lane: tuple[int, int], start: int, last: int, top: float, mark: int
) -> Iterator[Shape]:
    def x(seq: int) -> float:
        return LABEL + BAR * min(1.0, max(0.0, (seq - start) / (last - start)))

    yield Words(LABEL - 8, top + 13, fitting(label(lane), LABEL - 12), "word", "end")
    before: Strip | None = None
    now: Strip | None = None
    for strip in _of(strips, lane):
        begin, end = x(strip.seq), x(strip.until_seq) if strip.until_seq is not None else LABEL + BAR
        kind = "entry" if strip.in_pool else "nopage"
        if unexecuted(strip):
            kind += " waiting"
        by = f"launch {strip.launch}" if strip.launch is not None else "before the history"
        state = f", {strip.state} at the end" if unexecuted(strip) else ""
        about = f"{label(lane)}: {name(strip, lane[0])}, by {by} at event {strip.seq}{state}"
        yield Box(begin, top, max(2.0, end - begin), STEP - 4, kind, about)
        word = name(strip, lane[0])
        if len(word) * LETTER + 6 < end - begin:
            yield Words(begin + 4, top + 12, word)
        if strip.seq <= mark:
            before, now = now, strip
    if not _of(strips, lane):
        yield Words(LABEL + BAR + 10, top + 12, NOTHING, "wrong")
    if now is not None:
        told = (
            f"{name(now, lane[0])} by launch {now.launch}" if now.launch is not None else name(now, lane[0])
        )
        if unexecuted(now):
            left = f"{name(before, lane[0])} before" if before is not None else "nothing known before"
            told += f" ({now.state}); {left}"
        yield Words(
            LABEL + BAR + 10, top + 12, fitting(told, OWNER - 10), "strong" if unexecuted(now) else "word"
        )
