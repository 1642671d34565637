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

What writes without a stream (the host itself, a network card, another process) stands on streams of its
own behind those of the device, see `channels.py`: no synchronise of the device covers them.
"""

from collections.abc import Iterable
from typing import NamedTuple

LEGACY = 0
"""The id of the legacy default stream."""
NONE = -1
"""In the place of a stream, a fence or the event of a record."""
LAUNCHED, RECORDED, WAITED, PASSED = range(4)
"""Kinds of acts."""

Clock = tuple[int, ...]
"""Highest ordinal by stream id."""


class Act(NamedTuple):
    """What the host did, as far as it orders launches: see the functions below. A plain tuple does, too."""

    seq: int
    kind: int
    stream: int
    number: int
    fence: int


def launched(seq: int, stream: int, ordinal: int) -> Act:
    """Launches of one stream with no other act between them; `ordinal` is that of the last."""
    return Act(seq, LAUNCHED, stream, ordinal, NONE)


def recorded(seq: int, fence: int, stream: int, ordinal: int) -> Act:
    """A fence was recorded behind launch `ordinal`; from now on it stands there, wherever it stood before."""
    return Act(seq, RECORDED, stream, ordinal, fence)


def waited(seq: int, stream: int, record_seq: int, fence: int = NONE) -> Act:
    """Later launches of a stream wait for the record at `record_seq`.

    0 when the fence was not recorded by then: that is no wait. NONE when it isn't told: then it is where
    the fence stands at this moment.
    """
    return Act(seq, WAITED, stream, record_seq, fence)


def passed(seq: int, fence: int | None = None, stream: int | None = None) -> Act:
    """The host learned that a fence, a stream, or (neither) the device has passed."""
    return Act(seq, PASSED, NONE if stream is None else stream, 0, NONE if fence is None else fence)


class Segments(NamedTuple):
    """From `seq` on, launches of `stream` have this clock; stream NONE is the host. Sorted by `seq`."""

    seq: list[int]
    stream: list[int]
    clock: list[Clock]


def segments(
    acts: Iterable[tuple[int, int, int, int, int]],
    blocking: Iterable[int],
    width: int,
    *,
    devices: int | None = None,
) -> Segments:
    """The segments of all streams and of the host. `acts` are sorted by seq.

    `blocking` are the streams that order themselves with the legacy one; `width` is the number of streams,
    of which the first `devices` (all, unless told) are the device's.
    """
    order = _Order(sorted({*blocking} - {LEGACY}), width, width if devices is None else devices)
    order.run(acts)
    return order.found


class _Order:
    """What stands when: clocks are never changed, but put in each other's place."""

    def __init__(self, blocking: list[int], width: int, devices: int) -> None:
        nothing = (0,) * width
        self.found = Segments([], [], [])
        self._devices = devices
        self._blocking = blocking
        self._clock: list[Clock] = [nothing] * width
        self._launched = [0] * width
        """Ordinal of each stream's last launch."""
        self._seen = [0] * width
        """How often the host had learned something when each stream joined its clock last."""
        self._host: Clock = nothing
        self._records: dict[int, Clock] = {}
        self._fences: dict[int, Clock] = {}

    def run(self, acts: Iterable[tuple[int, int, int, int, int]]) -> None:
        """Go through the acts. Written for speed: a history has hundreds of thousands of them."""
        clocks, ordinals, seen, fences, records = (
            self._clock, self._launched, self._seen, self._fences, self._records,
        )  # fmt: skip
        seqs, streams, given = self.found
        told: list[Clock | None] = [None] * len(clocks)
        legacy = {LEGACY, *self._blocking} if self._blocking else set()
        # Streams that know what the host knew, and no more: they need no joining when it knows more.
        plain = [True] * len(clocks)
        host, version = self._host, 0
        for seq, kind, stream, number, fence in acts:
            if kind == PASSED:
                known = host
                for clock in self._passed(stream, fence, legacy):
                    known = _joined(known, clock)
                if known is not host:
                    host = known
                    version += 1
                    seqs.append(seq)
                    streams.append(NONE)
                    given.append(host)
                continue
            clock = clocks[stream]
            if seen[stream] != version:
                seen[stream] = version
                clocks[stream] = clock = host if plain[stream] else _joined(clock, host)
                plain[stream] = clock is host
            if stream in legacy:
                clock = self._with_legacy(stream)
                plain[stream] = False
            if kind == LAUNCHED:
                if clock is not told[stream]:
                    if clock != told[stream]:
                        seqs.append(seq)
                        streams.append(stream)
                        given.append(clock)
                    told[stream] = clock
                ordinals[stream] = number
            elif kind == RECORDED:
                if ordinals[stream] < number:
                    ordinals[stream] = number
                if clock[stream] < number:
                    clock = (*clock[:stream], number, *clock[stream + 1 :])
                fences[fence] = records[seq] = clock
            else:
                behind = fences.get(fence) if number == NONE else records.get(number)
                if behind is not None:
                    clocks[stream] = _joined(clock, behind)
                    plain[stream] = False

    def _passed(self, stream: int, fence: int, legacy: set[int]) -> list[Clock]:
        """What is done when the host has learned this."""
        if fence != NONE:
            return [self._fences[fence]] if fence in self._fences else []
        if stream == NONE:
            return [self._done(one) for one in range(self._devices)]
        if stream == LEGACY:
            return [self._done(one) for one in (LEGACY, *self._blocking)]
        if stream in legacy:
            self._with_legacy(stream)
        return [self._done(stream)]

    def _with_legacy(self, stream: int) -> Clock:
        """The clock of the legacy stream, or of a blocking one, with what its rule asks for."""
        others = self._blocking if stream == LEGACY else (LEGACY,)
        clock = self._clock[stream]
        for other in others:
            clock = _joined(clock, self._done(other))
        self._clock[stream] = clock
        return clock

    def _done(self, stream: int) -> Clock:
        """What is done once everything given to `stream` is."""
        clock, last = self._clock[stream], self._launched[stream]
        return clock if clock[stream] >= last else (*clock[:stream], last, *clock[stream + 1 :])


def _joined(clock: Clock, other: Clock) -> Clock:
    """The later of the two in every stream: one of them itself where it is that, the first if both are."""
    if clock is other:
        return clock
    joined = tuple([a if a >= b else b for a, b in zip(clock, other, strict=True)])
    return clock if joined == clock else other if joined == other else joined
