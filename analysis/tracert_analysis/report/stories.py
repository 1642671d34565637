"""What a report tells of one page, of one row, of the workspace, and of the bytes of a page.

`queries` are the numbers, in `Report.queries`, of the SQL that gave a story; 0 where nothing was asked.
"""

from dataclasses import dataclass

from tracert_analysis.report.facts import Act, Edge, FenceFact, Hold, Life, Negative, Touched, Write


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
class Contrast:
    """How many of a kind there were, and how many did as they should; None where none can be said to."""

    text: str
    of: int
    right: int | None
    query: int
    label: str = "the others"
    """What it tells of: the others, how the life in question ended (its end), whose answers are suspect."""


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


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """Bytes of the workspace that a launch has and has not given back; `age` in launches."""

    launch: int
    kernel: str | None
    phase: str | None
    step: int | None
    state: str | None
    """Of the launch at the end: finished, running, waiting."""
    request: int | None
    request_id: str | None
    offset: int
    nbytes: int
    age: int
    seq: int
    """Event that took it."""
    free_seq: int | None
    """Event that gave it back after all."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """What a launch planned and took of the workspace, and gave back of it until the end, in bytes."""

    launch: int
    kernel: str | None
    phase: str | None
    step: int | None
    state: str | None
    """At the end: finished, running, waiting."""
    planned: int | None
    room: int | None
    """The largest when it was planned."""
    taken: int | None
    given_back: int | None
    kept: int | None


@dataclass(frozen=True, slots=True)
class KeptBlocks:
    """Of a launch that ended and kept scratch: its blocks in the order in which it took them."""

    launch: int
    blocks: tuple[tuple[int, int, int | None], ...]
    """Bytes, offset, and the event that gave it back, if one did."""
    alike: int
    """Other launches of its kernel that took as many blocks and had ended."""
    whole: int
    """Of these, those that gave back all."""
    query: int


@dataclass(frozen=True, slots=True)
class WorkspaceStory:
    """The execution workspace when `launch` was enqueued, in bytes; `room` is the largest piece free then."""

    launch: int
    capacity: int | None
    planned: int | None
    room: int | None
    live: tuple[LiveBlock, ...]
    """The oldest first."""
    mask: str | None
    """What would make it go away without mending it."""
    queries: tuple[int, ...] = ()
    room_at: int | None = None
    """Offset at which the largest room begins; None where the live blocks don't tell."""
    scratch: tuple[Scratch, ...] = ()
    """Of every launch that planned or took any, in order."""
    kept: KeptBlocks | None = None
    """Of the first launch that ended and kept some; None where none did."""


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


@dataclass(frozen=True, slots=True)
class GuardedEntry:
    """An entry that a guarded kernel found otherwise than the host meant it."""

    index: int
    page: int
    """What it named when the kernel followed it."""
    published_page: int | None
    published_life: int | None
    differs: bool | None
    """From what had been published there; None when the history does not say."""
    is_page: bool
    """What it named is a page that somebody can hold."""


@dataclass(frozen=True, slots=True)
class GuardedValue:
    """The first value that a guarded kernel found not to be finite."""

    seq: int
    launch: int
    request: int | None
    request_id: str | None
    row: int | None
    layer: int | None
    value_class: str
    """keys, attention or logits."""
    position: int | None
    page: int | None
    """The page in which that position lies."""
    life: int | None


@dataclass(frozen=True, slots=True)
class GuardStory:
    """What guarded kernels told in all, and of one row that a launch followed."""

    launches: int
    told: int
    """Rows told of, over all launches."""
    followed: int
    """Entries followed."""
    differing: int
    """Rows of launches in which an entry was not what had been published."""
    unpublished: int
    """Rows of launches in which an entry was followed that nothing is known to have been published in."""
    unmeant: int
    """Rows of launches in which an entry was what had been published, and not what the host meant."""
    longer: int
    """Rows of launches of which more entries were followed than the launch was to follow."""
    shorter: int
    """Rows of launches of which fewer were."""
    act: Act | None
    row: int | None
    walked: int | None
    declared: int | None
    """Entries that the launch was to follow."""
    left_out: bool
    """An entry named no page, and nothing of the row was touched."""
    entries: tuple[GuardedEntry, ...]
    value: GuardedValue | None
    queries: tuple[int, ...] = ()
    """Of the counts, the entries, the value."""
