"""How others of the same kind fared."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contrast:
    """How many of a kind there were, and how many did as they should; None where none can be said to."""

    text: str
    of: int
    right: int | None
    query: int
    label: str = "the others"
    """What it tells of: the others, how the life in question ended (its end), whose answers are suspect."""
