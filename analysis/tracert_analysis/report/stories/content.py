"""What stands in the positions of a page, whose it is, and what should have stood there instead."""

from dataclasses import dataclass

from tracert_analysis.report.facts import Act, Hold


@dataclass(frozen=True, slots=True)
class ByteRun:
    """Positions `first` up to `end` of a page: who wrote them last, and whose they are."""

    first: int
    end: int
    content: str
    """kv, rows (a snapshot's), zero, or host where the offload lies before the history."""
    snapshot: int | None
    request: int | None
    writer: Act | None
    life: int
    """The life in which they were written."""
    origin: Act | None
    """The launch that wrote them first, where a copy or the host tier brought them."""
    origin_page: int
    origin_life: int
    stale: bool
    """An earlier life's, and not zeros."""


@dataclass(frozen=True, slots=True)
class BytesStory:
    """What stands in a page when the verdict's launch starts, and how the life ended whose bytes it meets."""

    page: int
    life: int
    runs: tuple[ByteRun, ...]
    owner: Hold | None
    """Who held the life whose bytes they are last."""
    ended_seq: int | None
    fence: int | None
    fence_passed_seq: int | None
    clears: int | None
    """Clears of those positions since they were written; None when nobody wrote them."""
    nonfinite: str | None
    """The first value that was not finite, if one was seen."""
    queries: tuple[int, ...] = ()
    sharers: tuple[Hold, ...] = ()
    """Who else held that life."""
    slots: tuple[tuple[int, int, int], ...] = ()
    """Of that life: snapshot, and first and end of the bytes of the page that are its slot."""
    fence_record_seq: int | None = None
    last_use: Act | None = None
    """The last launch that touched that life."""
    covered: bool | None = None
    """The fence behind which the life was retired was recorded behind the last launch that touched it."""


@dataclass(frozen=True, slots=True)
class WrongRange:
    """A clear that ran in time for a life of a page, over the wrong positions `first` up to `end`."""

    act: Act
    page: int
    life: int
    first: int
    end: int
    wrong_first: int
    """Positions that it left; with `reaches` those that it should have left."""
    wrong_end: int
    reaches: bool
    """It reached into what was valid."""
    query: int

    @property
    def cleared(self) -> str:
        """What it cleared."""
        return _positions(self.first, self.end)

    @property
    def wrong(self) -> str:
        """The positions that it should have cleared, or left."""
        return _positions(self.wrong_first, self.wrong_end)

    def __str__(self) -> str:
        does = f"of which {self.wrong} was valid" if self.reaches else f"and left {self.wrong}"
        if self.reaches and self.wrong_end - self.wrong_first > 1:
            does = f"of which {self.wrong} were valid"
        return f"{self.act} cleared {self.cleared} of page {self.page}.{self.life}, {does}"

    def fix(self) -> str:
        """What works."""
        if self.reaches:
            return f"Let the clear begin behind what is valid: {self}."
        return f"Let the clear reach all that is not valid: {self}."


def _positions(first: int, end: int) -> str:
    return f"position {first}" if end - first == 1 else f"positions {first} to {end - 1}"


@dataclass(frozen=True, slots=True)
class Uncomputed:
    """Positions of a sequence that a launch reads as valid, without anybody having computed them."""

    act: Act
    """The launch that reads them."""
    request: int | None
    start: int
    """The first position of the sequence that it computes itself."""
    before: Act | None
    """The launch of the row that had come furthest before it; None where none of the row left a gap."""
    first: int | None
    """What is left out between the two, in positions of the sequence; None without a gap."""
    end: int | None
    blank: bool
    """There are the zeros of a clear."""
    query: int

    def fixes(self) -> tuple[str, ...]:
        """What works, best first."""
        if self.before is None or self.first is None:
            return (
                "Compute these positions, or bring them from where they were computed, before a launch takes "
                f"them for valid: {self.act.name} computes from position {self.start} on, and relies on "
                "those before.",
            )
        return (
            f"Compute what is left out: {self.act.name} must start at position {self.first}, where "
            f"{self.before.name} ended, and not at {self.start}.",
            "Let each launch of a request start where the one before it ended, in whatever cuts a sequence "
            "into chunks.",
        )
