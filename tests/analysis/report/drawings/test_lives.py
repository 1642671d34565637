"""Lives drawn on one axis."""

from hypothesis import given
from hypothesis import strategies as st
from tracert_analysis.report.drawings.figure import LETTER, Words
from tracert_analysis.report.drawings.legend import legend
from tracert_analysis.report.drawings.lives import SHOWN, WIDTH, column, draw, figure, scale, signs
from tracert_analysis.report.facts import Life


def bar(line: str) -> str:
    """What stands between the two bars of a line."""
    return line.split("|")[1]


def test_a_life_runs_from_its_start_to_its_end() -> None:
    """Held, then retired, then free; the axis starts at the first life."""
    head, line = draw("17", [Life(1, "request:4", 100, 130, 159)], 1, 159)
    assert head == f"seq   100 |{scale(100, 159)}| 159"
    assert bar(line) == "=" * 30 + "~" * 30
    assert line.startswith("17.1")
    assert line.endswith("| request:4")


def test_a_life_that_goes_on_reaches_the_right_edge() -> None:
    """No end: held until the end of the history."""
    _, first, second = draw("17", [Life(1, "a", 0, None, 29), Life(2, "b", 30, None, None)], 0, 59)
    assert bar(first) == "=" * 30 + " " * 30
    assert bar(second) == " " * 30 + "=" * 30


def test_the_act_in_question_covers_other_marks() -> None:
    """`!` over `w` over `r`."""
    life = Life(1, "a", 0, None, None, writes=(10, 20), reads=(10, 30))
    _, line = draw("17", [life], 0, 59, mark=20)
    assert (bar(line)[10], bar(line)[20], bar(line)[30]) == ("w", "!", "r")


def test_columns_stand_for_as_many_numbers() -> None:
    """Linear, the last event in the last column; the head says how many numbers a column has."""
    assert [column(seq, 100, 219) for seq in (100, 101, 102, 217, 218, 219)] == [0, 0, 1, 58, 59, 59]
    assert "one column: 2.0 numbers of events" in scale(100, 219)
    assert len(scale(100, 219)) == WIDTH


def test_a_publish_of_no_page_is_drawn_as_one() -> None:
    """`x`, not `w`: it poisons the row."""
    _, line = draw("row 0", [Life(1, "a", 0, None, None, writes=(10, 20), voids=(20,))], 0, 59)
    assert (bar(line)[10], bar(line)[20]) == ("w", "x")


def test_the_act_is_drawn_only_in_the_life_it_falls_in() -> None:
    """An act after a life's end does not mark it."""
    _, first, second = draw("17", [Life(1, "a", 0, None, 29), Life(2, "b", 30, None, None)], 0, 59, mark=40)
    assert "!" not in bar(first)
    assert bar(second)[40] == "!"


def test_a_life_without_a_known_start_begins_at_the_left() -> None:
    """The history starts later than the life."""
    head, line = draw("17", [Life(5, None, None, None, None)], 1000, 2000)
    assert "| 2000" in head
    assert "1000 |" in head
    assert bar(line) == "=" * WIDTH
    assert line.endswith("| granted before the history")


def test_lives_behind_the_act_are_drawn_or_counted() -> None:
    """The act's own is among those that are drawn, and some behind it."""
    lives = [Life(n, "a", n * 10, None, n * 10 + 9) for n in range(1, 21)]
    assert draw("7", lives, 0, 300, mark=105)[0] == "(4 earlier and 8 later not drawn)"
    assert [line.split()[0] for line in draw("7", lives, 0, 300, mark=105)[2:]] == [
        f"7.{n}" for n in range(5, 13)
    ]
    assert draw("7", lives[:9], 0, 300, mark=15)[0] == "(1 later not drawn)"
    assert draw("7", lives[:9], 0, 300)[0] == "(1 earlier not drawn)"


def test_all_that_a_figure_says_of_a_life_is_read() -> None:
    """On several lines where one is too short: the one who matters may be named last."""
    told = "read by forward 8x, offload_pages 2x, store_row 1x, copy_pages 3x, checksum_of_pages 7x"
    drawn = figure("7", [Life(1, "a", 0, None, None)], 0, 59, None, lambda life: "a", lambda life: told)
    assert drawn is not None
    words = [shape for shape in drawn.shapes if isinstance(shape, Words)]
    assert told in " ".join(shape.text for shape in words)
    assert all(
        shape.x + len(shape.text) * LETTER <= drawn.width for shape in words if shape.anchor == "start"
    )
    assert all(shape.y < drawn.height for shape in words)


def test_a_figure_is_as_wide_as_what_it_says() -> None:
    """Its legend as well, where nobody has much to say; and no wider than the longest line."""
    lives = [Life(n, "a", n * 10, n * 10 + 5, n * 10 + 9) for n in range(1, 21)]
    drawn = figure("7", lives, 0, 300, 105, lambda life: "a", lambda life: "")
    assert drawn is not None
    words = [shape for shape in (*drawn.shapes, *drawn.legend) if isinstance(shape, Words)]
    ends = [shape.x + len(shape.text) * LETTER for shape in words if shape.anchor == "start"]
    assert drawn.width - 40 < max(ends) <= drawn.width


def test_no_lives_draw_nothing() -> None:
    """A page that was never granted has no drawing."""
    assert draw("17", [], 0, 10) == []


seqs = st.integers(0, 10**9)


@given(
    st.lists(
        st.builds(Life, st.integers(1, 9), st.none(), st.none() | seqs, st.none() | seqs, st.none() | seqs),
        max_size=20,
    ),
    seqs,
    seqs,
    st.none() | seqs,
)
def test_any_history_is_drawn_within_its_width(
    lives: list[Life], first: int, last: int, mark: int | None
) -> None:
    """Also histories that contradict themselves: every line has the same width, and old lives are counted."""
    lines = draw("7", lives, first, last, mark)
    bars = [line for line in lines if "|" in line]
    assert all(len(bar(line)) == WIDTH for line in bars)
    assert len(bars) == (min(len(lives), SHOWN) + 1 if lives else 0)
    assert (len(lines) > len(bars)) == (len(lives) > SHOWN)


def test_only_signs_that_are_drawn_have_a_meaning() -> None:
    """A life that nobody read, and an act that falls into none."""
    life = Life(1, "a", 0, None, 29, writes=(10,))
    assert signs([life], 0, 59, mark=40) - {" "} == {"=", "w"}
    assert signs([life], 0, 59, mark=20) - {" "} == {"=", "w", "!"}
    assert legend({"=": "held", "~": "retired", "w": "written"}, {"w", "="}) == "= held, w written"
