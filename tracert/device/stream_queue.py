"""The queue of one simulated stream: what was submitted, in order, and what stands in the way of its head.

Knows nothing of schedules, faults or recording. An entry is a launch, the record of a fence, or the wait
for one. Records and waits cost the device no step: they are consumed as soon as they are at the head and
may pass. `submitted` and `completed` count entries of all three sorts.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tracert.device.device import Kernel, Progress, Stream


class Mark:
    """What a fence points at: has it passed, and if not, on which stream is it still to come?"""

    __slots__ = ("passed", "queue")

    def __init__(self, queue: "StreamQueue", passed: bool) -> None:
        self.queue = queue
        self.passed = passed


Gate = tuple["StreamQueue", int]
"""Another queue, and how many of its entries must be completed first: the legacy stream's implicit order."""


@dataclass(slots=True)
class Run:
    """A launch that has been submitted."""

    launch: int
    ordinal: int
    kernel: Kernel
    args: tuple[Any, ...]
    gates: tuple[Gate, ...] = ()
    awaits: bool = False
    """Some of its arguments are not there before it starts."""


@dataclass(slots=True)
class Record:
    """The point at which a fence passes."""

    mark: Mark
    gates: tuple[Gate, ...] = ()


@dataclass(slots=True)
class Wait:
    """The point behind which nothing starts until a fence has passed."""

    mark: Mark
    gates: tuple[Gate, ...] = ()


Entry = Run | Record | Wait


@dataclass(slots=True, eq=False)
class StreamQueue:
    """One stream's entries, and its progress words `launched, started, finished`."""

    stream: Stream
    words: memoryview
    entries: deque[Entry] = field(default_factory=deque)
    submitted: int = 0
    completed: int = 0
    stalled: bool = False
    """A launch of this stream never returns; nothing behind it starts."""
    starved: bool = False
    """It waits for device memory."""

    @property
    def idle(self) -> bool:
        """Has everything that was submitted been completed?"""
        return self.completed == self.submitted

    def submit(self, entry: Entry) -> None:
        """Put an entry behind all others."""
        self.entries.append(entry)
        self.submitted += 1

    def settle(self) -> bool:
        """Consume the records and waits at the head that may pass. Was there one?"""
        moved = False
        while self.entries and not self.stalled:
            head = self.entries[0]
            if isinstance(head, Run) or self.obstacle() is not None:
                break
            if isinstance(head, Record):
                head.mark.passed = True
            self.entries.popleft()
            self.completed += 1
            moved = True
        return moved

    def obstacle(self) -> "StreamQueue | None":
        """The queue that must move before the head of this one may; None when nothing is in the way."""
        head = self.entries[0]
        for queue, count in head.gates:
            if queue.completed < count:
                return queue
        if isinstance(head, Wait) and not head.mark.passed:
            return head.mark.queue
        return None

    def runnable(self) -> Run | None:
        """The launch at the head, if it may start now."""
        if not self.entries or self.stalled:
            return None
        head = self.entries[0]
        return head if isinstance(head, Run) and self.obstacle() is None else None

    def progress(self) -> Progress:
        """The progress words as they are."""
        return Progress(self.words[0], self.words[1], self.words[2])


def settle(queues: Iterable[StreamQueue]) -> None:
    """Let every record and wait pass that may: one that passes can free another."""
    queues = list(queues)
    while any(queue.settle() for queue in queues):
        pass


def toward(queue: StreamQueue) -> StreamQueue | None:
    """The queue whose launch may run now and brings the head of `queue` nearer; None when none can.

    Fences point backwards in time and so do gates, hence there is no circle to walk in.
    """
    while queue.entries and not queue.stalled:
        if queue.runnable() is not None:
            return queue
        obstacle = queue.obstacle()
        if obstacle is None:
            return None
        queue = obstacle
    return None
