"""Schedules: the order in which the simulated device runs what it is allowed to run.

A schedule is asked in three device calls, `launch`, `query` and `sync`, for one launch at a time: which of
the streams whose head may start runs next, or none, which gives control back to the host. It knows
streams and launch numbers, not kernels or memory, and it cannot break an order that fences make.

* `eager` runs everything that may run, in the order of submission, at once.
* `fifo` keeps the order of submission but runs as late as it can: nothing in a launch, one launch in a
  query (a host that polls gets on), and in a sync as many as it takes.
* `random:SEED` draws, see `Random`.
* `replay:STRING` repeats what a device printed, see `Replay` and `tracert.device.replay`.
"""

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from tracert.device.replay import PREFIX, ScheduleError, decode

Call = Literal["launch", "query", "sync"]

Ready = Mapping[int, int]
"""Streams whose head may start now, by id, and the number of the launch at the head. Never empty."""

Toward = Callable[[int], int | None]
"""A ready stream that brings the head of the given stream nearer; None when the device can't get there."""


class Schedule(Protocol):
    """What the simulated device asks."""

    def begin(self, call: Call) -> None:
        """A device call begins."""

    def pick(self, ready: Ready, toward: Toward) -> int | None:
        """The stream to run next, one of `ready`; None to return to the host, never in a sync."""


class Eager:
    """Everything that may run, in order of submission."""

    def begin(self, call: Call) -> None:
        """Every call is the same."""

    def pick(self, ready: Ready, toward: Toward) -> int | None:
        """The launch that was submitted first."""
        return earliest(ready)


class Fifo:
    """Order of submission, as late as possible."""

    def __init__(self) -> None:
        self._steps: int | None = 0

    def begin(self, call: Call) -> None:
        """A launch runs nothing, a query one launch, a sync as many as it needs."""
        self._steps = {"launch": 0, "query": 1, "sync": None}[call]

    def pick(self, ready: Ready, toward: Toward) -> int | None:
        """The launch that was submitted first, while the call has steps left."""
        if self._steps is not None:
            if self._steps == 0:
                return None
            self._steps -= 1
        return earliest(ready)


class Random:
    """Draws from a seeded generator; the same seed and program give the same order, on any machine.

    Two things have moods, each of a random length. The **device** is idle, slow or quick: in a launch or a
    query it goes on with probability 0, 1/2 or 9/10 before each step (moods of 1 to 64 draws), so it
    falls behind the host by many launches or keeps up. A **stream** is normal or, one mood in three,
    starved: its weight is 1/256 (moods of 1 to 256 draws). Lengths are log-uniform. The next launch is
    drawn by weight among the ready streams, and in a launch or query a starved stream that is drawn runs
    with probability 1/256 only. So a launch that nothing orders can be overtaken by hundreds of others,
    through many synchronises on other streams; a synchronise that needs it still gets there, last of all.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._call: Call = "launch"
        self._quick = _Mood(6)
        self._weights: dict[int, _Mood] = {}

    def begin(self, call: Call) -> None:
        """Only a sync goes on until it is done."""
        self._call = call

    def pick(self, ready: Ready, toward: Toward) -> int | None:
        """A draw by weight, or None."""
        chance = self._random.random
        if self._call != "sync" and chance() >= self._quick.draw(self._random, (0.0, 0.5, 0.9)):
            return None
        moods = [self._weights.setdefault(stream, _Mood(8)) for stream in ready]
        weights = [mood.draw(self._random, (1.0, 1.0, 1 / 256)) for mood in moods]
        stream, weight = self._random.choices(list(zip(ready, weights, strict=True)), weights)[0]
        if self._call != "sync" and weight < 1 and chance() >= weight:
            return None
        return stream


class _Mood:
    """A value that stays for a while: 1 to `2 ** octaves` draws, log-uniform."""

    def __init__(self, octaves: int) -> None:
        self._octaves = octaves
        self._left = 0
        self._value = 0.0

    def draw(self, generator: random.Random, values: tuple[float, ...]) -> float:
        if self._left == 0:
            self._value = values[int(generator.random() * len(values))]
            self._left = int(2 ** (generator.random() * self._octaves))
        self._left -= 1
        return self._value


class Replay:
    """Repeats the order of an earlier run: the same launches, at the same device calls.

    The k-th mention of a stream is its k-th launch. For the program that it was printed for, the run is
    the same, byte for byte (a wall-clock deadline apart). For another one, such as the program with one
    more fence, it stays as near as it may: a launch that must wait is preceded by what it waits for, a
    launch that ran before its turn is passed over, one that isn't there is left out. `diverged` tells the
    first call, counted from 1, at which the program did not fit. Past the end it goes on as `fifo`.
    """

    def __init__(self, calls: list[list[int]]) -> None:
        self.diverged: int | None = None
        self._call = 0
        self._calls = deque(calls)
        self._turns: deque[tuple[int, int]] = deque()
        """The rest of this call: streams, and the count that each is to reach."""
        self._mentioned: dict[int, int] = {}
        self._ran: dict[int, int] = {}
        self._past = Fifo()
        self._ended = False
        self._must = False

    def begin(self, call: Call) -> None:
        """What the last call did not get to is left out."""
        self._call += 1
        if any(self._ran.get(stream, 0) < turn for stream, turn in self._turns):
            self._diverge(self._call - 1)
        self._turns.clear()
        self._ended = not self._calls
        self._must = call == "sync"
        self._past.begin(call)
        if self._ended:
            return
        for stream in self._calls.popleft():
            self._mentioned[stream] = self._mentioned.get(stream, 0) + 1
            self._turns.append((stream, self._mentioned[stream]))

    def pick(self, ready: Ready, toward: Toward) -> int | None:
        """The next turn's stream, or one that it waits for; None when the call has no turns left."""
        stream = self._next(ready, toward)
        if stream is None and (self._ended or self._must):
            if not self._ended:
                self._diverge(self._call)
            stream = self._past.pick(ready, toward)
        if stream is not None:
            self._ran[stream] = self._ran.get(stream, 0) + 1
        return stream

    def _next(self, ready: Ready, toward: Toward) -> int | None:
        while self._turns:
            stream, turn = self._turns[0]
            if self._ran.get(stream, 0) >= turn:
                self._turns.popleft()
                continue
            if stream in ready:
                return stream
            self._diverge(self._call)
            nearer = toward(stream)
            if nearer is not None:
                return nearer
            self._turns.popleft()
        return None

    def _diverge(self, call: int) -> None:
        if self.diverged is None:
            self.diverged = call


def earliest(ready: Ready) -> int:
    """The stream whose head was submitted first."""
    return min(ready, key=lambda stream: ready[stream])


def parse_schedule(text: str) -> Schedule:
    """The schedule that `--schedule TEXT` names. ScheduleError when there is none."""
    if text == "eager":
        return Eager()
    if text == "fifo":
        return Fifo()
    if text.startswith("random:"):
        seed = text.removeprefix("random:")
        if not seed.isascii() or not seed.isdigit() or len(seed) > 18:
            raise ScheduleError(f"schedule {text[:40]!r}: the seed must be a whole number, as in random:7")
        return Random(int(seed))
    if text.startswith(PREFIX):
        return Replay(decode(text))
    raise ScheduleError(f"unknown schedule {text[:40]!r}; use eager, fifo, random:SEED or replay:STRING")
