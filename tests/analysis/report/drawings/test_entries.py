"""Entries of a row in time."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tracert_analysis.report.drawings.entries import LANES, draw, figure, lanes
from tracert_analysis.report.drawings.figure import Box, Words
from tracert_analysis.report.drawings.lives import WIDTH, scale
from tracert_analysis.report.stories.row import Strip

FIRST = Strip(0, 3, ((5, 1), (6, 1), (9, 2)), True, 0, 30, 1, 1, 2, "copy_row", "transfer", "finished")
POISON = Strip(
    0, 2, ((2**31 - 1, 0), (2**31 - 1, 0)), False, 30, 40, 1, 2, 3, "copy_row", "transfer", "finished"
)
AGAIN = Strip(0, 2, ((7, 1), (8, 1)), True, 40, None, 2, 3, 4, "copy_row", "legacy", "waiting")
TAIL = replace(FIRST, first=2, end=3, pages=((9, 2),), until_seq=None)
STRIPS = (replace(FIRST, end=2, pages=FIRST.pages[:2]), TAIL, POISON, AGAIN)


def test_entries_that_change_together_share_a_line() -> None:
    """Each strip at its time, behind the page of its first entry; not executed; no page."""
    head, both, alone = draw(STRIPS, 0, 59, 50)
    assert head == f"seq             0 |{scale(0, 59)}| 59"
    assert both.split("|")[1] == "5.1" + "=" * 27 + "x" * 10 + "7.1" + "." * 7 + "!" + "." * 9
    assert both.startswith("entries 0 to 1 ")
    assert both.endswith("| 7.1 ...")
    assert alone.split("|")[1] == "9.2" + "=" * 47 + "!" + "=" * 9
    assert alone.startswith("entry 2 ")


def test_the_figure_says_what_stood_there_before() -> None:
    """The publish that had not executed is dashed, and what was there until then is told beside it."""
    drawn = figure(STRIPS, 0, 59, 50)
    assert drawn is not None
    assert [shape.kind for shape in drawn.shapes if isinstance(shape, Box)] == [
        "entry",
        "nopage",
        "entry waiting",
        "entry",
    ]
    told = [shape.text for shape in drawn.shapes if isinstance(shape, Words)]
    assert "7.1 by launch 4 (waiting); no page before" in told
    assert "9.2 by launch 2" in told


def test_of_many_lines_the_first_and_the_last_are_drawn() -> None:
    """Each entry of a long sequence was published alone."""
    many = [replace(TAIL, first=n, end=n + 1, seq=n) for n in range(40)]
    lines = list(draw(many, 0, 59, 50))
    assert len(lines) == LANES + 2
    assert lines[6] == "(30 more entries not drawn)"
    assert len(lanes(many)) == 40


def test_what_is_walked_behind_them_all_has_a_line() -> None:
    """Two entries more than were ever published; figure and text say so."""
    *_, last = draw(STRIPS, 0, 59, 50, walked=5)
    assert last.startswith("entries 3 to 4 ")
    assert last.endswith("!         | nothing known to be published, and followed")
    drawn = figure(STRIPS, 0, 59, 50, walked=5)
    assert drawn is not None
    told = [shape for shape in drawn.shapes if isinstance(shape, Words) and shape.kind == "wrong"]
    assert [shape.text for shape in told] == ["nothing known to be published, and followed"]
    assert lanes(STRIPS, 3) == lanes(STRIPS)


def test_without_entries_there_is_nothing() -> None:
    """Of a row that nobody published."""
    assert list(draw((), 0, 9, 5)) == []
    assert figure((), 0, 9, 5) is None


seqs = st.integers(0, 2**63)


@given(st.lists(st.tuples(st.integers(0, 9), seqs, st.none() | seqs), min_size=1), seqs)
def test_whatever_a_dump_says_every_bar_is_as_wide(
    told: list[tuple[int, int, int | None]], mark: int
) -> None:
    """Ends before beginnings, and seqs outside the axis."""
    made = [replace(TAIL, first=n, end=n + 1, seq=seq, until_seq=until) for n, seq, until in told]
    assert {len(line.split("|")[1]) for line in draw(made, 10, 1000, mark) if "|" in line} == {WIDTH}
    drawn = figure(made, 10, 1000, mark)
    assert drawn is not None
    assert all(
        0 <= shape.x and shape.x + shape.width <= drawn.width
        for shape in drawn.shapes
        if isinstance(shape, Box)
    )
