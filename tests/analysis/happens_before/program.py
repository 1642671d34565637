"""A host program of launches, fences and synchronises, and two answers to what it orders.

`before` asks the reader's clocks. `reaches` asks a graph that is built the slow way, edge by edge, out of
what each call promises.
"""

from collections.abc import Callable
from typing import TypeVar

from tracert_analysis.happens_before import Act, Launched, Passed, Recorded, Waited, segments

LEGACY = 0
T = TypeVar("T", bound=Act)


class Program:
    """Streams are numbers; 0 is the legacy default stream. Launches are named in the order they come."""

    def __init__(self, *, width: int = 3, blocking: frozenset[int] = frozenset()) -> None:
        self.width = width
        self.blocking = blocking | {LEGACY}
        self.acts: list[Act] = []
        self.launches: list[Launched] = []
        self._ordinals = [0] * width
        self._fences: list[Recorded] = []
        self._clocks: list[tuple[int, ...]] | None = None

    def launch(self, stream: int) -> int:
        """Enqueue work; gives its name."""
        self._ordinals[stream] += 1
        self.launches.append(self._add(Launched(self._seq(), stream, self._ordinals[stream])))
        return len(self.launches) - 1

    def record(self, stream: int) -> int:
        """Record a fence; gives its name."""
        self._fences.append(
            self._add(Recorded(self._seq(), len(self._fences) + 1, stream, self._ordinals[stream]))
        )
        return len(self._fences) - 1

    def wait(self, stream: int, fence: int) -> None:
        """The stream waits for the fence."""
        self._add(Waited(self._seq(), stream, self._fences[fence].seq))

    def sync(self, fence: int) -> None:
        """The host waits for the fence, or learns by a query that it has passed."""
        self._add(Passed(self._seq(), self._fences[fence].fence, None))

    def sync_stream(self, stream: int) -> None:
        """The host waits for the stream."""
        self._add(Passed(self._seq(), None, stream))

    def sync_all(self) -> None:
        """The host waits for the device."""
        self._add(Passed(self._seq(), None, None))

    def before(self, a: int, b: int) -> bool:
        """Is launch `a` before launch `b`, by the clocks?"""
        one, other = self.launches[a], self.launches[b]
        if one.stream == other.stream:
            return one.ordinal < other.ordinal
        if self._clocks is None:
            self._clocks = self._found()
        return self._clocks[b][one.stream] >= one.ordinal

    def reaches(self) -> list[int]:
        """For each launch, the launches before it as bits, by the graph."""
        return reachability(self.acts, self.blocking, self.width)

    def _found(self) -> list[tuple[int, ...]]:
        found = [s for s in segments(self.acts, self.blocking, self.width) if s.stream is not None]
        return [
            next(s.clock for s in reversed(found) if s.stream == launch.stream and s.seq <= launch.seq)
            for launch in self.launches
        ]

    def _seq(self) -> int:
        return len(self.acts) + 1

    def _add(self, act: T) -> T:
        self.acts.append(act)
        self._clocks = None
        return act


def reachability(acts: list[Act], blocking: frozenset[int], width: int) -> list[int]:
    """Every edge that a call promises, then everything that can be reached; all edges go forward."""
    ends: list[int] = []
    """By act: the acts that are done once it is, as bits; itself among them."""
    given: list[list[int]] = [[] for _ in range(width)]
    syncs: list[int] = []
    of_fence: dict[int, int] = {}
    of_seq: dict[int, int] = {}

    def on(streams: Callable[[int], bool]) -> list[int]:
        return [act for stream in range(width) if streams(stream) for act in given[stream]]

    for number, act in enumerate(acts):
        edges = list(syncs)
        if isinstance(act, Passed):
            if act.fence is not None:
                edges.append(of_fence[act.fence])
            elif act.stream is None:
                edges += on(lambda stream: True)
            elif act.stream == LEGACY:
                edges += on(lambda stream: stream in blocking)
            else:
                edges += given[act.stream]
                if act.stream in blocking:
                    edges += given[LEGACY]
            syncs.append(number)
        else:
            edges += given[act.stream]
            if act.stream == LEGACY:
                edges += on(lambda stream: stream in blocking)
            elif act.stream in blocking:
                edges += given[LEGACY]
            if isinstance(act, Waited):
                edges.append(of_seq[act.record_seq])
            if isinstance(act, Recorded):
                of_fence[act.fence] = of_seq[act.seq] = number
            given[act.stream].append(number)
        done = 1 << number
        for edge in edges:
            done |= ends[edge]
        ends.append(done)
    launches = [number for number, act in enumerate(acts) if isinstance(act, Launched)]
    return [
        sum(1 << place for place, one in enumerate(launches) if one != other and ends[other] >> one & 1)
        for other in launches
    ]
