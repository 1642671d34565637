"""The simulated device: torch on the CPU with the asynchronous semantics of a real one.

Each stream is a queue. A launch runs when the device gets to it and reads memory as it is then: its
arguments are kept by reference, so a pinned staging tensor is read when the copy executes, while plain
numbers are what they were when it was launched. Fences gate the heads of queues. The host learns only
what it synchronised on or queried. The device has no thread: it runs launches inside `launch`, `query`
and the synchronises, as many and in such order as the schedule draws; `record` and `wait` draw nothing,
so that a history with one more fence keeps the rest of its schedule.

Legacy stream: each act in it (launch, record, wait, synchronise) first waits for all that blocking
streams were given before, and what blocking streams are given later waits for it. Streams that do not
block are exempt. The host that synchronises a blocking stream waits for what is *in* it, and for whatever
that waits for: for the legacy stream only if it was given something since. NVIDIA's text, "and then all
blocking streams wait on the legacy stream", could be read as more, that an idle one waits at once; who counts
on the weaker reading is right under both, so that is what runs here.

Faults: an exception out of a kernel stops the device at that launch for good. No call tells the host
but a synchronise, a query or a read; from then on every call that touches the device raises the same
DeviceError, 719 LAUNCH_FAILURE, which carries no trace of the kernel or its exception. `streams`,
`progress`, `schedule_string` and `state` go on answering.

Deadlines: a synchronise gives up when nothing can run any more (a launch hangs, see `Stall`) or after
`hang_seconds` of wall time, with 702 LAUNCH_TIMEOUT, as sticky as the other. Whatever can still run then
is run. Where a launch waits for device memory that nothing gives back, the device notices by itself that
nothing moves: 507018 AICPU_EXCEPTION, as generic as the other two, with its scheduler's codes as detail.

`state`: `ok` until the host learned of an error; then `drained` when everything was run except what
stands in a stream that hangs, else `unusable`. After a fault it is always `unusable`.

It does not know what the launches mean, nor does it record errors: who catches them does.
"""

import time
from array import array
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch

from tracert.device.device import (
    Awaited,
    DeviceError,
    Fence,
    Kernel,
    Launch,
    Memory,
    Progress,
    Stall,
    Starved,
    Stream,
)
from tracert.device.replay import CALL, encode
from tracert.device.schedule import Call, Eager, Replay, earliest, parse_schedule
from tracert.device.stream_queue import Gate, Mark, Record, Run, StreamQueue, Wait, settle, toward
from tracert.record.access import Access
from tracert.record.recorder import Recorder

GARBAGE = 0xCB
"""Every byte of fresh memory: as an index out of any range, as a float an improbable -2.7e7."""

STARVED = {"orch_error_code": 2, "sched_error_code": 0, "runtime_status": -2}
"""Codes of a device whose launches wait for memory, as pypto-serving's runtime gives them."""


class _Failure(NamedTuple):
    """The error that the host learned, to raise again at every later call."""

    code: int
    name: str
    message: str
    stream: int | None
    observed_at: str
    detail: dict[str, Any]


