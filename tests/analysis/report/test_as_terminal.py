"""The report on a terminal: the text, as wide as the terminal, in colours."""

import re
from io import StringIO

from rich.console import Console
from tracert_analysis.report.as_terminal import WIDEST, show
from tracert_analysis.report.as_text import render

from tests.analysis.report.example import report
from tests.analysis.report.hostile import HOSTILE, poisoned


def shown(width: int, text: str = "") -> str:
    """What a terminal of that width gets."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=width, color_system="standard", no_color=False)
    show(poisoned(text) if text else report(), console)
    return out.getvalue()


def plain(text: str) -> str:
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_the_words_are_those_of_the_file() -> None:
    """At the file's width each line is the same."""
    assert render(report()) == plain(shown(110))


def test_what_is_wrong_is_red_and_what_mends_it_green() -> None:
    """The missing edge and the missing call; labels stand out, references stay back."""
    text = shown(110)
    assert "\x1b[31m" in next(
        line for line in text.splitlines() if "(stream 0 legacy, number 12) ->" in plain(line)
    )
    assert "\x1b[32m" in next(line for line in text.splitlines() if "missing call" in line)
    assert "\x1b[1;36m  last owner\x1b[0m" in text
    assert "\x1b[2m [4]\x1b[0m" in text


def test_lines_are_as_wide_as_the_terminal() -> None:
    """Within what can be read: not narrower than a drawing's half, not wider than the eye follows."""
    narrow, wide = plain(shown(72)).split("\n\n"), plain(shown(400)).split("\n\n")
    assert 60 < max(map(len, narrow[2].splitlines())) <= 72
    assert 110 < max(map(len, wide[2].splitlines())) <= WIDEST


def test_no_text_of_the_dump_colours_the_terminal() -> None:
    """Neither escapes nor rich's own marks."""
    text = shown(110, f"{HOSTILE['escape']} {HOSTILE['c1']} [red]owned[/red]")
    assert "\x1b]" not in text
    assert "\x9b" not in text
    assert "\x07" not in text
    assert "[red]owned[/red]" in plain(text)
