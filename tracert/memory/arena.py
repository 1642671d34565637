"""The bytes that pages are made of: one allocation, and typed views of it.

What a page holds is decided by whoever writes it; the arena only allocates, clears and copies, each by
a recorded launch. Knows nothing of holders or lives: extents come with theirs.
"""

from collections.abc import Sequence

import torch

from tracert.device.device import Device, Fence, Kernel, Launch, Memory, Stream
from tracert.memory.errors import LayoutError
from tracert.memory.layout import KvLayout
from tracert.memory.staging import StagingRing
from tracert.record.access import Access, Clear, Copy, Extent
from tracert.record.recorder import Recorder

STAGING_FIRST_ID = 1 << 20
"""Staging buffers of the arena are numbered from here, clear of the block table's."""


def clear_arena(bytes_: torch.Tensor) -> None:
    """Set every byte to 0."""
    bytes_.zero_()


class Arena:
    """`bytes` is uint8 [pages, page_bytes]; `cache` the same memory as `layout.shape` in `layout.dtype`.

    MemoryError of the device when there is no room. Contents are undefined until `clear_all`.
    """

    def __init__(self, recorder: Recorder, device: Device, layout: KvLayout) -> None:
        self.layout = layout
        memory = device.allocate(layout.nbytes)
        self.bytes: Memory = memory.view(torch.uint8, (layout.pages, layout.page_bytes))
        self.cache: Memory = memory.view(layout.dtype, layout.shape)
        self._device = device
        self._staging = StagingRing(recorder, device, layout.pages, first_id=STAGING_FIRST_ID)

    def clear_all(self, stream: Stream) -> Launch:
        """Zero the whole arena, once at start: every page's content before its first life."""
        target = [Extent(page, 0, 0, self.layout.page_size) for page in range(self.layout.pages)]
        return self._device.launch(stream, clear_arena, self.bytes, access=Clear(target))

    def clear_pages(
        self, kernel: Kernel, pages: Sequence[int], lives: Sequence[int], stream: Stream
    ) -> Launch:
        """Zero whole pages by `kernel(bytes, pages)`."""
        target = self._extents(pages, lives)
        return self._staged(stream, kernel, self.bytes, [pages], Clear(target))

    def clear_positions(
        self, kernel: Kernel, pages: Sequence[int], lives: Sequence[int], first: Sequence[int], stream: Stream
    ) -> Launch:
        """Zero the positions of each page from its `first` on, by `kernel(cache, pages, first)`."""
        size = self.layout.page_size
        target = [Extent(*each, size) for each in zip(pages, lives, first, strict=True)]
        return self._staged(stream, kernel, self.cache, [pages, first], Clear(target))

    def copy_pages(
        self, kernel: Kernel, source: Sequence[Extent], target: Sequence[Extent], stream: Stream
    ) -> Launch:
        """Copy whole pages by `kernel(bytes, source pages, target pages)`.

        Extents must span whole pages, for that is what is copied: LayoutError for others.
        """
        if len(source) != len(target) or any(self._partial(extent) for extent in (*source, *target)):
            raise LayoutError(
                f"copy_pages copies whole pages of {self.layout.page_size} one by one: give it as many full "
                f"extents as sources, not {list(source)} to {list(target)}"
            )
        ids = [[extent.page for extent in extents] for extents in (source, target)]
        return self._staged(stream, kernel, self.bytes, ids, Copy(source, target))

    def fenced(self, fence: Fence) -> None:
        """`fence` is behind the launches so far on its stream: once it passes, their staging is free."""
        self._staging.fenced(fence)

    def _staged(
        self, stream: Stream, kernel: Kernel, memory: Memory, lists: Sequence[Sequence[int]], access: Access
    ) -> Launch:
        """Launch `kernel(memory, *lists)`; each list reaches the device in a staging buffer of its own."""
        buffers = []
        for values in lists:
            buffer = self._staging.take()
            self._staging.write(buffer, values)
            buffers.append(buffer)
        staged = [buffer.tensor[: len(values)] for buffer, values in zip(buffers, lists, strict=True)]
        launch = self._device.launch(stream, kernel, memory, *staged, access=access)
        for buffer in buffers:
            self._staging.launched(buffer, launch)
        return launch

    def _extents(self, pages: Sequence[int], lives: Sequence[int]) -> list[Extent]:
        size = self.layout.page_size
        return [Extent(page, life, 0, size) for page, life in zip(pages, lives, strict=True)]

    def _partial(self, extent: Extent) -> bool:
        return (extent.first, extent.end) != (0, self.layout.page_size)
