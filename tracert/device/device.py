"""The one door to the device: streams, fences, launches and device memory.

Knows nothing of requests. Two devices stand behind this protocol: `SimDevice` (torch on the CPU with
real asynchronous semantics) and `CudaDevice`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import torch

from tracert.record.access import Access

Kernel = Callable[..., None]
"""A function of tensors and plain values that returns nothing: its results are what it writes."""


class Stream(NamedTuple):
    """A queue of launches. Stream 0 is the legacy default stream; it orders itself with blocking ones."""

    id: int
    name: str
    blocking: bool


class Launch(NamedTuple):
    """One submission: `id` counts over the device, `ordinal` within the stream, both from 1."""

    id: int
    stream: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A point in a stream: passed when all launches up to `ordinal` of `stream` have finished."""

    id: int
    stream: int
    ordinal: int
    seq: int
    """The recorder's sequence number of the record of this fence; 0 when recording is off."""
    handle: Any = field(default=None, compare=False, repr=False)


class Stall(Exception):
    """Raised by a kernel that never returns: its stream is parked for good, the others go on.

    Only the simulated device knows it. It stands for a launch that waits for something that never comes;
    the host sees no error, and runs into the deadline of its next synchronise.
    """


class Starved(Stall):
    """The launch waits for device memory, and none of what may still run gives any back."""


class Progress(NamedTuple):
    """A stream's progress words, which outlive the device."""

    launched: int
    started: int
    finished: int


class DeviceError(RuntimeError):
    """The device failed; it surfaces at a later call and names nothing.

    `code` and `name` are the runtime's, `stream` is the stream that was synchronised (not the culprit),
    `observed_at` the call at which the host learned it.
    """

    def __init__(
        self,
        code: int,
        name: str,
        message: str,
        *,
        stream: int | None = None,
        observed_at: str = "",
        detail: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.message = message
        self.stream = stream
        self.observed_at = observed_at
        self.detail = detail or {}


@dataclass(frozen=True, slots=True)
class Memory:
    """A handle to device memory. The host cannot look inside: launches and `Device.read` can."""

    _tensor: torch.Tensor = field(repr=False)

    def view(self, dtype: torch.dtype, shape: tuple[int, ...], offset: int = 0) -> "Memory":
        """A typed view of the same bytes, `offset` bytes from the start. ValueError when it does not fit."""
        raw = self._tensor.view(torch.uint8).reshape(-1)
        size = torch.tensor([], dtype=dtype).element_size()
        for extent in shape:
            size *= extent
        if offset < 0 or offset + size > raw.numel():
            raise ValueError(f"view of {size} bytes at {offset} exceeds the {raw.numel()} bytes allocated")
        return Memory(raw[offset : offset + size].view(dtype).reshape(shape))


class Awaited:
    """An argument that is not there yet: the device waits for it when the launch starts.

    Only the simulated device takes it. `arrive` gives the memory, or raises Starved.
    """

    def __init__(self, arrive: Callable[[], list[Memory]]) -> None:
        self.arrive = arrive


class Device(Protocol):
    """What the runtime may ask of a device. A stream never has a default."""

    name: str
    state: Literal["ok", "drained", "unusable"]
    legacy: Stream

    def stream(self, name: str, *, blocking: bool = False) -> Stream:
        """A new stream, non-blocking unless said."""

    def streams(self) -> list[Stream]:
        """All streams, the legacy one first."""

    def allocate(self, nbytes: int) -> Memory:
        """`nbytes` of device memory, with undefined contents. MemoryError when there is no room."""

    def pinned(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Host memory that copies read when they execute, not when they are launched."""

    def launch(self, stream: Stream, kernel: Kernel, *args: Any, access: Access) -> Launch:
        """Enqueue `kernel(*args)`; `Memory` arguments arrive as tensors, host tensors by reference."""

    def upcoming(self) -> int:
        """The number that the next launch will get: what is planned for it can be told before it starts."""

    def record(self, stream: Stream) -> Fence:
        """A fence after everything launched on `stream` so far."""

    def wait(self, stream: Stream, fence: Fence) -> None:
        """Later launches on `stream` start after `fence` has passed."""

    def query(self, fence: Fence) -> bool:
        """Has the fence passed? A yes is recorded: the host has learned it."""

    def sync(self, fence: Fence) -> None:
        """Wait for the fence. DeviceError when the device failed or the deadline passed."""

    def sync_stream(self, stream: Stream) -> None:
        """Wait for everything launched on the stream."""

    def sync_all(self) -> None:
        """Wait for everything launched."""

    def read(self, memory: Memory) -> torch.Tensor:
        """A host copy of device memory, as it is now: synchronise first. DeviceError after a fault."""

    def progress(self) -> dict[int, Progress]:
        """Progress words of each stream; readable after any fault."""

    def schedule_string(self) -> str:
        """The schedule that ran, in the form that `--schedule` takes."""
