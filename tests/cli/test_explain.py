"""`tracert explain`."""

import pytest
from tracert_analysis.explain import pages

from tracert.cli.main import run


@pytest.mark.parametrize("word", ["TR202", "tr202", "unordered-reuse"])
def test_a_page_is_printed_as_it_is(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Into a pipe the page goes as Markdown, whole."""
    assert run(["explain", word]) == 0
    assert capsys.readouterr().out == pages()["TR202"].text


def test_on_a_terminal_the_page_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headings lose their marks, the text stays."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(["explain", "TR202"]) == 0
    text = capsys.readouterr().out
    assert "## " not in text
    assert "Fixes that only mask" in text


def test_an_unknown_code_lists_the_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """One line with all of them, exit code 2."""
    assert run(["explain", "TR9"]) == 2
    error = capsys.readouterr().err
    assert all(code in error for code in pages())
    assert len(error.splitlines()) == 1
