"""The workspace as a figure; its text is tested with its story."""

from tracert_analysis.report.drawings.figure import Box
from tracert_analysis.report.drawings.workspace import figure
from tracert_analysis.report.stories import LiveBlock, WorkspaceStory

BLOCKS = (
    LiveBlock(3, "forward", "prefill", 1, "finished", 7, "cold", 200, 100, 2, 20, None),
    LiveBlock(4, None, None, None, None, None, None, 900, 100, 1, 30, None),
)


def test_blocks_plan_and_room_are_on_one_scale() -> None:
    """The oldest block is the suspect."""
    drawn = figure(WorkspaceStory(5, 1000, 750, 600, BLOCKS, None))
    assert drawn is not None
    boxes = [shape for shape in drawn.shapes if isinstance(shape, Box)]
    ring, oldest, later, planned, room = boxes
    assert ["free", "wrong", "held", "planned", "room"] == [box.kind for box in boxes]
    assert [100, 100, 750, 600] == [
        round(box.width / ring.width * 1000) for box in (oldest, later, planned, room)
    ]
    assert 200 == round((oldest.x - ring.x) / ring.width * 1000)
    assert later.about == "100 bytes at 900: launch 4 (unnamed)"


def test_room_and_plan_begin_where_the_room_lies() -> None:
    """What is planned ends with the ring, and says by how much it does not fit."""
    drawn = figure(WorkspaceStory(5, 1000, 750, 600, BLOCKS, None, room_at=300))
    assert drawn is not None
    ring, _, _, planned, room = (shape for shape in drawn.shapes if isinstance(shape, Box))
    assert [300, 300] == [round((box.x - ring.x) / ring.width * 1000) for box in (planned, room)]
    assert 600 == round(room.width / ring.width * 1000)
    assert planned.x + planned.width <= drawn.width
    assert planned.about == "750 bytes in one piece: 150 more than fit"
    assert room.about.endswith(", at 300")


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
