"""The report as one HTML file: well formed, and nothing in it loads or runs, whatever the dump says."""

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from tracert_analysis.report.as_html import render

from tests.analysis.report.example import CALL, report
from tests.analysis.report.hostile import HOSTILE, poisoned

VOID = {"meta", "link", "br", "img", "input", "hr"}
TAGS = """
html head meta title style body svg defs marker path header h1 h2 p main nav section dl div dt dd ul li a
table thead tbody tr th td figure figcaption details summary pre code footer rect line text"""
ATTRIBUTES = """
lang charset http-equiv content name class id href scope role aria-label aria-hidden viewbox width height
x y x1 y1 x2 y2 d refx refy markerwidth markerheight orient marker-end text-anchor"""


@dataclass
class Page(HTMLParser):
    """Reads a page strictly: every tag is one of ours, closed where it should be."""

    ids: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    figures: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS.split(), tag
        given = {name: value or "" for name, value in attrs}
        assert len(given) == len(attrs)
        assert set(given) <= set(ATTRIBUTES.split()), given
        if tag not in VOID:
            self._open.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        if "href" in given:
            self.links.append(given["href"])
        if tag == "meta":
            self.meta[given.get("name") or given.get("http-equiv") or "charset"] = given.get("content", "")
        self.figures += tag == "svg" and "viewbox" in given

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> closes itself")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def close(self) -> None:
        """At the end nothing is open, ids are there once, and links lead to them."""
        super().close()
        assert not self._open
        assert len(set(self.ids)) == len(self.ids)

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(self.texts)


def read(text: str) -> Page:
    """The page, read to its end."""
    page = Page()
    page.feed(text)
    page.close()
    return page


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


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_text(name: str) -> None:
    """Every tag and attribute is ours; what acts is gone; a megabyte does not become many."""
    text = render(poisoned(HOSTILE[name]))
    page = read(text)
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
    assert len(text) < 1_000_000
    text.encode()


def test_hostile_text_is_shown_as_it_is() -> None:
    """Somebody who called a request so finds it by that name."""
    assert "request:9 <script>alert(1)</script>" in read(render(poisoned(HOSTILE["script"]))).text
