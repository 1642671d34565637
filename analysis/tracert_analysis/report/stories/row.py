"""What a report tells of one row."""

from dataclasses import dataclass

from tracert_analysis.report.facts import FenceFact, Hold, Life, Write


@dataclass(frozen=True, slots=True)
class Leftover:
    """An entry of a row: what the publish puts there, and what is there until the publish has executed."""

    index: int
    page: int
    life: int | None
    left_page: int | None
    left_life: int | None
    left_in_pool: bool | None
    """False when what was left is no page at all."""
    left_holder: str | None
    """Who holds that page, in whatever life, at the time of the access; None: nobody."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Neighbouring entries of a row, `first` up to `end`, that one publish wrote and one overwrote."""

    first: int
    end: int
    pages: tuple[tuple[int, int], ...]
    """What each names: page and life."""
    in_pool: bool
    """False when none of them names a page of the pool."""
    seq: int
    """Event of the publish, or of the keyframe that knew them."""
    until_seq: int | None
    """Event of the publish that overwrote them; None when none did."""
    generation: int
    epoch: int | None
    launch: int | None
    """The publish; None when only a keyframe knew them."""
    kernel: str | None
    stream_name: str | None
    state: str | None
    """Of the publish at the end: finished, running, waiting."""


@dataclass(frozen=True, slots=True)
class RowStory:
    """A row as of one seq: who had it, who published it, what a launch too early finds in it."""

    row: int
    generation: int | None
    last_owner: Hold | None
    previous_owner: Hold | None
    last_writer: Write | None
    previous_writer: Write | None
    last_fence: FenceFact | None
    lives: tuple[Life, ...]
    leftovers: tuple[Leftover, ...]
    queries: tuple[int, ...]
    """Of owners, publishes, leftovers, fence, entries."""
    entries: tuple[Strip, ...] = ()
    """Empty unless what the row names matters to the verdict."""
    later: tuple[Life, ...] = ()
    """Generations behind the event as of which it is told."""
