"""What keeps the bytes of a page's earlier lives from those who get it: `--stale-pages`.

    inert        nothing is cleared: kernels touch the positions of tokens only
    zero         a page that may hold other bytes is set to zero before anything else is launched on it
    clear-tail   the positions past a request's end are set to zero when it is granted, or has a copy of, a
                 page filled in part

A page was written in an earlier life unless this is its first: the arena is cleared at start. The last two
are for kernels that cover whole pages, which load what lies past the end and rely on its being finite. They
clear on the stream that the caller names, the one that writes pages; who writes them on another one waits
for it. With clear-tail, no launch may cover a page as a whole that its request has yet to fill.

Knows nothing of requests, or of why a page is granted.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from tracert.device.device import Device, Kernel, Launch, Stream
from tracert.memory.arena import Arena
from tracert.record.access import Covers

StalePagesKind = Literal["inert", "zero", "clear-tail"]


class StalePages(Protocol):
    """One of the policies. `covers` is the cover of the kernels that it goes with."""

    covers: Covers

    def granted(self, pages: Sequence[int], lives: Sequence[int], end: int, stream: Stream) -> Launch | None:
        """Pages were granted, and nothing is launched on them; the last gets `end` positions at first."""

    def restored(self, page: int, life: int, end: int, stream: Stream) -> Launch | None:
        """A whole page was copied to this one, of which the request has the first `end` positions."""


class InertPages:
    """Whatever lies in dead positions stays there."""

    covers: Covers = "valid"

    def granted(self, pages: Sequence[int], lives: Sequence[int], end: int, stream: Stream) -> None:
        """Nothing."""

    def restored(self, page: int, life: int, end: int, stream: Stream) -> None:
        """Nothing."""


class ZeroPages:
    """Clears pages of `arena` by `kernel(bytes, pages)`."""

    covers: Covers = "page"

    def __init__(self, device: Device, arena: Arena, kernel: Kernel) -> None:
        self._device = device
        self._arena = arena
        self._kernel = kernel

    def granted(self, pages: Sequence[int], lives: Sequence[int], end: int, stream: Stream) -> Launch | None:
        """Clear those of an earlier life."""
        stale = [(page, life) for page, life in zip(pages, lives, strict=True) if life > 1]
        if not stale:
            return None
        launch = self._arena.clear_pages(
            self._kernel, [page for page, _ in stale], [life for _, life in stale], stream
        )
        self._arena.fenced(self._device.record(stream))
        return launch

    def restored(self, page: int, life: int, end: int, stream: Stream) -> None:
        """Nothing: the copied page was as clean as those that were granted."""


class ClearTails:
    """Clears positions of `arena` by `kernel(cache, pages, first positions)`."""

    covers: Covers = "page"

    def __init__(self, device: Device, arena: Arena, kernel: Kernel) -> None:
        self._device = device
        self._arena = arena
        self._kernel = kernel

    def granted(self, pages: Sequence[int], lives: Sequence[int], end: int, stream: Stream) -> Launch | None:
        """Clear the last page from `end` on, when it had an earlier life."""
        return self.restored(pages[-1], lives[-1], end, stream) if pages and lives[-1] > 1 else None

    def restored(self, page: int, life: int, end: int, stream: Stream) -> Launch | None:
        """Clear the page from `end` on: the copy has what the source had there."""
        if end >= self._arena.layout.page_size:
            return None
        launch = self._arena.clear_positions(self._kernel, [page], [life], [end], stream)
        self._arena.fenced(self._device.record(stream))
        return launch


def open_policy(
    kind: StalePagesKind, device: Device, arena: Arena, clear_pages: Kernel, clear_positions: Kernel
) -> StalePages:
    """The policy of that name."""
    if kind == "zero":
        return ZeroPages(device, arena, clear_pages)
    if kind == "clear-tail":
        return ClearTails(device, arena, clear_positions)
    return InertPages()
