"""The workspace: its bytes on one line, what a launch planned on a line of the same scale.

    bytes    0 |              ####                                          | 876544
    planned    |                  =========================================>| 634880
    room       |                  ------------------------------------------| 596512

`#` live, `-` the largest piece that is free, where it lies, `=` planned, from there on, `>` more than fits.
Where the live blocks don't tell which piece that is, both stand at the left.
"""

from collections.abc import Iterator

from tracert_analysis.report.drawings.figure import LETTER, Box, Figure, Shape, Stroke, Words, fitting, legend
from tracert_analysis.report.stories.workspace import WorkspaceStory

WIDTH = 60
LEFT, BAR = 90, 700
STEP = 46
"""From one bar of a figure to the next."""
MOST = 4
"""A plan of more times the workspace than that is cut."""
SHOWN = 40
"""Of live blocks the oldest so many are drawn in a figure."""


def draw_workspace(story: WorkspaceStory) -> Iterator[str]:
    """The lines of the drawing; none when the size is not known."""
    capacity = story.capacity
    if not capacity:
        return
    columns = [" "] * WIDTH
    for block in story.live:
        first = min(WIDTH - 1, block.offset * WIDTH // capacity)
        last = min(WIDTH - 1, (block.offset + block.nbytes - 1) * WIDTH // capacity)
        columns[first : last + 1] = "#" * (last + 1 - first)
    yield f"bytes    0 |{''.join(columns)}| {capacity}"
    first = min(WIDTH - 1, -(-(story.room_at or 0) * WIDTH // capacity))
    if story.planned is not None:
        long = max(1, -(-story.planned * WIDTH // capacity))
        bar = f"{' ' * first}{'=' * long}"
        over = story.room is not None and story.planned > story.room
        bar = f"{bar[: WIDTH - 1]}>" if over and len(bar) >= WIDTH else bar[:WIDTH]
        yield f"planned    |{bar:{WIDTH}}| {story.planned}"
    if story.room is not None:
        long = max(0, min(WIDTH - first, story.room * WIDTH // capacity))
        yield f"room       |{' ' * first + '-' * long:{WIDTH}}| {story.room}"


def figure(story: WorkspaceStory) -> Figure | None:
    """The ring laid straight, its live blocks with their launches, and below it what was planned."""
    capacity = story.capacity
    if not capacity:
        return None

    at = story.room_at or 0
    # What is planned is drawn whole, beyond the end of the ring, unless a damaged history has no such size.
    reach = min(max(capacity, at + (story.planned or 0)), MOST * capacity)

    def x(offset: int) -> float:
        return LEFT + BAR * min(1.0, max(0.0, offset / reach))

    def box(offset: int, nbytes: int, top: float, kind: str, about: str) -> Box:
        width = min(max(2.0, x(offset + nbytes) - x(offset)), LEFT + BAR + 2 - x(offset))
        return Box(x(offset), top, width, 20, kind, about)

    end = x(capacity)
    shapes: list[Shape] = [
        Words(LEFT - 8, 34, "workspace", "word", "end"),
        Box(LEFT, 20, end - LEFT, 20, "free", f"{capacity} bytes"),
        Words(LEFT, 14, "0", "quiet"),
        Words(end, 14, f"{capacity} bytes", "quiet", "end"),
    ]
    for number, block in enumerate(story.live[:SHOWN]):
        about = f"{block.nbytes} bytes at {block.offset}: launch {block.launch} ({block.kernel or 'unnamed'})"
        drawn = box(block.offset, block.nbytes, 20, "wrong" if number == 0 else "held", about)
        shapes.append(drawn)
        if number == 0:
            shapes.append(_under(drawn, f"oldest: {about}", "wrong"))
    top = 66.0
    if story.planned is not None:
        need = f"{story.planned} bytes in one piece"
        over = story.planned - story.room if story.room is not None else 0
        if over > 0:
            need += f": {over} more than fit"
        fits = box(at, story.planned - max(0, over), top, "planned", need)
        shapes += [Words(LEFT - 8, top + 14, "planned", "word", "end"), fits]
        if over > 0:
            shapes.append(box(at + story.planned - over, over, top, "excess", f"{over} bytes more than fit"))
        shapes.append(_under(fits, need, "wrong" if over > 0 else "word"))
        top += STEP
    if story.room is not None:
        free = f"{story.room} bytes: the largest piece that is free"
        if story.room_at is not None:
            free += f", at {story.room_at}"
        drawn = box(at, story.room, top, "room", free)
        shapes += [Words(LEFT - 8, top + 14, "room", "word", "end"), drawn, _under(drawn, free, "word")]
        top += STEP
    if reach > capacity:
        shapes.append(Stroke(end, 14, end, top - STEP + 22, "wrong", about="the end of the workspace"))
    boxes = {"held": "live", "planned": "planned", "room": "largest room"}
    kinds = {shape.kind for shape in shapes if isinstance(shape, Box)}
    boxes = {kind: text for kind, text in boxes.items() if kind in kinds}
    if "wrong" in kinds:
        boxes["wrong"] = "live, the oldest"
    if "excess" in kinds:
        boxes["excess"] = "beyond the room"
    return Figure(LEFT + BAR + 10, top + 18, tuple(shapes), tuple(legend(LEFT, top + 6, boxes, {})))


def _under(box: Box, text: str, kind: str) -> Words:
    """The text under a box, from its left edge, or to the right one where there is more room before it."""
    turned = LEFT + BAR - box.x < BAR / 2
    text = fitting(text, BAR - 10)
    wide = len(text) * LETTER
    if turned:
        return Words(max(box.x + box.width, LEFT + wide), box.y + 34, text, kind, "end")
    return Words(max(LEFT, min(box.x, LEFT + BAR - wide)), box.y + 34, text, kind)
