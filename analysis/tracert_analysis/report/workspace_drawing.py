"""The workspace drawn as text: its bytes on one line, what a launch planned on a line of the same scale.

    bytes    0 |              ####                                          | 876544
    planned    |===========================================                 | 634880

`#` live, `=` planned, from wherever it is drawn: a piece that long is what is looked for.
"""

from collections.abc import Iterator

from tracert_analysis.report.stories import WorkspaceStory

WIDTH = 60


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
    if story.planned is not None:
        long = max(1, min(WIDTH, -(-story.planned * WIDTH // capacity)))
        yield f"planned    |{'=' * long}{' ' * (WIDTH - long)}| {story.planned}"
