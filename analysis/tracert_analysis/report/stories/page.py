"""What a report tells of one page."""

from dataclasses import dataclass

from tracert_analysis.report.facts import Act, FenceFact, Hold, Life, Negative, Touched, Write
from tracert_analysis.report.stories.content import ByteRun


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A page near the one in question, and the page itself, as of the same seq."""

    page: int
    life: int | None
    state: str
    """held, retired, free, never granted, or unknown."""
    holders: tuple[str, ...]
    """Who holds it; of a page that nobody holds, who held it last."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The positions of a page, first and end, that the report is about, and what happened to them."""

    first: int
    end: int
    what: str


@dataclass(frozen=True, slots=True)
class LastFacts:
    """What the runtime kept of a page to the end: it holds even where the window of events is short."""

    life: int | None
    state: str | None
    alloc_seq: int | None
    """Event that granted this life."""
    holder: str | None
    """Who took it last: others that took it before may hold it still."""
    given_back: bool | None
    """That one gave it back."""
    previous_holder: str | None
    """Who took it last in the life before."""
    writer: int | None
    """Number of the launch that wrote it last."""
    writer_stream: int | None
    writer_seq: int | None
    writer_life: int | None
    fence: int | None
    """The fence behind which it was retired last."""
    query: int

    def writer_before(self, seq: int | None) -> bool:
        """Did the last write come before an event? False where that is not known."""
        return seq is not None and self.writer is not None and (self.writer_seq or seq) < seq


@dataclass(frozen=True, slots=True)
class PageStory:
    """A page as of one seq: owners, writer, fence, lives."""

    page: int
    life: int | None
    why: str
    """Why the report tells of this page."""
    last_owner: Hold | None
    previous_owner: Hold | None
    also_held_by: tuple[str, ...]
    """Who holds the page beside its owner."""
    last_writer: Write | None
    """None where the history has none."""
    last_fence: FenceFact | None
    needs_fence: bool
    """False when the writer and the launch in question are on one stream."""
    lives: tuple[Life, ...]
    queries: tuple[int, ...]
    """Of owners, writer, fence, lives, bytes, neighbours, kernels."""
    page_size: int | None = None
    """Positions of a page."""
    runs: tuple[ByteRun, ...] = ()
    """Who wrote which positions last."""
    touched: tuple[Touched, ...] = ()
    """Which kernels wrote and read its lives."""
    neighbours: tuple[Neighbour, ...] = ()
    """Itself among them."""
    extent: Extent | None = None
    not_found: tuple[Negative, ...] = ()
    last_facts: LastFacts | None = None
    at: int = 0
    """The event as of which all of this is told."""
    kept_writer: Act | None = None
    """Of these the writer, where it wrote before the history; its ordinal is the highest it can have."""
    doubt: str | None = None
    """What is not certain of the launch in question, where it may have found another page."""
    asked: bool = False
    """It was asked for; then it is told as of the end."""
    occurs: bool = True
    """False when nobody held it and no launch named it in the recorded window."""
    later: tuple[Life, ...] = ()
    """Lives behind the event as of which it is told."""
