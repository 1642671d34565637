"""Reads a report's HTML strictly: tags and attributes are ours and closed, links lead nowhere else."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

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


def check(text: str) -> Page:
    """The page; every link leads into it, and no character acts."""
    page = read(text)
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
    text.encode()
    return page
