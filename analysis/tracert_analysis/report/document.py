"""A report laid out: titled sections of blocks, which every renderer for people writes in its own way.

Knows nothing of dumps, SQL or formats. Numbers in `queries` are those of `Report.queries`.
"""

from dataclasses import dataclass
from typing import Literal

from tracert_analysis.report.drawings.figure import Figure

Tone = Literal["plain", "bad", "good", "quiet"]
"""How much a line wants to be seen: what is wrong, what mends it, what stands aside."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled line; without a label it goes on from the line before."""

    label: str
    text: str
    queries: tuple[int, ...] = ()
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Facts:
    """Labelled lines; `indent` is how far to the right text renderers begin them."""

    rows: tuple[Fact, ...]
    indent: int = 15


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under heads; columns of numbers stand to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing, as lines of characters of one width and, where somebody drew it, as a figure."""

    about: str
    """What it shows, for who can't see it."""
    lines: tuple[str, ...]
    figure: Figure | None = None
    signs: str = ""
    """What the characters of the lines mean."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One query: its number, what it tells, and its SQL, lines and all."""

    number: int
    about: str
    code: str


Block = Facts | Table | Drawing | Listing


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title; the verdict's has none. What is `folded` may be hidden until it is asked for."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """One line to search for, one sentence, and what stands behind it, in the order of need."""

    title: str
    sentence: str
    sections: tuple[Section, ...]
