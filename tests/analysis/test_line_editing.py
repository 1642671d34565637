"""Completion of names."""

import pytest
from tracert_analysis.line_editing import Completer

COLUMNS = {
    "launch": ["seq", "step"],
    "launch_reads": [],
    "last_owner": ["owner"],
    "page_life": ["page", "seq"],
}
LINE = "SELECT * FROM launch AS l JOIN page_life p USING (seq), last_owner(3) o WHERE "


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        ("la", ["last_owner", "launch", "launch_reads"]),
        ("LAST", ["last_owner"]),
        ("sel", ["SELECT"]),
        (".t", [".tables", ".timer"]),
        ("l.s", ["l.seq", "l.step"]),
        ("P.", ["P.page", "P.seq"]),
        ("o.", ["o.owner"]),
        ("page_life.p", ["page_life.page"]),
        ("x.", ["x.owner", "x.page", "x.seq", "x.step"]),
        ("l.pa", []),
        ("x.coa", []),
        ("nothing", []),
    ],
)
def test_names_are_completed_whatever_their_case(begun: str, found: list[str]) -> None:
    """Tables, macros, words of SQL and commands; behind an alias only the columns of what it stands for."""
    completer = Completer([".tables", ".timer"], COLUMNS, lambda: LINE)
    assert found == completer.candidates(begun)
    assert [*found, None] == [completer.complete(begun, state) for state in range(len(found) + 1)]
