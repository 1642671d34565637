"""Lines, boxes and words at places in a plane: what a drawing is made of, in a screen's points.

`kind` says what a shape means (held, wrong, fence ...); how that looks is the renderer's affair.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]

LETTER = 7.25
"""How wide a character of a figure is, in a font of fixed width."""


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle; `about` is told to who points at it."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    about: str = ""
    shape: Literal["box"] = "box"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line, with a head at its end when it points somewhere."""

    x: float
    y: float
    to_x: float
    to_y: float
    kind: str
    pointed: bool = False
    about: str = ""
    shape: Literal["stroke"] = "stroke"


@dataclass(frozen=True, slots=True)
class Words:
    """Text on one line; (x, y) is its base line's start, middle or end."""

    x: float
    y: float
    text: str
    kind: str = "word"
    anchor: Anchor = "start"
    shape: Literal["words"] = "words"


Shape = Box | Stroke | Words


@dataclass(frozen=True, slots=True)
class Figure:
    """Shapes, later ones over earlier ones, in a plane of that size; and what their kinds mean."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    legend: tuple[Shape, ...] = ()
    tells_at: Literal["start", "end"] = "start"
    """Where what is in question stands, for a screen that has no room for all of it."""


def legend(x: float, y: float, boxes: Mapping[str, str], strokes: Mapping[str, str]) -> Iterator[Shape]:
    """On one line what the kinds of boxes and of strokes mean, each by its name; `y` is the line's middle."""
    for kind, text in boxes.items():
        yield Box(x, y - 5, 14, 10, kind)
        yield Words(x + 19, y + 4, text, "quiet")
        x += 19 + len(text) * LETTER + 18
    for kind, text in strokes.items():
        level = kind in ("fence", "missing")
        yield Stroke(x, y if level else y - 6, x + (42 if level else 0), y if level else y + 6, kind, level)
        x += 47 if level else 6
        yield Words(x, y + 4, text, "quiet")
        x += len(text) * LETTER + 18


def reach(shapes: Sequence[Shape]) -> float:
    """How far to the right the texts of shapes reach that begin at their left end."""
    ends = [shape.x + len(shape.text) * LETTER for shape in shapes if isinstance(shape, Words)]
    return max(ends, default=0.0)


def wrapped(text: str, width: float, most: int) -> list[str]:
    """The text on lines of that width, at most so many; what does not fit on the last is cut."""
    lines = textwrap.wrap(text, max(1, int(width / LETTER)), break_on_hyphens=False)
    return [*lines[: most - 1], fitting(" ".join(lines[most - 1 :]), width)] if len(lines) > most else lines


def fitting(text: str, width: float) -> str:
    """The text, cut to a width."""
    most = max(1, int(width / LETTER))
    return text if len(text) <= most else f"{text[: most - 1]}…"
