"""Launches of several streams in the order of events, a column a stream, and the edges between them.

    seq    legacy             compute            transfer
    1783                                         178 copy_row
    1785                      <------ fence 55 --+
    1790   179 copy_row
    1803   +- - - no fence - -> 180 forward !

A launch that had not finished says so. `!` is the act in question, `*` the one that it should come after, or
whose bytes it meets, `...` launches that are left out.
"""

from collections.abc import Iterator, Mapping, Sequence

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
)
from tracert_analysis.report.facts import Act, Edge, FenceFact
from tracert_analysis.report.stories.surroundings import Surroundings

MEANINGS = {
    "!": "the act in question",
    "*": "the one that it is told against",
    "...": "launches that are left out",
    "<- and ->": "fences",
}
COLUMN = 28
"""Characters of a stream's column."""

LEFT, CELL, GAP, LANE = 100, 84, 18, 84
"""Of a figure: the names of streams, a launch at least, what is between two, a stream."""
NAME = 24
"""Characters of a kernel's name that a launch of a figure has room for."""
TALL = 46
"""Height of a launch: its number, its kernel, its event."""


def draw(
    around: Surroundings, marked: Act | None, missing: Edge | None, against: Act | None = None
) -> Iterator[str]:
    """The lines of the drawing; `marked` is the act in question, `against` the one it is told against."""
    places = {stream: number * COLUMN for number, (stream, _) in enumerate(around.streams)}
    if not around.launches:
        return
    seqs = [str(act.seq) for act in around.launches] + ["seq"]
    margin = max(map(len, seqs)) + 2
    heads = "".join(f"{cut(name, COLUMN - 2):<{COLUMN}}" for _, name in around.streams)
    yield f"{'seq':<{margin}}{heads}".rstrip()
    lines = [
        (act.seq, 1, launch(act, places, _sign(act, marked, against)))
        for act in around.launches
        if act.stream in places
    ]
    lines += [
        (found.wait_seq, 0, edge(places[found.stream], places[found.wait_stream], f" fence {found.fence} "))
        for found in around.fences
        if found.wait_seq is not None and found.stream in places and found.wait_stream in places
    ]
    if missing is not None and missing.earlier.stream in places and missing.later.stream in places:
        a, b = places[missing.earlier.stream], places[missing.later.stream]
        lines.append((missing.later.seq, 0, edge(a, b, " NO FENCE ", "- ")))
    gaps = left_out(around)
    for seq, _, text in sorted(lines):
        if gap := [
            " " * places[act.stream] + "..." for act in gaps if act.seq == seq and act.stream in places
        ]:
            yield f"{'':<{margin}}{gap[0]}"
            gaps = [act for act in gaps if act.seq != seq]
        yield f"{seq:<{margin}}{text}".rstrip()


def signs(around: Surroundings, marked: Act | None, against: Act | None = None) -> set[str]:
    """The signs that the drawing has."""
    streams = {stream for stream, _ in around.streams}
    acts = [act for act in around.launches if act.stream in streams]
    drawn = {sign for act in acts if (sign := _sign(act, marked, against))}
    if any(act.stream in streams for act in left_out(around)):
        drawn.add("...")
    if any({found.stream, found.wait_stream} <= streams for found in around.fences):
        drawn.add("<- and ->")
    return drawn


def left_out(around: Surroundings) -> list[Act]:
    """Launches before which others of their stream are not shown, though one before those is."""
    last: dict[int, int] = {}
    found = []
    for act in around.launches:
        if act.ordinal > last.get(act.stream, act.ordinal) + 1:
            found.append(act)
        last[act.stream] = act.ordinal
    return found


def _sign(act: Act, marked: Act | None, against: Act | None) -> str:
    """`!` for the act in question, `*` for the one that it is told against."""
    if marked is not None and act.launch == marked.launch:
        return "!"
    return "*" if against is not None and act.launch == against.launch else ""


def launch(act: Act, places: dict[int, int], sign: str) -> str:
    """A launch in its stream's column."""
    unfinished = f" ({act.state})" if act.state in ("running", "waiting") else ""
    mark = f" {sign}" if sign else ""
    room = COLUMN - 2 - len(unfinished) - len(mark)
    return f"{' ' * places[act.stream]}{cut(f'{act.launch} {act.kernel}', room)}{unfinished}{mark}"


def edge(start: int, end: int, label: str, dash: str = "-") -> str:
    """A line from one column to another, with a head where it ends and its label in the middle."""
    left, right = min(start, end), max(start, end)
    width = right - left
    body = (dash * width)[:width]
    middle = (width - len(label)) // 2
    if middle > 1:
        body = body[:middle] + label + body[middle + len(label) :]
    body = f"+{body[1:-2]}> " if start < end else f"<{body[1:-1]}+"
    return " " * left + body


def cut(text: str, most: int) -> str:
    """The text, of at most so many characters."""
    return text if len(text) <= most else f"{text[: max(1, most - 3)]}..."


