"""Long answers page by page."""

import io
import os
import sys
from pathlib import Path

import pytest
from tracert_analysis.pager import paged, pager_command


def test_the_pager_gets_the_lines(tmp_path: Path) -> None:
    """The block ends when the program has ended."""
    copy = f"import sys; open({str(tmp_path / 'seen')!r}, 'w').write(sys.stdin.read())"
    out = io.StringIO()
    with paged([sys.executable, "-c", copy], out, os.terminal_size((80, 3))) as screen:
        for line in ("first\n", "second\n", "last\n"):
            screen.write(line)
    assert ("first\nsecond\nlast\n", "") == ((tmp_path / "seen").read_text(), out.getvalue())


@pytest.mark.parametrize(("lines", "rows"), [(["x" * 25] * 2, 7), (["x"] * 5, 6), ([""] * 5, 6)])
def test_what_fits_on_the_screen_needs_no_pager(lines: list[str], rows: int) -> None:
    """However wide a line: it takes as many rows as the screen needs for it. One row is the prompt's."""
    for size, needed in ((rows, False), (rows - 1, True)):
        out = io.StringIO()
        with paged(
            [sys.executable, "-c", "import sys; sys.stdin.read()"], out, os.terminal_size((10, size))
        ) as screen:
            for line in lines:
                screen.write(f"{line}\n")
        assert ("" if needed else "".join(f"{line}\n" for line in lines)) == out.getvalue()


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
