"""Copies of a page whose front a request goes on from: at once, or staged over two engine steps.

    direct(source, target, stream)      one launch, before what reads the target on the same stream
    begin(...) -> n                     plan, pin, launch on another stream; the request waits
    finish(n)                           a step later: the host knows that it has executed, pins go

What is planned is the positions that the request needs; what is copied is the whole page, since kernels copy
whole pages. So a source must not be written while it is copied, not even behind the planned positions: a
staged copy is launched after what was launched on the stream that writes pages, both pages are held by
`transfer:<n>` until the host knows that it has executed, and who appends to a page calls `order_before`.

Knows nothing of tokens, or of why a page is copied.
"""

from typing import NamedTuple

from tracert.device.device import Device, Fence, Kernel, Stream
from tracert.memory.arena import Arena
from tracert.memory.errors import InvariantError
from tracert.memory.pool import PagePool
from tracert.record.access import Extent, Holder
from tracert.record.recorder import Recorder


class StagedCopy(NamedTuple):
    """A copy that was launched: `fence` is behind it."""

    request: int
    source: Extent
    target: Extent
    fence: Fence


class TailCopies:
    """Copies pages of `arena` by `kernel(bytes, source pages, target pages)`."""

    def __init__(
        self, recorder: Recorder, device: Device, pool: PagePool, arena: Arena, kernel: Kernel
    ) -> None:
        self._recorder = recorder
        self._device = device
        self._pool = pool
        self._arena = arena
        self._kernel = kernel
        self._numbers = 0
        self._staged: dict[int, StagedCopy] = {}

    def __len__(self) -> int:
        """How many staged copies are pending."""
        return len(self._staged)

    def direct(self, source: Extent, target: Extent, stream: Stream) -> Fence:
        """Copy on the stream that goes on with the target. The fence guards the source when it is dropped."""
        return self._launch(source, target, stream)

    def begin(self, request: int, source: Extent, target: Extent, stream: Stream, writer: Stream) -> int:
        """Pin both pages and launch the copy on `stream`, behind what `writer` has to do by now.

        The request holds both pages already. Nothing may be launched on the target before `finish`.
        """
        self._numbers += 1
        number = self._numbers
        self._recorder.copy_plan(number, [source], [target])
        self._pool.hold([source.page, target.page], Holder("transfer", number), "read")
        self._device.wait(stream, self._device.record(writer))
        fence = self._launch(source, target, stream)
        if "write" in self._pool.holders(source.page).values():
            # Somebody goes on in the source, and what it writes next must come behind the copy.
            self._device.wait(writer, fence)
        self._staged[number] = StagedCopy(request, source, target, fence)
        return number

    def finish(self, number: int, *, wait: bool = False) -> bool:
        """Unpin a staged copy that has executed; False when it has not, unless told to `wait` for it."""
        copy = self._staged.get(number)
        if copy is None:
            return True
        if not self._device.query(copy.fence):
            if not wait:
                return False
            self._device.sync(copy.fence)
        del self._staged[number]
        self._recorder.copy_done(number, [copy.source], [copy.target])
        self._pool.drop([copy.source.page, copy.target.page], Holder("transfer", number), "read")
        return True

    def settle(self, *, wait: bool = False) -> None:
        """`finish` every staged copy, the oldest first."""
        for number in list(self._staged):
            self.finish(number, wait=wait)

    def pending(self, number: int) -> bool:
        """Does the host not know yet that the copy has executed?"""
        return number in self._staged

    def order_before(self, page: int, stream: Stream) -> None:
        """Later launches on `stream` may write `page`, behind what is planned: its copies come first."""
        for copy in self._staged.values():
            if copy.source.page == page:
                self._device.wait(stream, copy.fence)

    def claims(self) -> dict[Holder, list[int]]:
        """The pages that each staged copy says are its."""
        return {
            Holder("transfer", number): [copy.source.page, copy.target.page]
            for number, copy in self._staged.items()
        }

    def check(self) -> None:
        """InvariantError when a page of a staged copy is not pinned in the life that was planned."""
        wrong: list[str] = []
        for number, copy in self._staged.items():
            for extent in (copy.source, copy.target):
                if self._pool.holders(extent.page).get(Holder("transfer", number)) != "read":
                    wrong.append(f"copy {number} does not hold page {extent.page}")
                if self._pool.lives([extent.page]) != [extent.life]:
                    wrong.append(
                        f"copy {number} has page {extent.page} in life {extent.life}, which has ended"
                    )
        if wrong:
            raise InvariantError("staged copies contradict the pool: " + "; ".join(wrong))

    def _launch(self, source: Extent, target: Extent, stream: Stream) -> Fence:
        whole = [Extent(planned.page, planned.life, 0, self._pool.page_size) for planned in (source, target)]
        self._arena.copy_pages(self._kernel, whole[:1], whole[1:], stream)
        fence = self._device.record(stream)
        self._arena.fenced(fence)
        return fence
