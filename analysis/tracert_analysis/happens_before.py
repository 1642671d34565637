"""Which launch is ordered before which: one pass over the fences, in Python.

Each stream carries a clock: for every stream, the highest ordinal that is known to be done before the
stream's next launch starts. A clock changes only where something orders streams: a wait for a fence,
something that the host learned, the legacy default stream. Between two changes lies a segment, and all
launches of a segment share its clock. Launch a is before launch b when they share a stream and a's ordinal
is smaller, or when b's clock has reached a's ordinal in a's stream.

The order is exact for launches of the same history, also for one whose beginning is lost: every path from
one launch to another runs through events between the two. It knows nothing of pages, rows or findings.

The legacy default stream orders itself as NVIDIA's "Stream synchronization behavior" says: an act in it
(launch, record, wait) first waits for all that blocking streams were given before, and what blocking
streams are given later waits for it. The host that waits for it has waited for them, too.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LEGACY = 0
"""The id of the legacy default stream."""

Clock = tuple[int, ...]
"""Highest ordinal by stream id."""


class Launched(NamedTuple):
    """Launches of one stream with no other act between them; `ordinal` is that of the last."""

    seq: int
    stream: int
    ordinal: int


class Recorded(NamedTuple):
    """A fence was recorded behind launch `ordinal`."""

    seq: int
    fence: int
    stream: int
    ordinal: int


class Waited(NamedTuple):
    """Later launches of a stream wait for the record at `record_seq`."""

    seq: int
    stream: int
    record_seq: int


class Passed(NamedTuple):
    """The host learned that a fence, a stream, or (neither) the device has passed."""

    seq: int
    fence: int | None
    stream: int | None


Act = Launched | Recorded | Waited | Passed


class Segment(NamedTuple):
    """From `seq` on, launches of `stream` have this clock; `stream` None is the host."""

    seq: int
    stream: int | None
    clock: Clock


class _Side:
    """The clock of one stream, or of the host, as it stands."""

    __slots__ = ("clock", "launched", "seen", "told")

    def __init__(self, width: int) -> None:
        self.clock = [0] * width
        self.launched = 0
        """Ordinal of the stream's last launch."""
        self.seen = 0
        """The version of the host's clock that was joined last."""
        self.told: list[int] | None = None
        """The clock of the last segment that was given out."""

    def join(self, clock: Sequence[int]) -> None:
        self.clock = [a if a >= b else b for a, b in zip(self.clock, clock, strict=True)]


def segments(acts: Iterable[Act], blocking: Iterable[int], width: int) -> list[Segment]:
    """The segments of all streams and of the host, by `seq`. `acts` come in that order.

    `blocking` are the streams that order themselves with the legacy one; `width` is the number of streams.
    """
    return _Pass(sorted({*blocking} - {LEGACY}), width).run(acts)


class _Pass:
    def __init__(self, blocking: list[int], width: int) -> None:
        self._streams = [_Side(width) for _ in range(width)]
        self._host = _Side(width)
        self._version = 0
        self._blocking = blocking
        self._found: list[Segment] = []
        self._records: dict[int, list[int]] = {}
        self._fences: dict[int, list[int]] = {}

    def run(self, acts: Iterable[Act]) -> list[Segment]:
        for act in acts:
            if isinstance(act, Launched):
                self._launch(act)
            elif isinstance(act, Recorded):
                self._record(act)
            elif isinstance(act, Waited):
                self._wait(act)
            else:
                self._pass(act)
        return self._found

    def _launch(self, act: Launched) -> None:
        side = self._enter(act.stream)
        if side.told != side.clock:
            side.told = side.clock
            self._found.append(Segment(act.seq, act.stream, tuple(side.clock)))
        side.launched = act.ordinal

    def _record(self, act: Recorded) -> None:
        side = self._enter(act.stream)
        side.launched = max(side.launched, act.ordinal)
        clock = self._done(act.stream, act.ordinal)
        self._records[act.seq] = clock
        self._fences[act.fence] = clock

    def _wait(self, act: Waited) -> None:
        side = self._enter(act.stream)
        clock = self._records.get(act.record_seq)
        if clock is not None:
            side.join(clock)

    def _pass(self, act: Passed) -> None:
        if act.fence is not None:
            clocks = [self._fences[act.fence]] if act.fence in self._fences else []
        elif act.stream is None:
            clocks = [self._done(stream) for stream in range(len(self._streams))]
        elif act.stream == LEGACY:
            clocks = [self._done(stream) for stream in (LEGACY, *self._blocking)]
        else:
            self._enter(act.stream)
            clocks = [self._done(act.stream)]
        before = self._host.clock
        for clock in clocks:
            self._host.join(clock)
        if self._host.clock != before:
            self._version += 1
            self._found.append(Segment(act.seq, None, tuple(self._host.clock)))

    def _enter(self, stream: int) -> _Side:
        """What comes before the next act on `stream`: what the host knows, and the legacy stream's rule."""
        side = self._streams[stream]
        if side.seen != self._version:
            side.seen = self._version
            side.join(self._host.clock)
        if stream == LEGACY:
            for other in self._blocking:
                side.join(self._done(other))
        elif stream in self._blocking:
            side.join(self._done(LEGACY))
        return side

    def _done(self, stream: int, ordinal: int | None = None) -> list[int]:
        """What is done once everything given to `stream`, up to `ordinal`, is."""
        side = self._streams[stream]
        clock = list(side.clock)
        clock[stream] = max(clock[stream], side.launched if ordinal is None else ordinal)
        return clock
