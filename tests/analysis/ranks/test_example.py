"""The two dumps that the pages show, and what these say of them."""

from pathlib import Path

import pytest

from tests.analysis.ranks.test_ranks import Decisions
from tracert.cli.main import run

DOCS = Path(__file__).parents[3] / "docs"


def test_the_example_is_what_it_says_and_the_page_shows_its_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ranks, alike but for how much one found cached; the page's command gives the page's text."""
    for rank, hit in ((0, 8), (1, 0)):
        written = (DOCS / "dumps" / "two-ranks" / f"rank{rank}.jsonl").read_bytes()
        assert Decisions(rank).decide(range(3), hit=hit).to_bytes() == written
    monkeypatch.chdir(DOCS.parent)
    block = (DOCS / "sql.md").read_text().partition("```\n$ tracert sql docs/dumps/two-ranks ")[2]
    command, _, answer = block.partition("```")[0].partition("\n")
    assert run(["sql", "docs/dumps/two-ranks", command.strip('"')]) == 0
    assert answer == capsys.readouterr().out
