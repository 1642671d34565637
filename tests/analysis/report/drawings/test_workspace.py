"""The workspace as a figure; its text is tested with its story."""

from tracert_analysis.report.drawings.figure import LETTER, Box, Words
from tracert_analysis.report.drawings.workspace import figure
from tracert_analysis.report.stories.workspace import LiveBlock, WorkspaceStory

BLOCKS = (
    LiveBlock(3, "forward", "prefill", 1, "finished", 7, "cold", 200, 100, 2, 20, None),
    LiveBlock(4, None, None, None, None, None, None, 900, 100, 1, 30, None),
)


def test_blocks_plan_and_room_are_on_one_scale() -> None:
    """The oldest block is the suspect."""
    drawn = figure(WorkspaceStory(5, 1000, 750, 600, BLOCKS, None))
    assert drawn is not None
    boxes = [shape for shape in drawn.shapes if isinstance(shape, Box)]
    ring, oldest, later, planned, excess, room = boxes
    assert ["free", "wrong", "held", "planned", "excess", "room"] == [box.kind for box in boxes]
    assert [100, 100, 600, 150, 600] == [
        round(box.width / ring.width * 1000) for box in (oldest, later, planned, excess, room)
    ]
    assert 200 == round((oldest.x - ring.x) / ring.width * 1000)
    assert later.about == "100 bytes at 900: launch 4 (unnamed)"


def test_what_does_not_fit_is_drawn_behind_the_end() -> None:
    """The plan begins where the room does, and is longer than it by what does not fit."""
    drawn = figure(WorkspaceStory(5, 1000, 850, 700, BLOCKS, None, room_at=300))
    assert drawn is not None
    boxes = {shape.kind: shape for shape in drawn.shapes if isinstance(shape, Box)}
    ring, planned, excess, room = (boxes[kind] for kind in ("free", "planned", "excess", "room"))
    assert [300, 300] == [round((box.x - ring.x) / ring.width * 1000) for box in (planned, room)]
    assert [700, 700, 150] == [round(box.width / ring.width * 1000) for box in (room, planned, excess)]
    assert round(excess.x) == round(ring.x + ring.width)
    assert excess.x + excess.width <= drawn.width
    assert planned.about == "850 bytes in one piece: 150 more than fit"
    assert room.about.endswith(", at 300")


def test_what_is_told_stands_under_its_bar() -> None:
    """No text runs over an edge of a bar, nor out of the figure."""
    drawn = figure(WorkspaceStory(5, 1000, 850, 700, BLOCKS, None, room_at=300))
    assert drawn is not None
    bars = [shape for shape in drawn.shapes if isinstance(shape, Box)]
    for words in drawn.shapes:
        if isinstance(words, Words) and words.anchor == "start":
            assert not [bar for bar in bars if bar.y < words.y < bar.y + bar.height]
            assert words.x + len(words.text) * LETTER <= drawn.width


def test_without_a_size_there_is_no_figure() -> None:
    """Nothing has a place then."""
    assert figure(WorkspaceStory(5, None, None, None, (), None)) is None


def test_sizes_that_cannot_be_stay_within_the_ring() -> None:
    """A damaged history."""
    drawn = figure(
        WorkspaceStory(
            5,
            10,
            10**18,
            10**18,
            (LiveBlock(3, "k", None, None, None, None, None, 10**9, 10**18, 1, 1, None),),
            None,
        )
    )
    assert drawn is not None
    assert all(shape.x + shape.width <= drawn.width for shape in drawn.shapes if isinstance(shape, Box))
