"""Lines, boxes and words at places in a plane: what a drawing is made of, in a screen's points.

`kind` says what a shape means (held, wrong, fence ...); how that looks is the renderer's affair.
"""

from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]

LETTER = 6.7
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
    """Shapes, later ones over earlier ones, in a plane of that size."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


def fitting(text: str, width: float) -> str:
    """The text, cut to a width."""
    most = max(1, int(width / LETTER))
    return text if len(text) <= most else f"{text[: most - 1]}…"
