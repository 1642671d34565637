"""What a waiting request starts from: the front of its prompt that is computed already, wherever that lies.

    find(request) -> Front     holds what it found; nothing is granted or launched yet
    take(request, front, granted)   launches what fills the granted pages, and settles the holds
    leave(request, front)      there was no room: gives back what `find` held

Knows where fronts are kept, not when a request is admitted; rows and streams of publishes are the lanes'.
"""

from dataclasses import dataclass, field

from tracert.engine.request import Request
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import PrefixCache


@dataclass(slots=True)
class Front:
    """`tokens` of a prompt, short of the last, are computed: on `shared` pages, and what `take` fills."""

    tokens: int = 0
    shared: list[int] = field(default_factory=list)
    """Whole pages, held by the request for reading."""
    own: list[int] = field(default_factory=list)
    """Pages after those, held by the request for writing; the last may be partly filled."""

    @property
    def pages(self) -> list[int]:
        """What the request has before anything is granted, in order."""
        return self.shared + self.own


class Fronts:
    """The places where fronts of prompts are kept."""

    def __init__(self, pool: PagePool, cache: PrefixCache) -> None:
        self._pool = pool
        self._cache = cache

    def find(self, request: Request) -> Front:
        """The best front there is, held by the request so that making room does not take it away."""
        match = self._cache.match(request.number, request.tokens, request.identity)
        self._pool.hold(match.pages, request.holder, "read")
        return Front(len(match.pages) * self._pool.page_size, match.pages)

    def take(self, request: Request, front: Front, granted: list[int]) -> None:
        """The request goes on from the front, on `granted` pages behind those that the front has."""
        request.pages = [*front.pages, *granted]
        request.shared = len(front.shared)
        request.computed = front.tokens

    def leave(self, request: Request, front: Front) -> None:
        """Give back what `find` held."""
        self._pool.drop(front.shared, request.holder, "read")
        self._pool.drop(front.own, request.holder, "write")
