"""Schedules: the order in which the simulated device runs what it is allowed to run.

A schedule is asked in three device calls, `launch`, `query` and `sync`, and each time for one launch at a
time: which of the streams whose head may start runs next, or none, which gives control back to the host.
It knows streams and launch numbers, not kernels or memory.

* `eager` runs everything that may run, in the order of submission, at once.
* `fifo` keeps the order of submission but runs as late as it can: a launch only when a sync needs it or
  one that was submitted later, and one launch a query, so that a host that polls gets on.
"""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

Call = Literal["launch", "query", "sync"]

Ready = Mapping[int, int]
"""Streams whose head may start now, by id, and the number of the launch at the head. Never empty."""

Toward = Callable[[int], int | None]
"""A ready stream that brings the head of the given stream nearer; None when the device can't get there."""


class ScheduleError(ValueError):
    """A schedule that cannot be read, in one line."""


class Schedule(Protocol):
    """What the simulated device asks."""

    def begin(self, call: Call) -> None:
        """A device call begins."""

    def pick(self, ready: Ready, toward: Toward) -> int | None:
        """The stream to run next, one of `ready`; None to return to the host, which a `sync` ignores."""


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
        if self._steps is None:
            return earliest(ready)
        if self._steps == 0:
            return None
        self._steps -= 1
        return earliest(ready)


def earliest(ready: Ready) -> int:
    """The stream whose head was submitted first."""
    return min(ready, key=lambda stream: ready[stream])


def parse_schedule(text: str) -> Schedule:
    """The schedule that `--schedule TEXT` names. ScheduleError when there is none."""
    if text == "eager":
        return Eager()
    if text == "fifo":
        return Fifo()
    raise ScheduleError(f"unknown schedule {text!r}; use eager or fifo")
