"""Reasoning and answer come apart, wherever the text is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.cuts import TEXTS, cut
from tracert.server.reasoning_parser import ReasoningParser, Split


def read(pieces: list[str], opened: bool = False) -> Split:
    """All that a parser makes of the pieces."""
    parser = ReasoningParser(opened)
    splits = [*map(parser.push, pieces), parser.finish()]
    return Split("".join(split.reasoning for split in splits), "".join(split.answer for split in splits))


@pytest.mark.parametrize(
    ("text", "opened", "reasoning", "answer"),
    [
        ("plain", False, "", "plain"),
        ("<think>\nhm\n\nyes\n</think>\n\n42\n", False, "hm\n\nyes", "42\n"),
        ("\n <think>hm</think>42", False, "hm", "42"),
        ("hm\n</think>\n42", True, "hm", "42"),
        ("<think>\n\n</think>\n\n42", False, "", "42"),
        ("<think>hm\n</th", False, "hm\n</th", ""),
        ("hm, 1 < 2", True, "hm, 1 < 2", ""),
        ("say <think> and </think>", False, "", "say <think> and </think>"),
        ("<think>a</think>b</think>c<think>d", False, "a", "b</think>c<think>d"),
        ("  <thin", False, "", "  <thin"),
        (" \n", False, "", " \n"),
    ],
)
def test_marks_are_found_where_they_count(text: str, opened: bool, reasoning: str, answer: str) -> None:
    """Closed, unclosed, begun by the prompt; marks elsewhere are text, and so are halves of marks."""
    assert (reasoning, answer) == read([text], opened)
    assert (reasoning, answer) == read(list(text), opened)


def test_reasoning_is_shown_as_it_comes() -> None:
    """Only what may be a mark, or a newline before one, is withheld."""
    parser = ReasoningParser(opened=True)
    assert ("one", "") == parser.push("\none\n")
    assert ("\ntwo", "") == parser.push("two</")
    assert ("", "") == parser.push("thin")
    assert ("</thing", "") == parser.push("g")


@given(text=TEXTS, cuts=st.lists(st.integers(1, 6)), opened=st.booleans())
def test_pieces_are_the_whole(text: str, cuts: list[int], opened: bool) -> None:
    """Any cuts give the result of the whole text."""
    assert read([text], opened) == read(cut(text, cuts), opened)
