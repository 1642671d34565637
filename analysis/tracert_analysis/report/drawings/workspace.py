"""The workspace: its bytes on one line, what a launch planned on a line of the same scale.

    bytes    0 |              ####                                          | 876544
    planned    |                  =========================================>| 634880
    room       |                  ------------------------------------------| 596512

`#` live, `-` the largest piece that is free, where it lies, `=` planned, from there on, `>` more than fits.
Where the live blocks don't tell which piece that is, both stand at the left.
"""

from collections.abc import Iterator

from tracert_analysis.report.drawings.figure import Box, Figure, Shape, Words, fitting
from tracert_analysis.report.stories import WorkspaceStory

WIDTH = 60
LEFT, BAR = 90, 700
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

    def wide(nbytes: int) -> float:
        return BAR * min(1.0, max(0.0, nbytes / capacity))

    shapes: list[Shape] = [
        Words(LEFT - 8, 34, "workspace", "word", "end"),
        Box(LEFT, 20, BAR, 20, "free", f"{capacity} bytes"),
        Words(LEFT, 14, "0", "quiet"),
        Words(LEFT + BAR, 14, f"{capacity} bytes", "quiet", "end"),
    ]
    for number, block in enumerate(story.live[:SHOWN]):
        about = f"{block.nbytes} bytes at {block.offset}: launch {block.launch} ({block.kernel or 'unnamed'})"
        kind = "wrong" if number == 0 else "held"
        x = LEFT + wide(block.offset)
        width = min(max(2.0, wide(block.nbytes)), LEFT + BAR + 2 - x)
        shapes.append(Box(x, 20, width, 20, kind, about))
        if number == 0:
            room = LEFT + BAR - x
            turned = room < BAR / 2
            shapes.append(
                Words(
                    x + width if turned else x,
                    56,
                    fitting(f"oldest: {about}", BAR - 10),
                    "wrong",
                    "end" if turned else "start",
                )
            )
    at = LEFT + wide(story.room_at or 0)
    if story.planned is not None:
        need = f"{story.planned} bytes in one piece"
        if story.room is not None and story.planned > story.room:
            need += f": {story.planned - story.room} more than fit"
        width = min(max(2.0, wide(story.planned)), LEFT + BAR + 2 - at)
        shapes += [
            Words(LEFT - 8, 82, "planned", "word", "end"),
            Box(at, 68, width, 20, "planned", need),
            Words(LEFT + 6, 82, need),
        ]
    if story.room is not None:
        free = f"{story.room} bytes: the largest piece that is free"
        if story.room_at is not None:
            free += f", at {story.room_at}"
        width = min(max(2.0, wide(story.room)), LEFT + BAR + 2 - at)
        shapes += [
            Words(LEFT - 8, 112, "room", "word", "end"),
            Box(at, 98, width, 20, "room", free),
            Words(LEFT + 6, 112, free),
        ]
    return Figure(LEFT + BAR + 10, 126, tuple(shapes))
