"""What a report says, as plain values: built by `build`, written by the renderers, which know no SQL.

Every part that states facts has a `query`: the number, in `Report.queries`, of the SQL that gave them; 0 when
no query did. A page in a life is written `page 17.3`. None means that the history does not say.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

Confidence = Literal["observed", "proven", "suspected", "none"]


@dataclass(frozen=True, slots=True)
class Query:
    """SQL that runs as it stands in `tracert sql DUMP`."""

    id: int
    about: str
    sql: str


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
        if self.kind == "row" and self.generation is not None:
            return f"row {self.id} (generation {self.generation})"
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True)
class Act:
    """One launch as a report names it."""

    launch: int
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

    def __str__(self) -> str:
        return f"launch {self.launch} {self.kernel} on {self.stream_name}"


@dataclass(frozen=True, slots=True)
class Edge:
    """Order that is not there: `call` would add it, from the earlier act to the later one."""

    earlier: Act
    later: Act
    call: str
    reaches: int
    """The last launch of the earlier act's stream that the later act is known to come after; 0 for none."""
    query: int


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
class Verdict:
    """The root cause: the earliest finding, or that there is none."""

    code: str | None
    name: str | None
    confidence: Confidence
    sentence: str
    resource: Resource
    launch: int | None = None
    act: Act | None = None
    """The launch that broke the rule first."""
    seq: int | None = None
    missing_edge: Edge | None = None
    fix: tuple[str, ...] = ()
    counterfactual: str | None = None
    query: int = 0


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """The error as the runtime gave it; `misleading` when its words point away from the cause found."""

    code: Any
    """As the runtime gives it: mostly a number."""
    name: str
    message: str
    stream: str | None
    observed_at: str
    detail: dict[str, Any]
    misleading: bool
    remark: str


@dataclass(frozen=True, slots=True)
class Access:
    """The act that breaks the rule: who did it, for whom, over which row, and against which earlier act.

    Of a verdict that is repeated, the first time that it visibly went wrong.
    """

    act: Act
    request: int | None
    request_id: str | None
    row: int | None
    generation: int | None
    positions: tuple[int, int] | None
    """Positions of the sequence that it reads, first and end."""
    walked: int | None
    other: Act | None
    fence: FenceFact | None
    """The last fence that joined the other act's stream to this one's before it."""
    query: int
    fence_query: int = 0


@dataclass(frozen=True, slots=True)
class HostAct:
    """What the host did, where no launch breaks the rule."""

    seq: int
    kind: str
    request: int | None
    request_id: str | None
    other: Act | None
    """The earlier launch that it should have waited for."""
    concerned: Act | None
    """The launch over that row, or for that request, of which the acquittals are told."""
    query: int


@dataclass(frozen=True, slots=True)
class Hold:
    """Who held a page, in which life, from which seq until which (None: to the end)."""

    holder: str
    mode: str | None
    life: int
    from_seq: int
    until_seq: int | None


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
    last_fence: FenceFact | None
    needs_fence: bool
    """False when the writer and the launch in question are on one stream."""
    lives: tuple[Life, ...]
    queries: tuple[int, ...]


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


@dataclass(frozen=True, slots=True)
class Acquittal:
    """What was checked and found right; `checked` counts what was looked at."""

    resource: Resource
    why: str
    checked: int
    query: int


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """Bytes of the workspace that a launch has and has not given back; `age` in launches."""

    launch: int
    kernel: str | None
    phase: str | None
    request_id: str | None
    offset: int
    nbytes: int
    age: int
    seq: int


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
    masks: tuple[str, ...]
    """What would make it go away without mending it."""
    queries: tuple[int, ...] = ()


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
class Novelty:
    """A trait of the launch and how many before it had it, out of how many."""

    what: str
    support: int
    of: int
    query: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that the history breaks; `follows` says why it is a consequence of the verdict, if it is."""

    code: str
    name: str
    seq: int
    category: str
    confidence: str
    sentence: str
    resource: Resource
    launch: int | None
    request: int | None
    follows: str | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much of the history there is."""

    events: int
    lost: int
    torn: int
    truncated: bool
    first_seq: int | None
    last_seq: int | None
    unknown: tuple[str, ...]
    checked: dict[str, int] = field(default_factory=dict)
    query: int = 0


@dataclass(frozen=True, slots=True)
class Reproduce:
    """The command, and the schedule that it asked for."""

    command: str
    schedule: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """One answer."""

    tool: dict[str, Any]
    dump: dict[str, Any]
    error: ErrorFact | None
    verdict: Verdict
    access: Access | None
    host: HostAct | None
    """The access's stead where the host broke the rule."""
    rows: tuple[RowStory, ...]
    pages: tuple[PageStory, ...]
    workspace: WorkspaceStory | None
    """None unless the verdict is about it."""
    content: BytesStory | None
    """None unless the verdict is about bytes."""
    lanes: tuple[Lane, ...]
    acquitted: tuple[Acquittal, ...]
    findings: tuple[Finding, ...]
    moment: int
    """The seq as of which pages and rows are told."""
    what_was_new: tuple[Novelty, ...]
    in_flight: tuple[StreamFact, ...]
    evidence: Evidence
    reproduce: Reproduce
    names: dict[str, str]
    """Public ids of the requests that hold something in this report: `request:17` to the id."""
    queries: tuple[Query, ...]

    @property
    def title(self) -> str:
        """One line that can be searched for."""
        verdict = self.verdict
        if verdict.code is None:
            return "tracert: no finding"
        edge = verdict.missing_edge
        if edge is not None:
            what = f"{edge.later} is not ordered after {edge.earlier}"
        elif verdict.act is not None:
            what = str(verdict.act)
        else:
            what = f"at seq {verdict.seq}"
        return f"tracert: {verdict.code} {verdict.name}: {verdict.resource}: {what}"