def figure(
    around: Surroundings, marked: Act | None, missing: Edge | None, against: Act | None = None
) -> Figure | None:
    """The same as a figure: a lane a stream, launches from left to right, the missing edge in red."""
    if not around.launches:
        return None
    lanes = {stream: 14 + number * LANE for number, (stream, _) in enumerate(around.streams)}
    acts = [act for act in around.launches if act.stream in lanes]
    cell = max(CELL, max((len(act.kernel[:NAME]) for act in acts), default=0) * LETTER + 8)
    at = {act.launch: LEFT + number * (cell + GAP) for number, act in enumerate(acts)}
    width = LEFT + len(acts) * (cell + GAP)
    shapes: list[Shape] = []
    for stream, name in around.streams:
        middle = lanes[stream] + TALL / 2
        shapes.append(Stroke(LEFT - 10, middle, width, middle, "lane"))
        shapes.append(Words(LEFT - 16, middle + 4, fitting(f"{stream} {name}", LEFT - 18), "strong", "end"))
    for found in around.fences:
        shapes += _fence(found, acts, at, lanes, cell)
    gaps = [act for act in left_out(around) if act.stream in lanes]
    for act in gaps:
        shapes.append(
            Words(at[act.launch] - GAP / 2, lanes[act.stream] + TALL / 2 - 4, "…", "strong", "middle")
        )
    for act in acts:
        shapes += _launch(act, at[act.launch], lanes[act.stream], cell, _sign(act, marked, against))
    if missing is not None and {missing.earlier.launch, missing.later.launch} <= set(at):
        x, y = at[missing.earlier.launch] + cell, lanes[missing.earlier.stream] + TALL / 2
        to_x, to_y = at[missing.later.launch], lanes[missing.later.stream] + TALL / 2
        shapes.append(Stroke(x, y, to_x, to_y, "missing", True, f"missing: {missing.call}"))
        shapes.append(Words((x + to_x) / 2 + 12, (y + to_y) / 2 + 4, "no fence", "wrong"))
    strokes = {}
    if any(shape.kind == "fence" for shape in shapes):
        strokes["fence"] = "a fence orders them"
    if any(shape.kind == "missing" for shape in shapes):
        strokes["missing"] = "no fence orders them"
    height = 20 + len(lanes) * LANE
    signs = list(legend(LEFT, height + 8, _boxes(acts, marked, against), strokes))
    wide = reach(signs)
    if gaps:
        signs += [
            Words(wide + 18, height + 12, "…", "strong"),
            Words(wide + 33, height + 12, "launches left out", "quiet"),
        ]
        wide += 33 + len("launches left out") * LETTER
    return Figure(max(width, wide + 10), height + 20, tuple(shapes), tuple(signs), tells_at="end")


def _boxes(acts: Sequence[Act], marked: Act | None, against: Act | None) -> dict[str, str]:
    """What the boxes of launches mean, by their kind."""
    states = {act.state for act in acts}
    boxes: dict[str, str] = {
        f"launch {state}": state for state in ("finished", "running", "waiting") if state in states
    }
    signs = {_sign(act, marked, against) for act in acts}
    if "!" in signs:
        boxes["launch legend marked"] = "the act in question"
    if "*" in signs:
        boxes["launch legend against"] = "against it"
    return boxes


def _launch(act: Act, x: float, y: float, cell: float, sign: str) -> Iterator[Shape]:
    state = act.state or "unknown"
    frame = {"!": " marked", "*": " against"}.get(sign, "")
    about = f"launch {act.launch} {act.kernel}, seq {act.seq}, {state}"
    yield Box(x, y, cell, TALL, f"launch {state}{frame}", about)
    for down, text, kind in (
        (14, f"launch {act.launch}", "word"),
        (27, act.kernel, "strong"),
        (40, f"seq {act.seq}", "word"),
    ):
        yield Words(x + cell / 2, y + down, fitting(text, cell - 2), kind, "middle")
    if sign == "*":
        yield Words(x + cell / 2, y - 4, "against", "wrong", "middle")
    if act.state != "finished":
        yield Words(x + cell / 2, y + TALL + 13, state, "wrong" if sign == "!" else "quiet", "middle")


def _fence(
    found: FenceFact, acts: Sequence[Act], at: Mapping[int, float], lanes: Mapping[int, float], cell: float
) -> Iterator[Shape]:
    """From the last launch before the record to the first behind the wait, where both are drawn."""
    if found.wait_seq is None:
        return
    before = [act for act in acts if act.stream == found.stream and act.ordinal <= found.ordinal]
    behind = [act for act in acts if act.stream == found.wait_stream and act.seq > found.wait_seq]
    if before and behind:
        start, end = before[-1], behind[0]
        about = f"fence {found.fence}: launch {end.launch} is ordered after launch {start.launch}"
        x, y = at[start.launch] + cell, lanes[start.stream] + TALL / 2
        to_x, to_y = at[end.launch], lanes[end.stream] + TALL / 2
        yield Stroke(x, y, to_x, to_y, "fence", True, about)
        # Beside the middle of the line, on the side from which it leads away.
        middle, up = (x + to_x) / 2, to_y < y
        number = f"fence {found.fence}"
        yield Words(middle + 5, (y + to_y) / 2 + (12 if up else -3), number, "quiet")
