"""What a report says, as plain values: built by `build`, written by the renderers, which know no SQL.

Every part that states facts has a `query`: the number, in `Report.queries`, of the SQL that gave them; 0 when
no query did. What its parts are made of stands in `facts` and `stories`.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from tracert_analysis.report.facts import Act, Edge, FenceFact, Lane, RankFact, Resource, StreamFact
from tracert_analysis.report.stories.content import BytesStory, Uncomputed, WrongRange
from tracert_analysis.report.stories.contrast import Contrast
from tracert_analysis.report.stories.guard import GuardStory
from tracert_analysis.report.stories.page import PageStory
from tracert_analysis.report.stories.row import RowStory
from tracert_analysis.report.stories.surroundings import Surroundings
from tracert_analysis.report.stories.workspace import WorkspaceStory

__all__ = [
    "Access",
    "Acquittal",
    "Act",
    "Arrival",
    "Confidence",
    "ErrorFact",
    "Evidence",
    "Finding",
    "HostAct",
    "Novelty",
    "Occurrence",
    "Query",
    "Repetition",
    "Report",
    "Reproduce",
    "Resource",
    "Standing",
    "Verdict",
]

Confidence = Literal["observed", "proven", "suspected", "none"]


@dataclass(frozen=True, slots=True)
class Query:
    """SQL that runs as it stands in `tracert sql DUMP`."""

    id: int
    about: str
    sql: str


@dataclass(frozen=True, slots=True)
class Repetition:
    """Of a verdict that the same kernels repeat on the same streams, the time that the report tells of."""

    number: int
    """From 2: the first is `Verdict.first`."""
    of: int
    visible: bool
    """It visibly went wrong; else it is the first that could do harm."""
    seq: int
    resource: Resource
    act: Act | None
    """The launch that broke the rule again."""
    missing_edge: Edge | None
    consequence: bool = False
    """It found no room beside what the verdict's launch kept."""

    def __str__(self) -> str:
        what = str(self.act) if self.act is not None else f"event {self.seq}"
        did = "went wrong" if self.visible else "could do harm"
        number = "with that block live" if self.consequence else f"at number {self.number} of {self.of}"
        return f"it {did} {number}: {what}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a rule was broken."""

    seq: int
    resource: Resource
    launch: int | None
    act: Act | None
    """The launch that broke it; None where the host did."""
    missing_edge: Edge | None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a verdict is known, sentences that go on from these words."""

    scope: str
    """What the confidence is about."""
    observed: tuple[str, ...]
    inferred: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The root cause: the earliest finding that explains what failed, or that there is none.

    Where its rule was broken several times, `resource`, `launch`, `act`, `seq` and `missing_edge` are of the
    time that the sentence tells of first.
    """

    code: str | None
    name: str | None
    confidence: Confidence
    sentence: str
    resource: Resource
    launch: int | None = None
    act: Act | None = None
    """The launch that broke the rule; None where the host did."""
    explains_failure: bool | None = None
    """False where the history ties no broken rule to what failed, and this is the first of those beside it;
    None where nothing failed, or where it did is not known."""
    seq: int | None = None
    missing_edge: Edge | None = None
    missing_beside: tuple[Edge, ...] = ()
    """Order that it lacks, too, where it was broken first: all of them are needed."""
    first: Occurrence | None = None
    """The first time that the rule was broken; None where the verdict's is the first."""
    fix: tuple[str, ...] = ()
    """What repairs it, a sentence each."""
    fix_how: str = ""
    """How these belong together, such as "One is enough"; empty where there is one."""
    hardening: tuple[str, ...] = ()
    """What makes it harder to break and repairs nothing, a sentence each."""
    detection: tuple[str, ...] = ()
    """What shows it sooner and leaves it there, a sentence each."""
    counterfactual: str | None = None
    """What was found when an edited history was checked; or why none was."""
    uncounted: tuple[str, ...] | None = None
    """Codes of the symptoms that it doesn't count: what was seen stays, for nothing is run again. None where
    no edited history was checked."""
    standing: Standing | None = None
    """None without a finding."""
    masks: tuple[str, ...] = ()
    """What only hides it, a sentence each."""
    options: tuple[str, ...] = ()
    """Options that the engine ran with and that bear on it, a sentence each."""
    repetition: Repetition | None = None
    """None where what the report tells of is the first time."""
    wrong_range: WrongRange | None = None
    """The clear that ran in time, over the wrong positions; None where no range is what is wrong."""
    times: int = 1
    """How often the same kernels broke the rule on the same streams, in the whole history."""
    query: int = 0

    @property
    def first_seq(self) -> int | None:
        """The event that broke the rule first."""
        return self.first.seq if self.first is not None else self.seq


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
    why: str | None = None
    """Why this one, where the verdict is repeated."""


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
class Acquittal:
    """What was checked and found right; `checked` counts what was looked at."""

    resource: Resource
    why: str
    checked: int
    query: int


