"""What a waiting request starts from: the front of its prompt that is computed already, wherever that lies.

    find(request) -> Front     holds what it found; nothing is granted or launched yet
    take(request, front, granted)   launches what fills the granted pages, and settles the holds
    leave(request, front)      there was no room: gives back what `find` held
    keep(request, computed)    pages that are full by now; with `ended` all that is computed

A front is a retained turn, in whose last page the request goes on, or else pages of the prefix cache, whole
ones to share and a tail to copy. Of equal ones the turn is better, for nothing is copied.

Knows where fronts are kept, not when a request is admitted; rows and streams of publishes are the lanes'.
"""

from dataclasses import dataclass, field

from tracert.device.device import Stream
from tracert.engine.request import Request
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import PrefixCache, Tail
from tracert.memory.retained import Retained, RetainedStore
from tracert.memory.tail_copies import TailCopies
from tracert.record.access import Extent


@dataclass(slots=True)
class Front:
    """`tokens` of a prompt, short of the last, are computed: on `shared` pages, and what `take` fills."""

    tokens: int = 0
    shared: list[int] = field(default_factory=list)
    """Whole pages, held by the request for reading."""
    own: list[int] = field(default_factory=list)
    """Pages after those, held by the request for writing; the last may be partly filled."""
    tail: Tail | None = None
    """A page, held by the request for reading, whose front is to be copied behind them."""
    turn: Retained | None = None
    """The retained turn that the pages are of."""

    @property
    def pages(self) -> list[int]:
        """What the request has before anything is granted, in order."""
        return self.shared + self.own


class Fronts:
    """The places where fronts of prompts are kept."""

    def __init__(
        self,
        pool: PagePool,
        cache: PrefixCache,
        copies: TailCopies,
        compute: Stream,
        *,
        stage_on: Stream | None = None,
        retained: RetainedStore | None = None,
    ) -> None:
        """`compute` writes pages. Tails are copied there at once, or staged on `stage_on`."""
        self._pool = pool
        self._cache = cache
        self._copies = copies
        self._compute = compute
        self._stage_on = stage_on
        self._retained = retained

    def find(self, request: Request) -> Front:
        """The best front there is, held by the request so that making room does not take it away."""
        match = self._cache.match(request.number, request.tokens, request.identity)
        turn = self._take_turn(request, match.hit_tokens)
        if turn is not None:
            whole = turn.computed // self._pool.page_size
            return Front(turn.computed, turn.pages[:whole], turn.pages[whole:], turn=turn)
        self._pool.hold(match.pages, request.holder, "read")
        if match.tail is not None:
            self._pool.hold([match.tail.page], request.holder, "read")
        return Front(match.hit_tokens, match.pages, tail=match.tail)

    def take(self, request: Request, front: Front, granted: list[int]) -> None:
        """The request goes on from the front, on `granted` pages behind those that the front has."""
        request.pages = [*front.pages, *granted]
        request.shared = len(front.shared)
        request.computed = front.tokens
        request.copy = 0
        if front.tail is not None:
            self._copy(request, front.tail, granted[0])
        for page in front.own:
            self._copies.order_before(page, self._compute)

    def leave(self, request: Request, front: Front) -> None:
        """Give back what `find` held."""
        if front.turn is not None and self._retained is not None:
            self._retained.give_back(front.turn)
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

    def arrive(self, *, wait: bool) -> None:
        """Let requests go on whose tail has been copied by now; all of them, when told to `wait`."""
        self._copies.settle(wait=wait)

    def ready(self, request: Request) -> bool:
        """Has everything arrived that the request goes on from?"""
        return not self._copies.pending(request.copy)

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
        else:
            request.copy = self._copies.begin(request.number, source, target, self._stage_on, self._compute)
            self._pool.drop([tail.page], request.holder, "read")
