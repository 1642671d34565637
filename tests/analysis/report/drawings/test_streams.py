"""Launches around an act, a column a stream."""

from dataclasses import replace

from tracert_analysis.report.drawings.figure import LETTER, Box, Stroke, Words
from tracert_analysis.report.drawings.streams import draw, figure
from tracert_analysis.report.facts import Act, Edge, FenceFact
from tracert_analysis.report.stories.surroundings import Surroundings

OLDER = Act(5, 10, "publish", "copy_row", 2, "transfer", 1, state="finished")
PUBLISH = Act(7, 20, "publish", "copy_row", 0, "legacy", 4, state="waiting")
FORWARD = Act(8, 30, "launch", "forward", 1, "compute", 9, state="running")
SAMPLE = Act(9, 32, "launch", "sample", 1, "compute", 12, state="waiting")
FENCE = FenceFact(3, 2, 1, 12, 1, 14, None, covers=False)
MISSING = Edge(PUBLISH, FORWARD, "fence = device.record(legacy); device.wait(compute, fence)", 0, 1)
AROUND = Surroundings(
    ((0, "legacy"), (1, "compute"), (2, "transfer")), (OLDER, PUBLISH, FORWARD, SAMPLE), (FENCE,), MISSING, 1
)


def test_events_are_lines_and_streams_columns() -> None:
    """In the order of events; what had not finished says so, the act has its mark, gaps have dots."""
    assert [
        "seq  legacy                      compute                     transfer",
        "10                                                           5 copy_row",
        "14                               <-------- fence 3 ---------+",
        "20   7 copy_row (waiting)",
        "30   + - - - - NO FENCE  - - - >",
        "30                               8 forward (running) !",
        "                                 ...",
        "32                               9 sample (waiting)",
    ] == list(draw(AROUND, FORWARD, MISSING))


def test_nothing_is_drawn_of_nothing() -> None:
    """No launches, no lines, no figure."""
    empty = replace(AROUND, launches=())
    assert ([], None) == (list(draw(empty, None, None)), figure(empty, None, None))


def test_long_names_stay_in_their_column() -> None:
    """A kernel's and a stream's name are cut."""
    long = replace(FORWARD, kernel="k" * 100)
    around = replace(AROUND, streams=((1, "s" * 100), (2, "transfer")), launches=(OLDER, long))
    lines = list(draw(around, long, None))
    assert "..." in lines[0]
    assert lines[0].endswith("transfer")
    assert max(map(len, lines)) < 70
    assert lines[-1].endswith("... (running) !")


def test_the_figure_has_a_box_a_launch_with_its_state() -> None:
    """The act in question is marked."""
    drawn = figure(AROUND, FORWARD, MISSING)
    assert drawn is not None
    boxes = [shape for shape in drawn.shapes if isinstance(shape, Box)]
    assert ["launch finished", "launch waiting", "launch running marked", "launch waiting"] == [
        box.kind for box in boxes
    ]
    assert [box.x for box in boxes] == sorted(box.x for box in boxes)
    assert all(0 <= box.x and box.x + box.width <= drawn.width for box in boxes)


def test_edges_lead_from_behind_a_launch_to_before_another() -> None:
    """The fence there is, and the one that lacks, which says what to call."""
    drawn = figure(AROUND, FORWARD, MISSING)
    assert drawn is not None
    edges = {shape.kind: shape for shape in drawn.shapes if isinstance(shape, Stroke) and shape.pointed}
    assert {"fence", "missing"} == set(edges)
    assert edges["fence"].about == "fence 3: launch 8 is ordered after launch 5"
    assert edges["missing"].about == f"missing: {MISSING.call}"
    assert all(edge.x < edge.to_x for edge in edges.values())


def test_the_one_it_is_told_against_is_marked() -> None:
    """In the text, in the figure, and in the legend, which tells of dots, too."""
    assert "20   7 copy_row (waiting) *" in list(draw(AROUND, FORWARD, None, PUBLISH))
    drawn = figure(AROUND, FORWARD, None, PUBLISH)
    assert drawn is not None
    kinds = [shape.kind for shape in drawn.shapes if isinstance(shape, Box)]
    assert kinds[1:3] == ["launch waiting against", "launch running marked"]
    told = [shape.text for shape in drawn.legend if isinstance(shape, Words)]
    assert {"the act in question", "against it", "launches left out"} <= set(told)
    words = [shape for shape in drawn.legend if isinstance(shape, Words)]
    assert all(shape.x + len(shape.text) * LETTER <= drawn.width for shape in words)
    assert "fence 3" in [shape.text for shape in drawn.shapes if isinstance(shape, Words)]


def test_a_launch_has_room_for_its_kernels_name() -> None:
    """None is cut that a terminal would not cut."""
    around = replace(AROUND, launches=(OLDER, replace(FORWARD, kernel="offload_pages_to_host")))
    drawn = figure(around, None, None)
    assert drawn is not None
    words = [shape for shape in drawn.shapes if isinstance(shape, Words)]
    assert "offload_pages_to_host" in [shape.text for shape in words]
    box = next(shape for shape in drawn.shapes if isinstance(shape, Box))
    assert box.width > len("offload_pages_to_host") * LETTER


def test_an_edge_whose_end_is_not_drawn_is_left_out() -> None:
    """Without its launch there is nothing to point to."""
    drawn = figure(replace(AROUND, launches=(FORWARD, SAMPLE)), FORWARD, MISSING)
    assert drawn is not None
    assert not [shape for shape in drawn.shapes if isinstance(shape, Stroke) and shape.pointed]
