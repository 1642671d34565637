"""The report as one HTML file: well formed, and nothing in it loads or runs, whatever the dump says."""

import hashlib
import re
from base64 import b64encode

import pytest
from tracert_analysis.report.as_html import render

from tests.analysis.report.example import CALL, report
from tests.analysis.report.hostile import HOSTILE, poisoned
from tests.analysis.report.strict_html import check, read

HTML = render(report())
PAGE = read(HTML)


def test_it_is_a_whole_page() -> None:
    """A document type, a character set, the title and the answer."""
    assert HTML.startswith("<!DOCTYPE html>\n")
    assert "charset" in PAGE.meta
    assert f"<title>{report().title}</title>" in HTML
    assert CALL in PAGE.text
    assert "entry 0: page 40.2 meant; there was page 17.1" in PAGE.text


def test_the_policy_allows_its_own_style_and_nothing_else() -> None:
    """By the hash of exactly what stands in it."""
    style = HTML.split("<style>")[1].split("</style>")[0]
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert policy == PAGE.meta["Content-Security-Policy"]


def test_nothing_is_loaded() -> None:
    """Links lead into the page, the style refers to nothing outside."""
    assert PAGE.links
    assert all(link.startswith("#") for link in PAGE.links)
    assert "url(" not in HTML.split("<style>")[1].split("</style>")[0]
    assert set(re.findall(r"url\(([^)]*)\)", HTML)) <= {"#head-fence", "#head-missing"}
    assert "http" not in HTML.replace("http-equiv", "")


def test_links_to_sections_lead_somewhere() -> None:
    """Each section that the page's head lists is there."""
    assert {link[1:] for link in PAGE.links if not link.startswith("#query-")} <= set(PAGE.ids)
    assert "query-1" in PAGE.ids


def test_it_is_readable_in_dark_and_light() -> None:
    """Both schemes have every colour that the other has."""
    assert "light dark" == PAGE.meta["color-scheme"]
    style = HTML.split("<style>")[1].split("</style>")[0]
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    names = set(re.findall(r"(--\w+):", light))
    assert names == set(re.findall(r"(--\w+):", dark))
    assert set(re.findall(r"var\((--\w+)\)", style)) <= names


def test_lives_are_drawn() -> None:
    """A figure of the row's generations and one of the page's lives, with their text beside them."""
    assert 2 == PAGE.figures
    assert 2 == HTML.count("<summary>as text</summary>")


def test_what_is_folded_is_opened_on_paper() -> None:
    """Queries, lanes and what was new are folded; on paper all are open, and SQL is left to the file."""
    folded = re.findall(r'<details><summary><h2>(.*?)</h2></summary>\n<div class="folded" id="(.*?)">', HTML)
    assert ["lanes", "new", "queries"] == [key for _, key in folded]
    assert all(title for title, _ in folded)
    printed = HTML.split("@media print")[1].split("</style>")[0]
    assert "details::details-content { content-visibility: visible;" in printed
    assert ".queries pre { display: none; }" in printed
    assert 'class="paper"' in HTML.split('id="queries"')[1]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_text(name: str) -> None:
    """Every tag and attribute is ours; what acts is gone; a megabyte does not become many."""
    text = render(poisoned(HOSTILE[name]))
    check(text)
    assert len(text) < 1_000_000


def test_hostile_text_is_shown_as_it_is() -> None:
    """Somebody who called a request so finds it by that name."""
    assert "request:9 <script>alert(1)</script>" in read(render(poisoned(HOSTILE["script"]))).text
