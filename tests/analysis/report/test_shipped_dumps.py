"""The dumps that come with the documentation, in every format."""

from pathlib import Path

import pytest
from tracert_analysis.load import open_dump
from tracert_analysis.report import as_html, as_json, as_markdown, as_text
from tracert_analysis.report.build import build

from tests.analysis.report import strict_html, strict_markdown
from tests.some import a_few

DUMPS = sorted((Path(__file__).parents[3] / "docs" / "dumps").glob("*.jsonl.zst"))


def test_there_are_dumps() -> None:
    """Without them nothing is tried below."""
    assert len(DUMPS) >= 4


@pytest.mark.parametrize("path", a_few(1, DUMPS))
def test_each_format_tells_the_verdict(path: Path) -> None:
    """Its code, and nothing that a strict reader of the format refuses."""
    report = build(open_dump(str(path)))
    code = str(report.verdict.code)
    assert code in as_text.render(report).splitlines()[0]
    assert f'"code": "{code}"' in as_json.render(report)
    markdown = as_markdown.render(report)
    strict_markdown.check(markdown)
    assert code in markdown.splitlines()[0]
    page = strict_html.check(as_html.render(report))
    assert page.figures >= 1
    assert code in page.text
