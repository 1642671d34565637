"""What a waiting request starts from: the front of its prompt that is computed already, wherever that lies.

    find(request) -> Front     holds what it found; nothing is granted or launched yet
    take(request, front, granted)   launches what fills the granted pages, and settles the holds
    leave(request, front)      there was no room: gives back what `find` held
    arrive(requests, wait)     what `take` launched on other streams has come: they may go on
    let_go(request)            it needs its snapshot no more
    keep(request, computed)    pages that are full by now; with `ended` all that is computed
    forget(request)            what was saved of it must not be used

A front is a retained turn, in whose last page the request goes on, or else pages of the prefix cache, whole
ones to share, and behind them what the host tier has of pages that were evicted, or a tail to copy. Of equal
ones the turn is better, for nothing is copied. A snapshot of the whole prompt is better than both: then
nothing is left to compute, and its state row tells what comes next.

Knows where fronts are kept, not when a request is admitted; rows and streams of publishes are the lanes'.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tracert.device.device import Stream
from tracert.engine.request import Request
from tracert.engine.stores import Stores
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import Tail
from tracert.memory.retained import Retained
from tracert.memory.snapshot_store import SnapshotId
from tracert.record.access import Extent


@dataclass(slots=True)
class Front:
    """`tokens` of a prompt are computed: on `shared` pages, and what `take` fills."""

    tokens: int = 0
    shared: list[int] = field(default_factory=list)
    """Whole pages, held by the request for reading."""
    own: list[int] = field(default_factory=list)
    """Pages after those, held by the request for writing; the last may be partly filled."""
    tail: Tail | None = None
    """A page, held by the request for reading, whose front is to be copied behind them."""
    slots: list[int] = field(default_factory=list)
    """Slots of the host tier, pinned, whose pages come behind the shared ones."""
    snapshot: SnapshotId | None = None
    """The snapshot, pinned, that pages and tail are of; without one, `tokens` are short of the last."""
    turn: Retained | None = None
    """The retained turn that the pages are of."""

    @property
    def pages(self) -> list[int]:
        """What the request has before anything is granted, in order."""
        return self.shared + self.own


class Fronts:
    """The places where fronts of prompts are kept."""

    def __init__(self, pool: PagePool, stores: Stores, compute: Stream) -> None:
        """`compute` writes pages."""
        self._pool = pool
        self._compute = compute
        self._cache = stores.cache
        self._copies = stores.copies
        self._stage_on = stores.stage_on
        self._stale = stores.stale
        self._retained = stores.retained
        self._snapshots = stores.snapshots
        self._host = stores.host

    def find(self, request: Request) -> Front:
        """The best front there is, held by the request so that making room does not take it away."""
        snapshot = self._find_snapshot(request)
        if snapshot is not None:
            return snapshot
        match = self._cache.match(request.number, request.tokens, request.identity)
        slots = self._find_on_host(request, len(match.pages))
        reached = (len(match.pages) + len(slots)) * self._pool.page_size
        turn = self._take_turn(request, max(match.hit_tokens, reached))
        if turn is not None:
            self._unpin(slots)
            whole = turn.computed // self._pool.page_size
            return Front(turn.computed, turn.pages[:whole], turn.pages[whole:], turn=turn)
        self._pool.hold(match.pages, request.holder, "read")
        if slots:
            return Front(reached, match.pages, slots=slots)
        if match.tail is not None:
            self._pool.hold([match.tail.page], request.holder, "read")
        return Front(match.hit_tokens, match.pages, tail=match.tail)

    def take(self, request: Request, front: Front, granted: list[int]) -> None:
        """The request goes on from the front, on `granted` pages behind those that the front has."""
        request.pages = [*front.pages, *granted]
        request.shared = len(front.shared)
        request.computed = front.tokens
        request.copy = 0
        request.snapshot = front.snapshot
        if front.slots and self._host is not None:
            pages = granted[: len(front.slots)]
            self._host.load(front.slots, pages, self._pool.lives(pages))
        if front.tail is not None:
            self._copy(request, front.tail, granted[0])
        for page in front.own:
            self._copies.order_before(page, self._compute)

    def leave(self, request: Request, front: Front) -> None:
        """Give back what `find` held."""
        if front.turn is not None and self._retained is not None:
            self._retained.give_back(front.turn)
        self._unpin(front.slots)
        self._unpin_snapshot(front.snapshot)
        if front.tail is not None:
            self._pool.drop([front.tail.page], request.holder, "read")
        self._pool.drop(front.shared, request.holder, "read")
        self._pool.drop(front.own, request.holder, "write")

    def keep(self, request: Request, computed: int, *, ended: bool = False) -> None:
        """Offer the pages of the request's first `computed` tokens to those that keep fronts."""
        self._cache.insert(
            request.number, request.tokens, request.pages, request.identity, computed, ended=ended
        )
        if ended and self._retained is not None:
            self._retained.keep(request.tokens, request.pages, request.identity, computed)

    def arrive(self, requests: Iterable[Request], *, wait: bool) -> None:
        """Let those go on whose tail has been copied by now; all of them, when told to `wait`."""
        self._copies.settle(wait=wait)
        for request in requests:
            if request.copy and not self._copies.pending(request.copy):
                request.copy = 0
                self._restored(request, request.pages[request.shared])

    def let_go(self, request: Request) -> None:
        """The request needs its snapshot no more: it has gone on from there, or lost its pages."""
        self._unpin_snapshot(request.snapshot)
        request.snapshot = None

    def forget(self, request: Request) -> None:
        """What the request computed is no distribution: nobody must start from what was saved of it."""
        if request.saved is not None and self._snapshots is not None:
            self._snapshots.forget(request.saved)

    def _unpin_snapshot(self, snapshot: SnapshotId | None) -> None:
        if snapshot is not None and self._snapshots is not None:
            self._snapshots.unpin(snapshot)

    def _find_on_host(self, request: Request, pages: int) -> list[int]:
        """Slots of the host tier with the pages behind the first `pages`."""
        if self._host is None:
            return []
        return self._host.find_behind(request.tokens, request.identity, pages)

    def _unpin(self, slots: list[int]) -> None:
        if self._host is not None:
            self._host.unpin(slots)

    def _find_snapshot(self, request: Request) -> Front | None:
        """What a snapshot of the whole prompt has, held by the request."""
        if self._snapshots is None:
            return None
        snapshot_id = self._snapshots.find(request.tokens, request.identity)
        snapshot = self._snapshots.look(snapshot_id) if snapshot_id else None
        if snapshot_id is None or snapshot is None:
            return None
        self._snapshots.pin(snapshot_id)
        self._pool.hold(snapshot.held, request.holder, "read")
        tail: Tail | None = None
        if snapshot.tail is not None:
            part = snapshot.positions % self._pool.page_size
            tail = Tail(snapshot.tail, self._pool.lives([snapshot.tail])[0], part, 0)
        return Front(snapshot.positions, list(snapshot.pages), tail=tail, snapshot=snapshot_id)

    def _restored(self, request: Request, page: int) -> None:
        """A tail was copied to a page of the request, which has its computed positions of it."""
        end = request.computed % self._pool.page_size
        self._stale.restored(page, self._pool.lives([page])[0], end, self._compute)

    def _take_turn(self, request: Request, least: int) -> Retained | None:
        """The turn that the request goes on from, if it has `least` tokens: its pages are the request's."""
        if self._retained is None:
            return None
        entry_id = self._retained.find(request.tokens, request.identity)
        turn = self._retained.look(entry_id) if entry_id else None
        if entry_id is None or turn is None or turn.computed < least:
            return None
        whole = turn.computed // self._pool.page_size
        self._pool.hold(turn.pages[:whole], request.holder, "read")
        self._pool.hold(turn.pages[whole:], request.holder, "write")
        return self._retained.take(entry_id)

    def _copy(self, request: Request, tail: Tail, page: int) -> None:
        """Launch the copy of a tail to a page of the request, and let go of the source."""
        source = Extent(tail.page, tail.life, 0, tail.tokens)
        target = Extent(page, self._pool.lives([page])[0], 0, tail.tokens)
        if self._stage_on is None:
            fence = self._copies.direct(source, target, self._compute)
            self._pool.drop([tail.page], request.holder, "read", fence=fence)
            self._restored(request, page)
        else:
            request.copy = self._copies.begin(request.number, source, target, self._stage_on, self._compute)
            self._pool.drop([tail.page], request.holder, "read")