@dataclass(frozen=True, slots=True)
class Novelty:
    """A trait of the launch, or a set of traits, and how many before it had it, out of how many."""

    what: str
    support: int
    of: int
    query: int
    trait: str | None = None
    """None for a set."""
    value: str | None = None
    alone: tuple[int, ...] = ()
    """Of a set: how many before it had each of its traits."""
    ever_new: bool = False
    """Page numbers and tenancies are new at some time whatever happens."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that the history breaks; `follows` says why it is a consequence of the verdict, if it is.

    `independent`: something failed, and this has nothing to do with it, nor with the verdict.
    """

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
    independent: bool = False


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
    whole: bool = True
    """Nothing is missing before the last event: what is not found did not happen."""
    cut: int = 0
    """Findings that the report leaves out."""
    query: int = 0


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as it came in; None where the event does not say."""

    request: int
    id: str | None
    seq: int
    prompt_tokens: int | None
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Reproduce:
    """The command, the schedule that it asked for, and the requests that came."""

    command: str
    schedule: str | None
    requests: tuple[Arrival, ...] = ()
    """In the order in which they came: the first of very many."""
    arrived: int = 0
    """How many came in all."""
    query: int = 0


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
    rank: int | None = None
    """Of several ranks, the one that all of the above is about: it broke a rule first."""
    ranks: tuple[RankFact, ...] = ()
    """What each rank says, where several were read together."""
    one_clock: bool = True
    """Times of different ranks are from one clock."""
    surroundings: Surroundings | None = None
    """The launches around the act in question; None without one."""
    guard: GuardStory | None = None
    """None of a history that was recorded without guards."""
    contrast: tuple[Contrast, ...] = ()
    """How others of the same kind fared."""
    uncomputed: Uncomputed | None = None
    """None unless the verdict is about valid positions that nobody computed."""

    @property
    def sentence(self) -> str:
        """What happened, for people: what is a suspicion does not read like a fact."""
        if self.verdict.confidence != "suspected":
            return self.verdict.sentence
        known = self.verdict.standing
        why = known.scope if known else "events are missing, or not understood, that could show it otherwise"
        return f"Suspected only: {why}. {self.verdict.sentence}"

    @property
    def streams(self) -> dict[int, str]:
        """Names of streams by their numbers."""
        return {found.stream: found.name for found in self.in_flight}

    @property
    def title(self) -> str:
        """One line that can be searched for."""
        verdict = self.verdict
        if verdict.code is None:
            return "tracert: no finding"
        again = verdict.repetition
        resource, what = verdict.resource, _did(verdict.act, verdict.missing_edge, verdict.seq)
        if again is not None and again.consequence:
            other = f", {again.resource}" if again.resource != verdict.resource else ""
            what += f" ({again}{other})"
        elif again is not None and verdict.first is not None:
            first = verdict.first
            by = str(first.act) if first.act is not None else "the host"
            other = f", {first.resource}" if first.resource != verdict.resource else ""
            what += f" (number {again.number} of {again.of}; first at seq {first.seq}: {by}{other})"
        sure = "suspected: " if verdict.confidence == "suspected" else ""
        symptom = bool(self.findings) and self.findings[0].category == "symptom"
        untied = (
            "" if symptom or verdict.explains_failure is not False else " (this does not explain what failed)"
        )
        return f"tracert: {sure}{verdict.code} {verdict.name}: {resource}: {what}{untied}"


def _did(act: Act | None, edge: Edge | None, seq: int | None) -> str:
    """Who broke the rule, for a title."""
    if edge is not None:
        return f"{edge.later} is not ordered after {edge.earlier}"
    return str(act) if act is not None else f"at seq {seq}"
