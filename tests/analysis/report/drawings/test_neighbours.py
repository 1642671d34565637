"""The map of the pages around one page."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tracert_analysis.report.drawings.figure import Box, Words
from tracert_analysis.report.drawings.neighbours import bar, draw, figure
from tracert_analysis.report.stories.content import ByteRun
from tracert_analysis.report.stories.page import Extent, Neighbour, PageStory

NAMES = {"request:18": "warm-8"}


def run(first: int, end: int, content: str) -> ByteRun:
    """Positions by what wrote them."""
    return ByteRun(first, end, content, None, None, None, 1, None, 9, 1, stale=False)


STORY = PageStory(
    page=9,
    life=3,
    why="",
    last_owner=None,
    previous_owner=None,
    also_held_by=(),
    last_writer=None,
    last_fence=None,
    needs_fence=False,
    lives=(),
    queries=(),
    page_size=16,
    runs=(run(0, 1, "kv"), run(1, 12, "rows")),
    neighbours=(
        Neighbour(8, 1, "free", ("request:18",)),
        Neighbour(9, 3, "held", ("request:18",)),
        Neighbour(10, None, "never granted", ()),
    ),
    extent=Extent(1, 12, "state rows of life 2, stale"),
)


def test_the_page_is_marked_and_carets_show_the_positions() -> None:
    """Who holds each page, by their public ids; one letter a position."""
    assert [
        "  page 8.1  free, last held by request:18 (warm-8)",
        "> page 9.3  held by request:18 (warm-8)",
        "            |ksssssssssss....|",
        "              ^^^^^^^^^^^  positions 1 to 11: state rows of life 2, stale",
        "  page 10   never granted",
    ] == list(draw(STORY, NAMES))


def test_many_holders_are_counted() -> None:
    """Three are named."""
    held = Neighbour(9, 1, "held", tuple(f"request:{number}" for number in range(7)))
    (line, *_) = draw(replace(STORY, neighbours=(held,)), {})
    assert "> page 9.1  held by request:0, request:1, request:2 and 4 more" == line


def test_a_long_id_leaves_room_for_what_is_told() -> None:
    """Such as those that the server makes; the figure has both ends, the text all."""
    names = {"request:18": "chatcmpl-536f78d6f6fbe1a9b0297388-0"}
    near = Neighbour(8, 1, "free", ("request:18",))
    drawn = figure(replace(STORY, neighbours=(near, *STORY.neighbours)), names)
    assert drawn is not None
    words = [shape.text for shape in drawn.shapes if isinstance(shape, Words)]
    assert "free, last held by request:18 (chatcmpl-536…297388-0)" in words


def test_without_neighbours_there_is_no_map() -> None:
    """Neither text nor figure."""
    assert ([], None) == (
        list(draw(replace(STORY, neighbours=()), {})),
        figure(replace(STORY, neighbours=()), {}),
    )


def test_the_figure_has_the_positions_to_scale() -> None:
    """Eleven of sixteen positions are rows."""
    drawn = figure(STORY, NAMES)
    assert drawn is not None
    widths = {
        shape.kind: shape.width for shape in drawn.shapes if isinstance(shape, Box) and shape.width > 14
    }
    assert 11 == round(widths["rows"] / widths["free"] * 16)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 300), st.integers(1, 300), st.sampled_from(["kv", "rows", "zero", "host", "?"])
        )
    ),
    st.none() | st.tuples(st.integers(-3, 300), st.integers(-3, 300)),
    st.sampled_from([1, 16, 64, 256]),
)
def test_any_page_is_drawn_within_its_width(
    runs: list[tuple[int, int, str]], extent: tuple[int, int] | None, size: int
) -> None:
    """Also when a damaged history names positions that no page has."""
    told = [run(first, first + length, content) for first, length, content in runs]
    lines = list(bar(told, Extent(*extent, "") if extent else None, size, ""))
    width = min(size, 64)
    assert width == len(lines[0]) - 2
    assert all(len(line.split("  positions")[0]) <= width + 1 for line in lines[1:])
