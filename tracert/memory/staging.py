"""Pinned staging buffers: what the host writes, and a copy reads when it executes, not when it is launched.

A buffer may be written again only after the copy that reads it has executed. So the ring hands out
its oldest buffer once a fence behind its copy has passed, and otherwise a new one: it never waits
while it may grow. The life of a buffer is

    take() -> write(buffer, values) -> launch of the copy -> launched(buffer, launch)
           -> fenced(fence) -> the fence passes -> take() again

`fenced` is called once a step, with one fence for all copies before it on its stream. A buffer that
no fence covers is never taken again: forgetting the call costs memory, not correctness.
Knows nothing of rows or pages.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tracert.device.device import Device, Fence, Launch
from tracert.record.recorder import Recorder


@dataclass(slots=True, eq=False)
class StagingBuffer:
    """`width` int32 of pinned memory; `host` is the same memory as a numpy array."""

    id: int
    tensor: torch.Tensor
    host: Any
    launch: Launch | None = None
    fence: Fence | None = None


class StagingRing:
    """Buffers of `width` int32 each, numbered from `first_id`; up to `limit` before it waits for one.

    The limit gives way when the oldest buffer has no fence yet, since there is nothing to wait for.
    """

    def __init__(
        self, recorder: Recorder, device: Device, width: int, *, limit: int = 64, first_id: int = 1
    ) -> None:
        self.width = width
        self._recorder = recorder
        self._device = device
        self._limit = limit
        self._first_id = first_id
        self._made = 0
        self._busy: deque[StagingBuffer] = deque()
        self._passed: dict[int, int] = {}

    def __len__(self) -> int:
        """Buffers made so far."""
        return self._made

    def take(self) -> StagingBuffer:
        """A buffer that no copy reads any more: the oldest when its fence has passed, or else a new one."""
        oldest = self._busy[0] if self._busy else None
        if oldest is None or oldest.fence is None:
            return self._grow()
        if not self._has_passed(oldest.fence):
            if self._made < self._limit:
                return self._grow()
            self._device.sync(oldest.fence)
            self._passed[oldest.fence.stream] = oldest.fence.ordinal
        self._busy.popleft()
        oldest.launch = oldest.fence = None
        return oldest

    def write(self, buffer: StagingBuffer, values: Sequence[int]) -> None:
        """The host writes `values` (at most `width`) to the front of the buffer."""
        buffer.host[: len(values)] = values
        self._recorder.stage(buffer.id, 4 * len(values))

    def launched(self, buffer: StagingBuffer, launch: Launch) -> None:
        """`launch` is the copy that reads the buffer."""
        buffer.launch = launch
        self._busy.append(buffer)

    def fenced(self, fence: Fence) -> None:
        """`fence` guards the buffers of every earlier copy on its stream that has no fence yet."""
        for buffer in reversed(self._busy):
            launch = buffer.launch
            if launch is None or launch.stream != fence.stream or launch.ordinal > fence.ordinal:
                continue
            if buffer.fence is not None:
                break
            buffer.fence = fence

    def _has_passed(self, fence: Fence) -> bool:
        if fence.ordinal <= self._passed.get(fence.stream, -1):
            return True
        if not self._device.query(fence):
            return False
        self._passed[fence.stream] = fence.ordinal
        return True

    def _grow(self) -> StagingBuffer:
        tensor = self._device.pinned((self.width,), torch.int32)
        buffer = StagingBuffer(self._first_id + self._made, tensor, tensor.numpy())
        self._made += 1
        return buffer
