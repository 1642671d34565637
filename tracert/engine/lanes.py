"""A lane is a row of the block table with the pages that its request holds.

Grants lanes, lets them grow, publishes what changed on the transfer stream and takes them back. Knows
nothing of budgets or order; the scheduler decides.
"""

from tracert.device.device import Device, Stream
from tracert.engine.request import Request
from tracert.memory.block_table import BlockTable
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import PrefixCache


class Lanes:
    """Rows and pages of the running requests."""

    def __init__(
        self,
        device: Device,
        pool: PagePool,
        table: BlockTable,
        cache: PrefixCache,
        transfer: Stream,
        page_size: int,
    ) -> None:
        self._device = device
        self._pool = pool
        self._table = table
        self._cache = cache
        self._transfer = transfer
        self._page_size = page_size
        self._published = False

    def admit(self, request: Request) -> bool:
        """Give a waiting request a row and pages for all its tokens; False when there is no room."""
        match = self._cache.match(request.number, request.tokens, request.identity)
        self._pool.hold(match.pages, request.holder, "read")
        count = self._pages(len(request.tokens)) - len(match.pages)
        if not self._make_room(count):
            self._pool.drop(match.pages, request.holder, "read")
            return False
        request.pages = [*match.pages, *self._pool.alloc(count, request.holder)]
        request.shared = len(match.pages)
        request.computed = match.hit_tokens
        if not request.admitted:
            request.admitted = True
            request.cached_tokens = match.hit_tokens
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
        pages = self._pool.alloc(count, request.holder)
        request.pages += pages
        assert request.row is not None
        self._table.extend(request.row, pages, self._pool.lives(pages), self._transfer)
        self._published = True
        return True

    def vacate(self, request: Request) -> None:
        """Take the row and the pages back. The host has seen every launch that used them end."""
        assert request.row is not None
        self._table.release(request.row, self._transfer)
        self._published = True
        self._pool.drop(request.pages[: request.shared], request.holder, "read")
        self._pool.drop(request.pages[request.shared :], request.holder, "write")
        request.pages, request.shared, request.row = [], 0, None

    def order_before(self, compute: Stream) -> None:
        """Let `compute` wait for what was published since the last call."""
        if self._published:
            fence = self._device.record(self._transfer)
            self._device.wait(compute, fence)
            self._table.fenced(fence)
            self._published = False

    def keep(self, request: Request) -> None:
        """Offer the request's full pages to the prefix cache."""
        self._cache.insert(request.number, request.tokens, request.pages, request.identity, request.computed)

    def _pages(self, tokens: int) -> int:
        return -(-tokens // self._page_size)

    def _make_room(self, count: int) -> bool:
        missing = count - self._pool.available()
        if missing > 0:
            self._cache.evict(missing)
        return self._pool.available() >= count