class SimDevice:
    """A `Device` on the CPU. `schedule` is written as `--schedule` takes it; `memory_limit` is in bytes.

    `progress` gives each stream, by id, its three progress words (unsigned 64-bit, format `Q`) in memory
    that outlives the device; without it the device has its own. Memory is never given back.
    """

    name = "sim"

    def __init__(
        self,
        recorder: Recorder,
        *,
        schedule: str = "eager",
        memory_limit: int | None = None,
        hang_seconds: float = 60.0,
        progress: Callable[[int], memoryview] | None = None,
    ) -> None:
        self.state: Literal["ok", "drained", "unusable"] = "ok"
        self.debug_exception: Exception | None = None
        """What the kernel raised, by which the device knows its fault. Besides it, only tests may look."""
        self._recorder = recorder
        self._schedule = parse_schedule(schedule)
        self._memory_limit = memory_limit
        self._memory_used = 0
        self._hang_seconds = hang_seconds
        self._progress = progress
        self._queues: list[StreamQueue] = []
        self._launches = 0
        self._fences = 0
        self._failure: _Failure | None = None
        self._trace = array("i")
        self._prompt = isinstance(self._schedule, Eager)
        """Nothing is pending and nothing ever will be: launches may run without queueing."""
        self.legacy = self._add("legacy", blocking=True)

    def stream(self, name: str, *, blocking: bool = False) -> Stream:
        """A new stream, non-blocking unless said."""
        self._check()
        return self._add(name, blocking=blocking)

    def streams(self) -> list[Stream]:
        """All streams, the legacy one first; also after a fault."""
        return [queue.stream for queue in self._queues]

    def allocate(self, nbytes: int) -> Memory:
        """`nbytes` of memory, every byte of it garbage. MemoryError when there is no room."""
        self._check()
        limit = self._memory_limit
        if limit is not None and self._memory_used + nbytes > limit:
            raise MemoryError(
                f"device memory: {nbytes} bytes asked for, {limit - self._memory_used} of {limit} left"
            )
        try:
            tensor = torch.full((nbytes,), GARBAGE, dtype=torch.uint8)
        except RuntimeError:
            raise MemoryError(f"device memory: the host has no {nbytes} bytes to give") from None
        self._memory_used += nbytes
        return Memory(tensor)

    def pinned(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Host memory, zeroed, that copies read when they execute."""
        self._check()
        return torch.zeros(shape, dtype=dtype)

    def launch(self, stream: Stream, kernel: Kernel, *args: Any, access: Access) -> Launch:
        """Enqueue `kernel(*args)`. A `Memory`, or a list or tuple of them, arrives as tensors."""
        if self._failure is not None:
            self._check()
        queue = self._queue(stream)
        self._launches += 1
        ordinal = queue.words[0] + 1
        launch = Launch(self._launches, stream.id, ordinal)
        run = Run(launch.id, ordinal, kernel, tuple([_unwrap(arg) for arg in args]))
        run.awaits = any(type(arg) is Awaited for arg in args)
        if self._prompt:
            queue.words[0] = ordinal
            self._recorder.launch(launch.id, stream.id, ordinal, kernel.__name__, access)
            self._execute(queue, run)
            return launch
        run.gates = self._gates(queue)
        queue.submit(run)
        queue.words[0] = ordinal
        self._recorder.launch(launch.id, stream.id, ordinal, kernel.__name__, access)
        self._advance("launch")
        return launch

    def upcoming(self) -> int:
        """The number that the next launch will get."""
        return self._launches + 1

    def record(self, stream: Stream) -> Fence:
        """A fence after everything launched on `stream` so far."""
        self._check()
        queue = self._queue(stream)
        self._fences += 1
        mark = Mark(queue, passed=self._prompt)
        if not self._prompt:
            queue.submit(Record(mark, self._gates(queue)))
        ordinal = queue.words[0]
        seq = self._recorder.fence_record(self._fences, stream.id, ordinal)
        return Fence(self._fences, stream.id, ordinal, seq, mark)

    def wait(self, stream: Stream, fence: Fence) -> None:
        """Later launches on `stream` start after `fence` has passed."""
        self._check()
        queue = self._queue(stream)
        mark = self._mark(fence)
        if not self._prompt:
            queue.submit(Wait(mark, self._gates(queue)))
        self._recorder.fence_wait(fence.id, stream.id, fence.seq)

    def query(self, fence: Fence) -> bool:
        """Has the fence passed? A yes is recorded."""
        self._check()
        mark = self._mark(fence)
        self._advance("query")
        self._learn(fence.stream, "query")
        if mark.passed:
            self._recorder.fence_passed(fence=fence.id)
        return mark.passed

    def sync(self, fence: Fence) -> None:
        """Run until the fence has passed."""
        self._check()
        mark = self._mark(fence)
        self._until(lambda: mark.passed, fence.stream, "sync", {"fence": fence.id})
        self._recorder.fence_passed(fence=fence.id)

    def sync_stream(self, stream: Stream) -> None:
        """Run until the stream is empty; for the legacy stream, until all blocking streams are.

        A blocking stream that was given nothing since the last legacy launch does not wait for that.
        """
        self._check()
        queues = [self._queue(stream)]
        if stream.id == self.legacy.id:
            queues = [queue for queue in self._queues if queue.stream.blocking]
        self._until(lambda: all(q.idle for q in queues), stream.id, "sync_stream", {"stream": stream.id})
        self._recorder.fence_passed(stream=stream.id)

    def sync_all(self) -> None:
        """Run until every stream is empty."""
        self._check()
        self._until(lambda: all(q.idle for q in self._queues), None, "sync_all", {"device": True})
        self._recorder.fence_passed(device=True)

    def read(self, memory: Memory) -> torch.Tensor:
        """A copy of the memory as it is now; runs nothing. DeviceError after a fault, known or not."""
        self._check()
        self._learn(None, "read")
        return memory._tensor.clone()

    def progress(self) -> dict[int, Progress]:
        """Progress words of each stream; also after a fault."""
        return {queue.stream.id: queue.progress() for queue in self._queues}

    def schedule_string(self) -> str:
        """The order that ran, as `--schedule` takes it, `eager` if that was asked for; also after a fault."""
        return "eager" if isinstance(self._schedule, Eager) else encode(self._trace)

    @property
    def diverged(self) -> int | None:
        """The device call, counted from 1, at which a `replay` did not fit the program; None when it did."""
        return self._schedule.diverged if isinstance(self._schedule, Replay) else None

    def _add(self, name: str, *, blocking: bool) -> Stream:
        stream = Stream(len(self._queues), name, blocking)
        words = self._progress(stream.id) if self._progress else memoryview(array("Q", (0, 0, 0)))
        self._queues.append(StreamQueue(stream, words))
        return stream

    def _queue(self, stream: Stream) -> StreamQueue:
        if stream.id >= len(self._queues) or self._queues[stream.id].stream != stream:
            raise ValueError(f"stream {stream.id} ({stream.name}) is not of this device")
        return self._queues[stream.id]

    def _mark(self, fence: Fence) -> Mark:
        mark = fence.handle
        if not isinstance(mark, Mark) or mark.queue not in self._queues:
            raise ValueError(f"fence {fence.id} is not of this device")
        return mark

    def _gates(self, queue: StreamQueue) -> tuple[Gate, ...]:
        """What the legacy stream's rule puts before the next entry of `queue`."""
        if not queue.stream.blocking:
            return ()
        legacy = self._queues[0]
        if queue is legacy:
            return tuple((q, q.submitted) for q in self._queues if q.stream.blocking and q is not legacy)
        return ((legacy, legacy.submitted),)

    def _check(self) -> None:
        if self._failure is not None:
            code, name, message, stream, observed_at, detail = self._failure
            raise DeviceError(code, name, message, stream=stream, observed_at=observed_at, detail=detail)

    def _learn(self, stream: int | None, observed_at: str) -> None:
        """The host is told of a fault, if there was one: this call and every later one raises."""
        if self.debug_exception is not None:
            self.state = "unusable"
            self._failure = _Failure(
                719, "LAUNCH_FAILURE", "unspecified launch failure", stream, observed_at, {}
            )
            self._check()

    def _ready(self) -> dict[int, int]:
        if self.debug_exception is not None:
            return {}
        settle(self._queues)
        runs = ((queue.stream.id, queue.runnable()) for queue in self._queues)
        return {stream: run.launch for stream, run in runs if run is not None}

    def _toward(self, stream: int) -> int | None:
        if stream >= len(self._queues):
            return None
        queue = toward(self._queues[stream])
        return None if queue is None else queue.stream.id

    def _advance(self, call: Call) -> None:
        """Run what the schedule draws in a call that waits for nothing."""
        if self._prompt:
            return
        self._begin(call)
        while ready := self._ready():
            stream = self._schedule.pick(ready, self._toward)
            if stream is None:
                break
            self._run(stream)

    def _begin(self, call: Call) -> None:
        self._schedule.begin(call)
        self._trace.append(CALL)

    def _run(self, stream: int) -> None:
        queue = self._queues[stream]
        run = queue.entries[0]
        assert isinstance(run, Run)
        self._trace.append(stream)
        if self._execute(queue, run):
            queue.entries.popleft()
            queue.completed += 1

    def _execute(self, queue: StreamQueue, run: Run) -> bool:
        """Run one launch. False when it never ended: it stays where it is, and so does all behind it."""
        if self.debug_exception is not None:
            return False
        words = queue.words
        words[1] = run.ordinal
        try:
            run.kernel(*(_arrived(run.args) if run.awaits else run.args))
        except Stall as stall:
            queue.stalled, queue.starved = True, isinstance(stall, Starved)
        except Exception as error:
            self.debug_exception = error
        else:
            words[2] = run.ordinal
            return True
        if self._prompt:
            self._prompt = False
            queue.submit(run)
        return False

    def _until(
        self, reached: Callable[[], bool], stream: int | None, observed_at: str, target: dict[str, Any]
    ) -> None:
        """Run what the schedule draws until `reached`; DeviceError after a fault or past the deadline."""
        self._begin("sync")
        deadline = time.monotonic() + self._hang_seconds
        ready = self._ready()
        while self.debug_exception is None and not reached():
            if not ready or time.monotonic() >= deadline:
                self._give_up(stream, observed_at, target)
            picked = self._schedule.pick(ready, self._toward)
            assert picked is not None
            self._run(picked)
            ready = self._ready()
        self._learn(stream, observed_at)

    def _give_up(self, stream: int | None, observed_at: str, target: dict[str, Any]) -> None:
        """The deadline has passed: run what can still run, say how the device is left, and raise."""
        deadline = time.monotonic() + self._hang_seconds
        while (ready := self._ready()) and time.monotonic() < deadline:
            self._run(earliest(ready))
        hung = all(queue.idle or queue.stalled for queue in self._queues)
        self.state = "drained" if hung and self.debug_exception is None else "unusable"
        if any(queue.starved for queue in self._queues):
            self._failure = _Failure(
                507018, "AICPU_EXCEPTION", "aicpu exception", stream, observed_at, STARVED
            )
        else:
            message = "the launch timed out and was terminated"
            detail = {"timed_out_on": target}
            self._failure = _Failure(702, "LAUNCH_TIMEOUT", message, stream, observed_at, detail)
        self._check()


def _arrived(args: tuple[Any, ...]) -> list[Any]:
    """The arguments once those that were not there have come."""
    return [_unwrap(arg.arrive()) if type(arg) is Awaited else arg for arg in args]


def _unwrap(arg: Any) -> Any:
    if type(arg) is Memory:
        return arg._tensor
    if type(arg) in (list, tuple) and arg and type(arg[0]) is Memory:
        return [memory._tensor for memory in arg]
    return arg
