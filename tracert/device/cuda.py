"""A CUDA device through torch.cuda, behind the same door as the simulated one.

Streams are torch's, which do not block; the legacy stream is torch's default stream, and a blocking
stream is made by the CUDA runtime. Fences are events. Kernels run under their launch's stream; of their
arguments, `Memory` arrives as tensors, a pinned host tensor as it is, to be read when the copy executes,
and any other host tensor (also inside a tuple of tensors) as a copy on the device, taken at the launch.

What the hardware does differently from the simulated device: a fault can also be told by a launch or any
other call after it; code and name are CUDA's. An exception out of a kernel function that is not CUDA's,
such as a wrong shape, is raised by the launch itself, for nothing was launched. A launch that misses its
deadline cannot be taken back, so every error leaves the device `unusable`. The schedule is the
hardware's and cannot be repeated.

Progress words: the device counts in memory of its own and copies into pinned memory, before and after
each launch; this process brings them to where they were asked for in `launch`, `query`, each synchronise and
`progress`.

Importable without CUDA; ValueError from the constructor when there is none.
"""

import ctypes
import re
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch

from tracert.device.device import DeviceError, Fence, Kernel, Launch, Memory, Progress, Stream
from tracert.record.access import Access
from tracert.record.recorder import Recorder

POLL_SECONDS = 50e-6
SPIN_SECONDS = 2e-3
"""A synchronise asks without pause for so long, then at every POLL_SECONDS."""

cuda: Any = torch.cuda
"""Without types: torch gives its streams and events none."""

_NAME = re.compile(r"cudaError[A-Za-z]+")


@dataclass(slots=True, eq=False)
class _Queue:
    """A stream: CUDA's handle, and started and finished as counted on the device and seen by the host."""

    stream: Stream
    handle: Any
    words: memoryview
    counts: torch.Tensor
    seen: torch.Tensor

    def mark(self, word: int, ordinal: int) -> None:
        """Let the device write started (0) or finished (1) when it gets there."""
        part = slice(word, word + 1)
        self.counts[part].fill_(ordinal)
        self.seen[part].copy_(self.counts[part], non_blocking=True)

    def bring(self) -> None:
        """Bring what the device has written to where it was asked for."""
        self.words[1], self.words[2] = self.seen.tolist()


class _Event(NamedTuple):
    device: "CudaDevice"
    event: Any


