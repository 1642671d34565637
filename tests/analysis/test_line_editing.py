"""Completion of names."""

import pytest
from tracert_analysis.line_editing import Completer

NAMES = ["launch", "launch_reads", "last_owner", "page", ".tables", ".timer"]


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        ("la", ["last_owner", "launch", "launch_reads"]),
        ("LAST", ["last_owner"]),
        ("sel", ["SELECT"]),
        (".t", [".tables", ".timer"]),
        ("l.pa", ["l.page"]),
        ("nothing", []),
    ],
)
def test_names_are_completed_whatever_their_case(begun: str, found: list[str]) -> None:
    """Tables, macros, words of SQL, commands, and columns behind an alias."""
    completer = Completer(NAMES)
    assert found == completer.candidates(begun)
    assert [*found, None] == [completer.complete(begun, state) for state in range(len(found) + 1)]
