"""Long answers page by page."""

import sys
from pathlib import Path

import pytest
from tracert_analysis.pager import paged, pager_command


def test_the_pager_gets_the_lines(tmp_path: Path) -> None:
    """The block ends when the program has ended."""
    copy = f"import sys; open({str(tmp_path / 'seen')!r}, 'w').write(sys.stdin.read())"
    with paged([sys.executable, "-c", copy]) as screen:
        screen.write("first\nlast\n")
    assert "first\nlast\n" == (tmp_path / "seen").read_text()


def test_a_user_who_leaves_early_ends_the_block() -> None:
    """What is still to be written is nobody's concern."""
    with paged([sys.executable, "-c", "input()"]) as screen:
        for _ in range(100_000):
            screen.write("a line that nobody reads\n")
        raise AssertionError("the program that ended took every line")


def test_the_user_chooses_the_pager(monkeypatch: pytest.MonkeyPatch) -> None:
    """`PAGER`, with its options; empty or not there means none."""
    monkeypatch.setenv("PAGER", f"{sys.executable} -u")
    assert [sys.executable, "-u"] == pager_command()
    monkeypatch.setenv("PAGER", "")
    assert pager_command() is None
    monkeypatch.setenv("PAGER", "no-such-program")
    assert pager_command() is None