class CudaDevice:
    """A `Device` on a GPU. Arguments as for `SimDevice`; `index` is torch's."""

    def __init__(
        self,
        recorder: Recorder,
        *,
        index: int = 0,
        hang_seconds: float = 60.0,
        progress: Callable[[int], memoryview] | None = None,
    ) -> None:
        if index >= cuda.device_count():
            raise ValueError(f"no CUDA device {index}: {cuda.device_count()} found")
        self.name = f"cuda:{index} {cuda.get_device_name(index)}"
        self.state: Literal["ok", "drained", "unusable"] = "ok"
        self._recorder = recorder
        self._where = torch.device("cuda", index)
        self._hang_seconds = hang_seconds
        self._progress = progress
        self._launches = 0
        self._fences = 0
        self._failure: dict[str, Any] | None = None
        self._queues: list[_Queue] = []
        self._memory: list[torch.Tensor] = []
        """All that was allocated: torch would grant it again while other streams still use it."""
        self._reader = cuda.Stream(self._where)
        """Reads order themselves with nothing, as the contract has it."""
        self.legacy = self._add("legacy", cuda.default_stream(self._where), blocking=True)

    def stream(self, name: str, *, blocking: bool = False) -> Stream:
        """A new stream, non-blocking unless said."""
        with self._telling(None, "stream"):
            handle = self._blocking_stream() if blocking else cuda.Stream(self._where)
            return self._add(name, handle, blocking=blocking)

    def streams(self) -> list[Stream]:
        """All streams, the legacy one first; also after a fault."""
        return [queue.stream for queue in self._queues]

    def allocate(self, nbytes: int) -> Memory:
        """`nbytes` of device memory, with undefined contents. MemoryError when there is no room."""
        with self._telling(None, "allocate"):
            try:
                tensor = torch.empty(nbytes, dtype=torch.uint8, device=self._where)
                self._memory.append(tensor)
                return Memory(tensor)
            except torch.OutOfMemoryError:
                free, total = cuda.mem_get_info(self._where)
        raise MemoryError(f"device memory: {nbytes} bytes asked for, {free} of {total} left")

    def pinned(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Page-locked host memory, zeroed, that copies read when they execute."""
        with self._telling(None, "pinned"):
            return torch.zeros(shape, dtype=dtype, pin_memory=True)

    def launch(self, stream: Stream, kernel: Kernel, *args: Any, access: Access) -> Launch:
        """Enqueue `kernel(*args)`; recorded when its progress mark is enqueued, before the kernel itself."""
        queue = self._queue(stream)
        with self._telling(stream.id, "launch"), cuda.stream(queue.handle):
            placed = [self._place(arg) for arg in args]
            ordinal = queue.words[0] + 1
            queue.mark(0, ordinal)
            self._launches += 1
            queue.words[0] = ordinal
            launch = Launch(self._launches, stream.id, ordinal)
            self._recorder.launch(launch.id, stream.id, ordinal, kernel.__name__, access)
            kernel(*placed)
            queue.mark(1, ordinal)
            queue.bring()
        return launch

    def upcoming(self) -> int:
        """The number that the next launch will get."""
        return self._launches + 1

    def record(self, stream: Stream) -> Fence:
        """A fence after everything launched on `stream` so far."""
        queue = self._queue(stream)
        with self._telling(stream.id, "record"):
            event = cuda.Event()
            event.record(queue.handle)
        self._fences += 1
        ordinal = queue.words[0]
        seq = self._recorder.fence_record(self._fences, stream.id, ordinal)
        return Fence(self._fences, stream.id, ordinal, seq, _Event(self, event))

    def wait(self, stream: Stream, fence: Fence) -> None:
        """Later launches on `stream` start after `fence` has passed."""
        queue, event = self._queue(stream), self._event(fence)
        with self._telling(stream.id, "wait"):
            queue.handle.wait_event(event)
        self._recorder.fence_wait(fence.id, stream.id, fence.seq)

    def query(self, fence: Fence) -> bool:
        """Has the fence passed? A yes is recorded."""
        event = self._event(fence)
        with self._telling(fence.stream, "query"):
            passed = bool(event.query())
            self._bring()
        if passed:
            self._recorder.fence_passed(fence=fence.id)
        return passed

    def sync(self, fence: Fence) -> None:
        """Wait for the fence."""
        self._until([self._event(fence)], fence.stream, "sync", {"fence": fence.id})
        self._recorder.fence_passed(fence=fence.id)

    def sync_stream(self, stream: Stream) -> None:
        """Wait for everything launched on the stream; on the legacy stream, on all blocking ones."""
        queue = self._queue(stream)
        self._until([queue], stream.id, "sync_stream", {"stream": stream.id})
        self._recorder.fence_passed(stream=stream.id)

    def sync_all(self) -> None:
        """Wait for everything launched."""
        self._until(self._queues, None, "sync_all", {"device": True})
        self._recorder.fence_passed(device=True)

    def read(self, memory: Memory) -> torch.Tensor:
        """A host copy of device memory, as it is now."""
        with self._telling(None, "read"), cuda.stream(self._reader):
            return memory._tensor.cpu()

    def progress(self) -> dict[int, Progress]:
        """Progress words of each stream; also after a fault."""
        self._bring()
        return {queue.stream.id: Progress(*queue.words[:3]) for queue in self._queues}

    def schedule_string(self) -> str:
        """Empty: the hardware's order is not known."""
        return ""

    def _add(self, name: str, handle: Any, *, blocking: bool) -> Stream:
        stream = Stream(len(self._queues), name, blocking)
        words = self._progress(stream.id) if self._progress else memoryview(array("Q", (0, 0, 0)))
        with cuda.stream(handle):
            counts = torch.zeros(2, dtype=torch.int64, device=self._where)
        seen = torch.zeros(2, dtype=torch.int64, pin_memory=True)
        self._queues.append(_Queue(stream, handle, words, counts, seen))
        return stream

    def _blocking_stream(self) -> Any:
        """A stream with the runtime's default flags: it orders itself with the legacy stream."""
        pointer = ctypes.c_void_p()
        with cuda.device(self._where):
            code = cuda.cudart().cudaStreamCreate(ctypes.addressof(pointer))
            cuda.check_error(int(code))
        return cuda.ExternalStream(pointer.value or 0, device=self._where)

    def _queue(self, stream: Stream) -> _Queue:
        if stream.id >= len(self._queues) or self._queues[stream.id].stream != stream:
            raise ValueError(f"stream {stream.id} ({stream.name}) is not of this device")
        return self._queues[stream.id]

    def _event(self, fence: Fence) -> Any:
        if not isinstance(fence.handle, _Event) or fence.handle.device is not self:
            raise ValueError(f"fence {fence.id} is not of this device")
        return fence.handle.event

    def _place(self, arg: Any) -> Any:
        """An argument as the kernel gets it: see the module."""
        if isinstance(arg, Memory):
            return arg._tensor
        if isinstance(arg, torch.Tensor) and arg.device.type == "cpu" and not arg.is_pinned():
            return arg.to(self._where, non_blocking=True)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return type(arg)(*(self._place(part) for part in arg))
        if isinstance(arg, (list, tuple)):
            return type(arg)(self._place(part) for part in arg)
        return arg

    def _until(
        self,
        targets: list[Any],
        stream: int | None,
        observed_at: str,
        target: dict[str, Any],
    ) -> None:
        """Ask until every event, or a new one on every queue, has passed, or the deadline."""
        began = time.monotonic()
        with self._telling(stream, observed_at):
            for each in targets:
                event = each.handle.record_event() if isinstance(each, _Queue) else each
                while not event.query():
                    waited = time.monotonic() - began
                    if waited >= self._hang_seconds:
                        message = "the launch timed out and was terminated"
                        detail = {"timed_out_on": target}
                        self._fail(702, "LAUNCH_TIMEOUT", message, stream, observed_at, detail)
                    time.sleep(0 if waited < SPIN_SECONDS else POLL_SECONDS)
        self._bring()

    def _bring(self) -> None:
        for queue in self._queues:
            queue.bring()

    @contextmanager
    def _telling(self, stream: int | None, observed_at: str) -> Iterator[None]:
        """Turn CUDA's errors inside into one DeviceError, which every later call raises again."""
        if self._failure is not None:
            raise DeviceError(**self._failure)
        code, name, message = 0, "", ""
        try:
            yield
        except RuntimeError as error:
            if isinstance(error, DeviceError) or not is_cuda(error):
                raise
            code, name, message = describe(error)
        if code:
            self._fail(code, name, message, stream, observed_at, {})

    def _fail(
        self,
        code: int,
        name: str,
        message: str,
        stream: int | None,
        observed_at: str,
        detail: dict[str, Any],
    ) -> None:
        self.state = "unusable"
        self._failure = {
            "code": code,
            "name": name,
            "message": message,
            "stream": stream,
            "observed_at": observed_at,
            "detail": detail,
        }
        raise DeviceError(**self._failure) from None


def is_cuda(error: RuntimeError) -> bool:
    """Is it the device's error, and not one of the call?"""
    text = str(error)
    return isinstance(error, torch.AcceleratorError) or "CUDA error" in text or "Triton Error [CUDA]" in text


def describe(error: RuntimeError) -> tuple[int, str, str]:
    """CUDA's code, name and first line; 999 `cudaErrorUnknown` where torch does not say."""
    text = str(error)
    found = _NAME.search(text)
    code = int(getattr(error, "error_code", 0) or 999)
    line = text.splitlines()[0] if text else ""
    message = line.removeprefix("CUDA error: ").removeprefix("Triton Error [CUDA]: ")
    return code, found.group() if found else "cudaErrorUnknown", message
