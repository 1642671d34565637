"""A host program, and two answers to what it orders.

Its jobs are launches, writes of the host, and what external writers were asked for. `before` asks the
reader's clocks. `reaches` asks a graph that is built the slow way, node by node and edge by edge, out of what
each call promises; it shares nothing with the clocks, not even the words.
"""

from typing import Literal, NamedTuple

from tracert_analysis.channels import Channels, Told
from tracert_analysis.happens_before import Act, launched, passed, recorded, segments, waited

LEGACY = 0
What = Literal[
    "launch",
    "record",
    "wait",
    "sync",
    "sync_stream",
    "sync_all",
    "host_write",
    "external_begin",
    "external_done",
]


class Step(NamedTuple):
    """A call of the host.

    `fence` is the fence's name; `record` the step at which it was recorded last, or None; `job` counts
    launches and writes.
    """

    what: What
    stream: int = -1
    fence: int = -1
    record: int | None = None
    job: int = -1


class Program:
    """Streams are numbers; 0 is the legacy default stream. Jobs and fences are named as they come."""

    def __init__(self, *, width: int = 3, blocking: frozenset[int] = frozenset()) -> None:
        self.width = width
        self.blocking = blocking | {LEGACY}
        self.steps: list[Step] = []
        self.jobs = 0
        self._records: list[int | None] = []
        """By fence: the step at which it was recorded last."""
        self._found: list[tuple[int, int, tuple[int, ...]]] | None = None

    def launch(self, stream: int) -> int:
        """Enqueue work; gives its name."""
        return self._job("launch", stream)

    def host_write(self) -> int:
        """The host writes a page by itself; gives the write's name."""
        return self._job("host_write")

    def begin(self) -> int:
        """An external writer is asked for something; gives its name."""
        return self._job("external_begin")

    def end(self, job: int) -> None:
        """The host learned that this is done."""
        self._add(Step("external_done", job=job))

    def fence(self) -> int:
        """A fence that isn't recorded yet; gives its name."""
        self._records.append(None)
        return len(self._records) - 1

    def record(self, stream: int, fence: int | None = None) -> int:
        """Record a new fence, or one that there is, once more; gives its name."""
        name = self.fence() if fence is None else fence
        self._add(Step("record", stream, name))
        self._records[name] = len(self.steps) - 1
        return name

    def wait(self, stream: int, fence: int) -> None:
        """The stream waits for the fence, where it stands now."""
        self._add(Step("wait", stream, fence, self._records[fence]))

    def sync(self, fence: int) -> None:
        """The host waits for the fence, or learns by a query that it has passed."""
        self._add(Step("sync", fence=fence, record=self._records[fence]))

    def sync_stream(self, stream: int) -> None:
        """The host waits for the stream."""
        self._add(Step("sync_stream", stream))

    def sync_all(self) -> None:
        """The host waits for the device."""
        self._add(Step("sync_all"))

    def before(self, a: int, b: int) -> bool:
        """Is job `a` done before job `b` starts, by the clocks?"""
        if self._found is None:
            self._found = self._clocks()
        stream, ordinal, _ = self._found[a]
        other, other_ordinal, clock = self._found[b]
        return ordinal < other_ordinal if stream == other else clock[stream] >= ordinal

    def acts(self) -> tuple[list[Act], Channels]:
        """The program as the clocks are told it; a step's number, from 1, is its seq."""
        ordinals = [0] * self.width
        acts, told = [], []
        for seq, step in enumerate(self.steps, 1):
            match step.what:
                case "launch":
                    ordinals[step.stream] += 1
                    acts.append(launched(seq, step.stream, ordinals[step.stream]))
                case "record":
                    acts.append(recorded(seq, step.fence, step.stream, ordinals[step.stream]))
                case "wait":
                    acts.append(waited(seq, step.stream, 0 if step.record is None else step.record + 1))
                case "sync":
                    acts.append(passed(seq, fence=step.fence))
                case "sync_stream":
                    acts.append(passed(seq, stream=step.stream))
                case "sync_all":
                    acts.append(passed(seq))
                case what:
                    told.append(Told(seq, what, "host" if what == "host_write" else "external:nic", step.job))
        channels = Channels(told, self.width)
        return sorted([*acts, *channels.acts], key=lambda act: act.seq), channels

    def reaches(self) -> list[int]:
        """For each job, the jobs before it as bits, by the graph."""
        graph = _Graph(self)
        return [graph.before(job) for job in range(self.jobs)]

    def _clocks(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Of each job its stream or channel, its ordinal, and its clock."""
        acts, channels = self.acts()
        found = segments(acts, self.blocking, self.width + channels.width, devices=self.width)
        places = {act.seq: (act.stream, act.ordinal) for act in channels.found}
        ordinals = [0] * self.width
        clocks: list[tuple[int, int, tuple[int, ...]]] = []
        for seq, step in enumerate(self.steps, 1):
            if step.what == "launch":
                ordinals[step.stream] += 1
                places[seq] = step.stream, ordinals[step.stream]
            if step.job >= 0 and step.what != "external_done":
                stream, ordinal = places[seq]
                told = zip(reversed(found.seq), reversed(found.stream), reversed(found.clock), strict=True)
                clock = next(clock for since, on, clock in told if on == stream and since <= seq)
                clocks.append((stream, ordinal, clock))
        return clocks

    def _job(self, what: What, stream: int = -1) -> int:
        self._add(Step(what, stream, job=self.jobs))
        self.jobs += 1
        return self.jobs - 1

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        self._found = None


class _Graph:
    """Nodes: every call of the host, in its order; behind a call, what the device or another does for it.

    `_past[node]` are all nodes from which it can be reached, itself among them, as bits. Every edge goes to a
    node that is new, so a node's past is whole when it is made.
    """

    def __init__(self, program: Program) -> None:
        self._past: list[int] = []
        self._of_job: list[int] = []
        """The node at which each job is done, and before which it isn't started."""
        given: list[list[int]] = [[] for _ in range(program.width)]
        of_step: dict[int, int] = {}
        call = self._node()
        for number, step in enumerate(program.steps):
            awaited: list[int] = []
            match step.what:
                case "sync" if step.record is not None:
                    awaited = [of_step[step.record]]
                case "sync_stream":
                    awaited = self._ahead(program, given, step.stream)
                case "sync_all":
                    awaited = [node for nodes in given for node in nodes]
                case "external_done":
                    awaited = [self._of_job[step.job]]
            call = self._node(call, *awaited)
            match step.what:
                case "launch" | "record" | "wait":
                    edges = self._ahead(program, given, step.stream)
                    if step.what == "wait" and step.record is not None:
                        edges.append(of_step[step.record])
                    of_step[number] = self._node(call, *edges)
                    given[step.stream].append(of_step[number])
                    if step.what == "launch":
                        self._of_job.append(of_step[number])
                case "host_write":
                    self._of_job.append(call)
                case "external_begin":
                    self._of_job.append(self._node(call))

    def before(self, job: int) -> int:
        """The other jobs from which this one can be reached, as bits."""
        past = self._past[self._of_job[job]]
        return sum(1 << other for other, node in enumerate(self._of_job) if other != job and past >> node & 1)

    def _node(self, *edges: int) -> int:
        past = 1 << len(self._past)
        for edge in edges:
            past |= self._past[edge]
        self._past.append(past)
        return len(self._past) - 1

    def _ahead(self, program: Program, given: list[list[int]], stream: int) -> list[int]:
        """What stands before a stream's next act: its own acts, and by the legacy stream's rule others."""
        ahead = list(given[stream])
        for other in range(program.width):
            blocks = stream in program.blocking and other in program.blocking
            if other != stream and blocks and LEGACY in (stream, other):
                ahead += given[other]
        return ahead
