"""Where statements end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracert_analysis.statements import split


@pytest.mark.parametrize(
    ("text", "whole", "rest"),
    [
        ("SELECT 1;", ["SELECT 1;"], ""),
        ("SELECT 1; SELECT 2;", ["SELECT 1;", "SELECT 2;"], ""),
        ("SELECT 1", [], "SELECT 1"),
        ("SELECT ';';", ["SELECT ';';"], ""),
        ("SELECT 'it''s; ", [], "SELECT 'it''s;"),
        ('SELECT ";" FROM t; SELECT "', ['SELECT ";" FROM t;'], 'SELECT "'),
        ("SELECT 1 -- no; not yet\n;", ["SELECT 1 -- no; not yet\n;"], ""),
        ("/* ; */ SELECT 1; /* left;", ["/* ; */ SELECT 1;"], "/* left;"),
        (" ;; -- nothing;\n ", [], ""),
        ("", [], ""),
    ],
)
def test_a_semicolon_ends_a_statement_outside_of_quotes_and_comments(
    text: str, whole: list[str], rest: str
) -> None:
    """What is begun waits for more; nothing but comments is no statement."""
    assert (whole, rest) == split(text)


@given(st.text(alphabet="a'\";-/*\n ", max_size=30))
def test_nothing_is_lost(text: str) -> None:
    """Whatever is typed stands in the statements and the rest, but for empty statements and comments."""
    whole, rest = split(text)
    for part in (*whole, rest):
        assert part in text
    assert all(part.endswith(";") and len(part) > 1 for part in whole)
