"""The launches around an act."""

from dataclasses import dataclass

from tracert_analysis.report.facts import Act, Edge, FenceFact


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The launches around the act in question and the fences between them, in order of seq."""

    streams: tuple[tuple[int, str], ...]
    """Numbers and names, in the order in which they are drawn."""
    launches: tuple[Act, ...]
    fences: tuple[FenceFact, ...]
    missing: Edge | None
    """The edge that lacks between two of them."""
    query: int
