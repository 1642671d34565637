"""How rows are written."""

import csv
import io
import itertools
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tracert_analysis.answers import COUNTED_ROWS, TABLE_ROWS, write_csv, write_json, write_table
from tracert_analysis.safe_query import Answer


def answer(columns: list[str], *rows: list[Any]) -> Answer:
    """An answer with these rows."""
    return Answer(columns, ["?"] * len(columns), iter([list(row) for row in rows]))


def test_a_table_aligns_numbers_to_the_right() -> None:
    """Names to the left, numbers to the right, a rule below the head, a count at the end."""
    out = io.StringIO()
    write_table(answer(["seq", "kind"], [7, "launch"], [1841, "free"]), out)
    assert out.getvalue().splitlines() == [
        " seq  kind",
        "----  ------",
        "   7  launch",
        "1841  free",
        "(2 rows)",
    ]


def test_columns_without_values_are_named_and_not_shown() -> None:
    """A wide sparse table stays readable, and nothing is hidden silently."""
    out = io.StringIO()
    write_table(answer(["seq", "page", "life"], [7, None, None]), out)
    assert out.getvalue().splitlines() == ["seq", "---", "  7", "(1 row)", "(no value in: page, life)"]


def test_an_empty_table_shows_its_columns() -> None:
    """No rows still say which columns there are."""
    out = io.StringIO()
    write_table(answer(["seq", "page"]), out)
    assert out.getvalue().splitlines() == ["seq  page", "---  ----", "(0 rows)"]


def test_no_rows_of_a_wide_table_are_one_line() -> None:
    """Nobody reads the names of 73 columns for nothing."""
    out = io.StringIO()
    write_table(answer([f"column_{number}" for number in range(73)]), out)
    assert "(0 rows, 73 columns)\n" == out.getvalue()


def test_a_table_that_is_wider_than_the_screen_wraps_its_last_column() -> None:
    """Where that is text, and leaves room; else a few rows stand one below the other, many as they are."""
    comment = "one two three four five six seven"
    out = io.StringIO()
    write_table(answer(["name", "comment"], ["a", comment], ["b", ""]), out, 32)
    assert out.getvalue().splitlines() == [
        "name  comment",
        "----  -----------------------",
        "a     one two three four five",
        "      six seven",
        "b",
        "(2 rows)",
    ]
    out = io.StringIO()
    write_table(answer(["text", "n"], [comment, 1], [comment, 2]), out, 32)
    assert out.getvalue().splitlines() == [
        "text: one two three four five",
        "six seven",
        "n: 1",
        "",
        "text: one two three four five",
        "six seven",
        "n: 2",
        "(2 rows)",
    ]
    out = io.StringIO()
    drawing = f"\u2502{' ' * 40}\u2502\n"
    write_table(answer(["plan"], [drawing]), out, 32)
    assert drawing in out.getvalue()
    out = io.StringIO()
    write_table(answer(["text", "n"], *([comment, n] for n in range(21))), out, 32)
    assert f"{comment}   7" in out.getvalue().splitlines()


def test_a_long_table_is_cut_and_counted() -> None:
    """What is not shown is counted."""
    out = io.StringIO()
    write_table(answer(["n"], *([n] for n in range(TABLE_ROWS + 5))), out)
    assert f"({TABLE_ROWS + 5} rows, the first {TABLE_ROWS} shown)" == out.getvalue().splitlines()[-1]


def test_nobody_waits_until_everything_is_counted() -> None:
    """An answer without end is cut, and says so; so is one of a few rows that are long texts."""
    out = io.StringIO()
    write_table(Answer(["n"], ["?"], ([n] for n in itertools.count())), out)
    assert (
        f"(more than {TABLE_ROWS + COUNTED_ROWS} rows, the first {TABLE_ROWS} shown)"
        == out.getvalue().splitlines()[-1]
    )
    out = io.StringIO()
    write_table(answer(["text"], *(["x" * (1 << 20)] for _ in range(30))), out)
    assert out.getvalue().endswith("(30 rows, the first 17 shown)\n")


def test_values_of_several_lines_stand_below_each_other() -> None:
    """A plan or a definition keeps its lines."""
    out = io.StringIO()
    write_table(answer(["name", "plan"], ["a", "first\n second\n"]), out)
    assert out.getvalue().splitlines() == ["name: a", "plan:", "first", " second", "(1 row)"]


def test_a_table_holds_nothing_that_a_terminal_obeys() -> None:
    """Escape sequences in a dump's texts are shown, not executed; line breaks stay."""
    out = io.StringIO()
    write_table(answer(["id"], ["\x1b[2Jgone\x07\x9b"]), out)
    assert out.getvalue().splitlines()[2] == "\ufffd[2Jgone\ufffd\ufffd"


def test_json_is_an_array_of_objects() -> None:
    """Lists stay lists, NULL is null, and big integers keep their digits."""
    out = io.StringIO()
    write_json(answer(["seq", "pages"], [2**70, [1, 2]], [2, None]), out)
    assert json.loads(out.getvalue()) == [{"seq": 2**70, "pages": [1, 2]}, {"seq": 2, "pages": None}]


def test_json_holds_nothing_that_a_terminal_obeys_and_keeps_it() -> None:
    """Control characters are escaped, and read back as they were."""
    out = io.StringIO()
    write_json(answer(["id"], ["\x1b[2J\x7f\x9b é"]), out)
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in out.getvalue().replace("\n", ""))
    assert json.loads(out.getvalue()) == [{"id": "\x1b[2J\x7f\x9b é"}]


def test_json_without_rows_is_an_empty_array() -> None:
    """Programs get valid JSON also from an empty answer."""
    out = io.StringIO()
    write_json(answer(["seq"]), out)
    assert json.loads(out.getvalue()) == []


def test_json_has_no_nan_and_keeps_columns_of_one_name() -> None:
    """NaN becomes null; a second column of the same name gets a number."""
    out = io.StringIO()
    write_json(answer(["x", "x"], [float("nan"), [float("inf"), 1.5]]), out)
    assert json.loads(out.getvalue()) == [{"x": None, "x_2": [None, 1.5]}]


@given(
    st.lists(st.lists(st.text(st.characters(exclude_characters="\r\0")), min_size=2, max_size=2), max_size=5)
)
def test_csv_reads_back(rows: list[list[str]]) -> None:
    """Whatever text a dump holds, a CSV reader gets it back."""
    out = io.StringIO()
    write_csv(answer(["a", "b"], *rows), out)
    assert [["a", "b"], *rows] == list(csv.reader(io.StringIO(out.getvalue(), newline="")))
