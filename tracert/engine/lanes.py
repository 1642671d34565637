"""A lane is a row of the block table with the pages that its request holds.

Grants lanes, lets them grow, publishes what changed on the transfer stream and takes them back. While a
step is in flight, what is taken back is guarded by the fence behind it. Knows nothing of budgets or order;
the scheduler decides.
"""

from collections.abc import Callable, Sequence

from tracert.device.device import Device, Fence, Stream
from tracert.engine.fronts import Fronts
from tracert.engine.request import Request
from tracert.memory.block_table import BlockTable
from tracert.memory.pool import PagePool
from tracert.memory.stale_pages import StalePages
from tracert.record.recorder import Recorder

Evict = Callable[[int], int]
"""Gives up to so many pages back that no request holds; returns how many."""


class Lanes:
    """Rows and pages of the running requests."""

    def __init__(
        self,
        recorder: Recorder,
        device: Device,
        pool: PagePool,
        table: BlockTable,
        fronts: Fronts,
        compute: Stream,
        transfer: Stream,
        stale: StalePages,
        evict: Sequence[Evict],
    ) -> None:
        """`evict` are asked in this order when pages are short; `stale` is told of what is granted."""
        self._recorder = recorder
        self._device = device
        self._pool = pool
        self._table = table
        self._fronts = fronts
        self._compute = compute
        self._transfer = transfer
        self._stale = stale
        self._page_size = pool.page_size
        self._evict = evict
        self._published = False
        self._flight: Fence | None = None
        self._refused = (0, 0)
        """The request that found no room last, and what the pool had been given back by then."""

    def admit(self, request: Request) -> bool:
        """Give a waiting request a row and pages for all its tokens; False when there is no room.

        One that was refused is not looked up again, which takes long for a long prompt, before somebody has
        given pages back.
        """
        if self._refused == (request.number, self._pool.given_back):
            return False
        front = self._fronts.find(request)
        count = self._pages(request.length) - len(front.pages)
        if not self._make_room(count):
            self._fronts.leave(request, front)
            self._refused = request.number, self._pool.given_back
            return False
        self._fronts.take(request, front, self._grant(request, count, request.length))
        if not request.admitted:
            request.admitted = True
            request.cached_tokens = front.tokens
        request.row = self._table.acquire(request.number)
        self._table.activate(request.row, request.pages, self._pool.lives(request.pages), self._transfer)
        self._published = True
        return True

    def grow(self, request: Request, end: int) -> bool:
        """Pages for the positions before `end`; False when there is no room."""
        count = self._pages(end) - len(request.pages)
        if count <= 0:
            return True
        if not self._make_room(count):
            return False
        pages = self._grant(request, count, end)
        request.pages += pages
        assert request.row is not None
        self._table.extend(request.row, pages, self._pool.lives(pages), self._transfer)
        self._published = True
        return True

    def launched(self, fence: Fence) -> None:
        """A step was launched that uses the lanes; `fence` is behind it."""
        self._flight = fence

    def passed(self, fence: Fence) -> None:
        """The host has seen the fence of a step pass."""
        if self._flight == fence:
            self._flight = None

    def vacate(self, request: Request) -> None:
        """Take the row and the pages back. They are granted again when a step in flight has passed."""
        assert request.row is not None
        if request.transaction is not None:
            self._recorder.transaction(
                "abort", request.transaction, request.lane, request.number, request.computed
            )
            request.transaction = None
        if self._flight is not None:
            # What is published in this row from now on must not reach a step that still follows it.
            self._device.wait(self._transfer, self._flight)
        self._table.release(request.row, self._transfer)
        self._published = True
        shared, own = request.pages[: request.shared], request.pages[request.shared :]
        self._pool.drop(shared, request.holder, "read", fence=self._flight)
        self._pool.drop(own, request.holder, "write", fence=self._flight)
        request.pages, request.shared, request.row = [], 0, None
        self._fronts.let_go(request)

    def order_before(self, compute: Stream) -> None:
        """Let `compute` wait for what was published since the last call."""
        if self._published:
            fence = self._device.record(self._transfer)
            self._device.wait(compute, fence)
            self._table.fenced(fence)
            self._published = False

    def arrive(self, running: Sequence[Request]) -> None:
        """Let those go on whose front has come by now; where none could run without, wait for it."""
        self._fronts.arrive(running, wait=not any(map(self.ready, running)))

    def ready(self, request: Request) -> bool:
        """May the next slice of the request be launched?"""
        return request.row is not None and not request.copy

    def _pages(self, tokens: int) -> int:
        return -(-tokens // self._page_size)

    def _grant(self, request: Request, count: int, end: int) -> list[int]:
        """So many pages, the last of which gets the position before `end`, fit to be used."""
        pages = self._pool.alloc(count, request.holder)
        on_last = end - (self._pages(end) - 1) * self._page_size
        self._stale.granted(pages, self._pool.lives(pages), on_last, self._compute)
        return pages

    def _make_room(self, count: int) -> bool:
        """Are there `count` pages to grant, once what may go is gone?"""
        pool = self._pool
        if pool.available() < count:
            pool.reclaim(self._device.query)
        for evict in self._evict:
            missing = count - pool.available() - pool.counts().retired
            if missing > 0:
                evict(missing)
        # The host waits last, for a step in flight; for all else it is enough that the device does.
        for passed in (self._device.query, self._order, self._wait):
            if pool.available() < count <= pool.available() + pool.counts().retired:
                pool.reclaim(passed)
        return pool.available() >= count

    def _order(self, fence: Fence) -> bool:
        """Let what uses a page next, which is all launched on or behind `compute`, come behind the fence."""
        if fence.stream == self._compute.id:
            return False
        self._device.wait(self._compute, fence)
        return True

    def _wait(self, fence: Fence) -> bool:
        self._device.sync(fence)
        return True
