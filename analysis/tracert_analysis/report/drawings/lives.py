"""Lives of a page, or generations of a row, on one axis of event numbers.

    seq      120 |                                            | 90211
    17.1         |====w==r=~~~                                | request:4
    17.3         |                          ====w===w====!    | request:17

`=` held, `~` retired (nobody holds it, a fence guards it), `w` written, `r` read, `!` the act in question; of
a row, `x` is a publish that names no page. Where several fall on one column, the most telling is shown: `!`,
then `x`, then `w`, then `r`. All columns stand for as many numbers of events, which the head says.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from tracert_analysis.report.drawings.figure import (
    LETTER,
    Box,
    Figure,
    Shape,
    Stroke,
    Words,
    fitting,
    legend,
    reach,
    wrapped,
)
from tracert_analysis.report.facts import Life

WIDTH = 60
OWNERS = 3
"""Of those who had a life together so many are named."""
SHOWN = 8
"""So many lives are drawn, the one in question among them; those that are left out are counted."""
BEHIND = 2
"""Of lives behind the one in question so many at least, where there are."""

LABEL, BAR, OWNER = 132, 480, 470
"""How wide the parts of a figure are."""
STEP = 34
"""From one life to the next, where two lines tell of it."""
NARROW = 150
"""So wide is the place of who had a life at least."""
LINE = 13
LINES = 3
"""So many lines tell who held a life, and so many who touched it."""


def span(lives: Sequence[Life], first: int, last: int) -> tuple[int, int]:
    """First and last seq of an axis for `lives`: one whose start is not known begins at the left edge."""
    start = min((life.from_seq for life in lives if life.from_seq is not None), default=first)
    start = first if any(life.from_seq is None for life in lives) else start
    return start, max(last, start + 1)


def shown(lives: Sequence[Life], mark: int | None) -> tuple[list[Life], int, int]:
    """Those that are drawn, and how many before and behind them are not."""
    before = [number for number, life in enumerate(lives) if mark is None or (life.from_seq or 0) <= mark]
    here = before[-1] if before else 0
    end = min(len(lives), max(SHOWN, here + 1 + BEHIND))
    start = max(0, end - SHOWN)
    return list(lives[start:end]), start, len(lives) - end


def left_out(earlier: int, later: int) -> str:
    """What a drawing says of the lives that it leaves out; empty where it leaves out none."""
    told = [f"{number} {which}" for number, which in ((earlier, "earlier"), (later, "later")) if number]
    return f"({' and '.join(told)} not drawn)" if told else ""


def owner_of(life: Life) -> str:
    """Who a life was granted to, as the history calls it."""
    return life.owner or ("granted before the history" if life.from_seq is None else "unknown")


def column(seq: int, start: int, last: int) -> int:
    """The column of an event on an axis from `start` to `last`: each stands for as many numbers."""
    return min(WIDTH - 1, max(0, (seq - start) * WIDTH // (last - start + 1)))


def scale(start: int, last: int) -> str:
    """What a column of the axis stands for."""
    numbers = (last - start + 1) / WIDTH
    if numbers < 1:
        return f"{f'one event: {1 / numbers:.0f} columns':^{WIDTH}}"
    many = f"{numbers:.0f}" if numbers >= 10 else f"{numbers:.1f}"
    return f"{f'one column: {many} numbers of events':^{WIDTH}}"


def draw(
    name: str,
    lives: Sequence[Life],
    first: int,
    last: int,
    mark: int | None = None,
    owner: Callable[[Life], str] = owner_of,
) -> list[str]:
    """The lines of a drawing of `lives` between seq `first` and `last`; `mark` is the act in question.

    `owner` names who had a life.
    """
    if not lives:
        return []
    drawn, earlier, later = shown(lives, mark)
    start, last = span(drawn, first, last)
    labels = [f"{name}.{life.number}" for life in drawn]
    margin = max(len("seq"), *map(len, labels))
    ends = f"{start} |{scale(start, last)}| {last}"
    lines = [f"{'seq':<{margin}}  {ends}"]
    if earlier or later:
        lines.insert(0, left_out(earlier, later))
    for label, life in zip(labels, drawn, strict=True):
        bar = "".join(_bar(life, start, last, mark))
        lines.append(f"{label:<{margin}}  {' ' * len(str(start))} |{bar}| {owner(life)}")
    return lines


def signs(lives: Sequence[Life], first: int, last: int, mark: int | None = None) -> set[str]:
    """The signs that a drawing of `lives` has."""
    drawn, _, _ = shown(lives, mark)
    start, last = span(drawn, first, last)
    return {sign for life in drawn for sign in _bar(life, start, last, mark)}


def _bar(life: Life, start: int, last: int, mark: int | None) -> list[str]:
    """The columns of one life, later marks over earlier ones."""
    columns = [" "] * WIDTH

    def at(seq: int) -> int:
        return column(seq, start, last)

    begin = life.from_seq if life.from_seq is not None else start
    end = life.until_seq if life.until_seq is not None else last
    for position in range(at(begin), at(end) + 1):
        columns[position] = "="
    if life.retired_seq is not None:
        for position in range(at(life.retired_seq), at(end) + 1):
            columns[position] = "~"
    for seqs, sign in ((life.reads, "r"), (life.writes, "w"), (life.voids, "x")):
        for seq in seqs:
            columns[at(seq)] = sign
    if mark is not None and begin <= mark <= end:
        columns[at(mark)] = "!"
    return columns


def figure(
    name: str,
    lives: Sequence[Life],
    first: int,
    last: int,
    mark: int | None,
    owner: Callable[[Life], str],
    told: Callable[[Life], str],
) -> Figure | None:
    """The same as a figure: writes are ticks above a life's bar, reads below it.

    `owner` names who had a life, `told` says in a few words who wrote and read it.
    """
    if not lives:
        return None
    drawn, earlier, later = shown(lives, mark)
    start, last = span(drawn, first, last)
    shapes: list[Shape] = [
        Words(LABEL, 14, str(start), "quiet"),
        Words(LABEL + BAR, 14, str(last), "quiet", "end"),
        Words(LABEL + BAR / 2, 14, "event (seq)", "quiet", "middle"),
    ]
    if earlier or later:
        shapes.append(Words(LABEL + BAR + 10, 14, left_out(earlier, later), "quiet"))
    top = 24.0
    width = LABEL + BAR + max(NARROW, 20 + len(left_out(earlier, later)) * LETTER)
    for life in drawn:
        words = _words(owner(life), told(life))
        width = max([width, *(LABEL + BAR + 20 + len(text) * LETTER for text, _ in words)])
        shapes += _life(f"{name}.{life.number}", life, start, last, top, mark, words)
        top += max(STEP, 8 + len(words) * LINE)
    boxes = {"held": "held"}
    if any(life.retired_seq is not None for life in drawn):
        boxes["retired"] = "retired: a fence guards it"
    strokes = {"write": "written (above)", "read": "read (below)"}
    if any(shape.kind == "wrong" for shape in shapes):
        strokes["wrong"] = "the act in question"
    signs = tuple(legend(LABEL, top + 12, boxes, strokes))
    width = max(width, reach(signs) + 10)
    return Figure(
        width,
        top + 24,
        tuple(shapes),
        signs,
        tells_at=tells_at(mark, start, last, width),
    )


def tells_at(mark: int | None, start: int, last: int, width: float) -> Literal["start", "end"]:
    """Which end of a figure of that width has the act in question, on a screen that shows half of it."""
    if mark is None:
        return "start"
    return "end" if LABEL + BAR * (mark - start) / (last - start) > width / 2 else "start"


def _words(owner: str, told: str) -> list[tuple[str, str]]:
    """Lines, and what kind they are: who held it, and who touched it."""
    return [
        (line, kind)
        for text, kind in ((owner, "word"), (told, "quiet"))
        for line in wrapped(text, OWNER - 20, LINES)
    ]


def _life(
    name: str,
    life: Life,
    start: int,
    last: int,
    top: float,
    mark: int | None,
    words: Sequence[tuple[str, str]],
) -> Iterator[Shape]:
    def x(seq: int) -> float:
        return LABEL + BAR * min(1.0, max(0.0, (seq - start) / (last - start)))

    begin = life.from_seq if life.from_seq is not None else start
    end = life.until_seq if life.until_seq is not None else last
    held_end = life.retired_seq if life.retired_seq is not None else end
    yield Words(LABEL - 8, top + 16, fitting(name, LABEL - 12), "word", "end")
    yield Box(
        x(begin),
        top + 6,
        max(2.0, x(held_end) - x(begin)),
        12,
        "held",
        f"{name}: {words[0][0] if words else ''}",
    )
    if life.retired_seq is not None:
        yield Box(x(held_end), top + 6, max(2.0, x(end) - x(held_end)), 12, "retired", f"{name}: retired")
    for seqs, kind, where in ((life.reads, "read", top + 18), (life.writes, "write", top)):
        for seq in seqs:
            about = f"published as no page at event {seq}" if seq in life.voids else f"{kind} at event {seq}"
            yield Stroke(x(seq), where, x(seq), where + 6, kind, about=about)
    if mark is not None and begin <= mark <= end:
        yield Stroke(x(mark), top - 2, x(mark), top + 26, "wrong", about=f"the act in question, event {mark}")
    for number, (text, kind) in enumerate(words):
        yield Words(LABEL + BAR + 10, top + 11 + number * LINE, text, kind)
