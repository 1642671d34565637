"""The small facts that a report is made of: launches, fences, holds, writes, lives, lanes, streams.

A page in a life is written `page 17.3`. None means that the history does not say.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """What a statement is about: a page (with its life), a row (with its generation), or nothing special."""

    kind: str
    id: int | None = None
    life: int | None = None
    generation: int | None = None

    def __str__(self) -> str:
        if self.id is None:
            return self.kind
        if self.kind == "page" and self.life is not None:
            return f"page {self.id}.{self.life}"
        if self.kind == "workspace":
            return f"workspace block at {self.id}"
        if self.kind == "row" and self.generation is not None:
            return f"row {self.id} (generation {self.generation})"
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True)
class Act:
    """One launch as a report names it, or what a writer without a stream did."""

    launch: int
    """0 where no launch did it: then the stream is the writer's channel, under the writer's name."""
    seq: int
    kind: str
    kernel: str
    stream: int
    stream_name: str
    ordinal: int
    phase: str | None = None
    step: int | None = None
    row: int | None = None
    generation: int | None = None
    state: str | None = None

    @property
    def name(self) -> str:
        """What a sentence calls it in short."""
        if self.launch:
            return f"launch {self.launch}"
        return "the host's write" if self.kind == "write" else f"{self.kernel} of {self.stream_name}"

    def __str__(self) -> str:
        return f"{self.name} {self.kernel} on {self.stream_name}" if self.launch else self.name


@dataclass(frozen=True, slots=True)
class Misplaced:
    """Calls between two streams that are there, and do not order what they should."""

    told: str
    """Which they are, as a clause."""
    fix: str
    """Where they belong."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Order that is not there: `call` would add it, from the earlier act to the later one."""

    earlier: Act
    later: Act
    call: str
    reaches: int
    """The last launch of the earlier act's stream that the later act is known to come after; 0 for none."""
    query: int
    misplaced: Misplaced | None = None
    """What is there in its place; None where nothing is."""


@dataclass(frozen=True, slots=True)
class FenceFact:
    """A fence that joined one stream to another, and whether it covers the act in question."""

    fence: int
    stream: int
    ordinal: int
    record_seq: int
    wait_stream: int | None
    wait_seq: int | None
    passed_seq: int | None
    covers: bool


@dataclass(frozen=True, slots=True)
class Hold:
    """Who held a page, in which life, from which seq until which (None: to the end)."""

    holder: str
    mode: str | None
    life: int
    from_seq: int
    until_seq: int | None
    since_before: bool = False
    """It was held before the history already: `from_seq` is the keyframe that knew it."""


@dataclass(frozen=True, slots=True)
class Write:
    """A launch that wrote positions of a page, or published a row."""

    act: Act
    life: int | None = None
    first: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """One life of a page, or one generation of a row; None: not in the history."""

    number: int
    owner: str | None
    from_seq: int | None
    retired_seq: int | None
    until_seq: int | None
    writes: tuple[int, ...] = ()
    """Seqs of launches that wrote it, for the drawing; at most a few dozen."""
    reads: tuple[int, ...] = ()
    times: tuple[int, int] | None = None
    """Of a row's generation: how often it was published and used in all."""
    voids: tuple[int, ...] = ()
    """Of `writes` those that published nothing but what names no page of the pool."""
    also: tuple[str, ...] = ()
    """Who else held the page in this life, in the order in which they took it."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One row's progress as the recorder had it last."""

    row: int
    state: str | None
    """held or released."""
    generation: int | None
    request: int | None
    phase: str | None
    step: int | None
    frontier: int | None
    """Positions launched."""
    committed: int | None
    """Positions that the host has seen pass."""
    provisional: int | None
    """Positions launched and not yet seen to pass."""
    transaction: int | None
    """The open transaction."""


@dataclass(frozen=True, slots=True)
class StreamFact:
    """A stream's progress words, and its launches that had not finished."""

    stream: int
    name: str
    blocking: bool | None
    launched: int
    started: int
    finished: int
    running: tuple[Act, ...]
    waiting: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Touched:
    """How often launches of one kernel on one stream wrote or read one life of a page."""

    life: int
    mode: str
    """read or write."""
    kernel: str
    stream_name: str
    times: int


@dataclass(frozen=True, slots=True)
class Negative:
    """What was looked for in the recorded window, and is not there."""

    text: str
    query: int


@dataclass(frozen=True, slots=True)
class RankFact:
    """What one rank's dump says: its first finding, if it has one, and how far the rank came."""

    rank: int
    dump: str
    code: str | None
    name: str | None
    confidence: str
    sentence: str | None
    seq: int | None
    at_ns: int | None
    """When the first finding happened: nanoseconds of Unix time."""
    error: str | None
    decisions: int
    """How many of its decisions could be compared with those of other ranks."""
    last_seq: int | None
