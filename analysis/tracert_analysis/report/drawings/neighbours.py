"""The pages around one page: who holds each, and under the page itself carets at the positions in question.

      page 8.1   held by request:16 (warm-7)
    > page 9.3   held by request:18 (warm-8)
                 |ksssssssssssssss|
                   ^^^^^^^^^^^^^^^  positions 1 to 15: state rows of snapshot 4
      page 10    free, last held by request:3

`k` keys and values, `s` state rows of a snapshot, `0` zeros, `h` from the host tier, `.` no writer known.
"""

from collections.abc import Iterator, Mapping, Sequence

from tracert_analysis.report.drawings.figure import LETTER, Box, Figure, Shape, Stroke, Words, fitting, legend
from tracert_analysis.report.phrases import named, page_name, spelt
from tracert_analysis.report.stories.content import ByteRun
from tracert_analysis.report.stories.page import Extent, Neighbour, PageStory

CELLS = 64
"""A page of more positions is drawn in so many columns."""
SIGNS = {"kv": "k", "rows": "s", "zero": "0"}
"""By what wrote them; everything else is `h`."""
MEANINGS = {
    "k": "keys and values",
    "s": "state rows of a snapshot",
    "0": "zeros",
    "h": "from the host tier",
    ".": "no writer known",
    "^": "in question",
}
KINDS = {"kv": "held", "rows": "rows", "zero": "zero"}
OTHERS = {
    "rows": ("rows", "rows of a snapshot"),
    "zero": ("zero", "zeros"),
    "host": ("host", "from the host tier"),
}

STEP = 22
LEFT, NAME, STATE, BAR = 30, 100, 440, 320
"""Of a figure: its margin, a page, at most who holds it, and its positions."""
NARROW = 150
"""So wide is the place of who holds a page at least."""
ID = 24
"""Of a longer id a figure has the begin and the end."""
HOLDERS = 3
"""Of those who hold a page the first so many are named."""


def draw(story: PageStory, names: Mapping[str, str]) -> Iterator[str]:
    """The lines of the map; none when the history tells nothing of the page or its neighbours."""
    if not story.neighbours:
        return
    labels = [page_name(found.page, found.life) for found in story.neighbours]
    margin = max(map(len, labels))
    for label, found in zip(labels, story.neighbours, strict=True):
        here = found.page == story.page
        yield f"{'>' if here else ' '} {label:<{margin}}  {state(found, names)}"
        if here and story.page_size:
            yield from bar(story.runs, story.extent, story.page_size, " " * (margin + 4))


def bar(runs: Sequence[ByteRun], extent: Extent | None, size: int, margin: str) -> Iterator[str]:
    """A page's positions, a column each (or several), and carets under the extent."""
    width = min(size, CELLS)

    def column(position: int) -> int:
        return min(width - 1, max(0, position * width // size))

    signs = ["."] * width
    for run in runs:
        first, last = column(run.first), column(run.end - 1)
        signs[first : last + 1] = SIGNS.get(run.content, "h") * (last + 1 - first)
    yield f"{margin}|{''.join(signs)}|"
    if extent is not None and 0 <= extent.first < extent.end:
        first, last = column(extent.first), column(extent.end - 1)
        what = f"{spelt(extent.first, extent.end)}: {extent.what}"
        yield f"{margin} {' ' * first}{'^' * (last + 1 - first)}  {what}"


def signs(story: PageStory) -> set[str]:
    """The signs that the positions of a drawing have."""
    if not story.page_size or all(found.page != story.page for found in story.neighbours):
        return set()
    positions, *under = (line.strip() for line in bar(story.runs, story.extent, story.page_size, ""))
    return set(positions) - {"|"} | ({"^"} if under else set())


def state(found: Neighbour, names: Mapping[str, str]) -> str:
    """Who holds a page, or what it is when nobody does."""
    holders = named(found.holders[:HOLDERS], names)
    if len(found.holders) > HOLDERS:
        holders += f" and {len(found.holders) - HOLDERS} more"
    if found.state == "held":
        return f"held by {holders}"
    return f"{found.state}, last held by {holders}" if holders else found.state


def figure(story: PageStory, names: Mapping[str, str]) -> Figure | None:
    """The same as a figure: the page's positions in colours, its extent in red."""
    if not story.neighbours:
        return None
    shapes: list[Shape] = []
    names = {holder: _brief(name) for holder, name in names.items()}
    longest = max(len(state(found, names)) for found in story.neighbours)
    wide = max(NARROW, min(STATE, longest * LETTER + 4))
    top = 8.0
    for found in story.neighbours:
        here = found.page == story.page
        kind = {"held": "held", "retired": "retired", "free": "free"}.get(found.state, "unknown")
        label = page_name(found.page, found.life)
        told = state(found, names)
        shapes += [
            Box(LEFT, top, 14, 14, kind, f"{label}: {told}"),
            Words(LEFT + 22, top + 12, label, "strong" if here else "word"),
            Words(LEFT + NAME + 22, top + 12, fitting(told, wide), "strong" if here else "word"),
        ]
        if here:
            shapes.append(Words(LEFT - 8, top + 12, "▶", "wrong", "end"))
            shapes += _bar(story, LEFT + NAME + wide + 30, top)
            if story.page_size and story.extent is not None:
                # What happened to the positions has a line of its own.
                top += STEP - 4
        top += STEP
    boxes = {"held": "held; keys and values", "free": "free; no writer known"}
    if any(found.state == "retired" for found in story.neighbours):
        boxes["retired"] = "retired"
    contents = {run.content for run in story.runs}
    for content, (kind, text) in OTHERS.items():
        if content in contents:
            boxes[kind] = text
    return Figure(
        LEFT + NAME + wide + 30 + BAR + 10,
        top + 18,
        tuple(shapes),
        tuple(legend(LEFT, top + 6, boxes, {})),
        tells_at="end",
    )


def _brief(name: str) -> str:
    """An id that leaves room for what is told of it: of a long one both ends."""
    return name if len(name) <= ID else f"{name[: ID // 2]}…{name[-(ID // 3) :]}"


def _bar(story: PageStory, x: float, top: float) -> Iterator[Shape]:
    size = story.page_size
    if not size:
        return
    one = BAR / size
    yield Box(x, top, BAR, 14, "free", "no writer of these positions is known")
    for run in story.runs:
        about = f"{spelt(run.first, run.end)}: {run.content}"
        yield Box(
            x + run.first * one, top, (run.end - run.first) * one, 14, KINDS.get(run.content, "host"), about
        )
    extent = story.extent
    if extent is not None and 0 <= extent.first < extent.end <= size:
        left, right = x + extent.first * one, x + extent.end * one
        yield Stroke(left, top + 19, right, top + 19, "wrong", about=extent.what)
        for end in (left, right):
            yield Stroke(end, top + 14, end, top + 19, "wrong")
        what = fitting(f"{spelt(extent.first, extent.end)}: {extent.what}", x - LEFT - NAME + BAR)
        yield Words(x + BAR, top + 33, what, "wrong", "end")
