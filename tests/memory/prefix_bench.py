"""A prefix cache with its pool and its history, and requests that use it."""

from typing import Any

from tests.memory.fold import Fold
from tests.memory.history import History
from tracert.memory.hash_cache import HashCache
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import Identity
from tracert.memory.radix_cache import RadixCache
from tracert.record.access import Holder

MODEL = Identity(model="m")
SECRET = b"0123456789abcdef"


class Bench:
    """A cache of 2-token pages with its pool and its history."""

    def __init__(
        self,
        pages: int = 20,
        page_size: int = 2,
        kind: type[HashCache] | type[RadixCache] = RadixCache,
        **settings: Any,
    ) -> None:
        self.history = History()
        self.pool = PagePool(self.history, pages, page_size)
        self.cache = kind(self.history, self.pool, SECRET, **settings)

    def compute(self, request: int, tokens: list[int], identity: Identity = MODEL) -> list[int]:
        """A request that shares nothing: fresh pages for all its tokens, offered to the cache."""
        size = self.pool.page_size
        pages = self.pool.alloc(-(-len(tokens) // size), Holder("request", request))
        self.cache.insert(request, tokens, pages, identity, len(tokens))
        return pages

    def leave(self, request: int, tokens: list[int], identity: Identity = MODEL) -> list[int]:
        """A request that ends at once: its full pages stay cached, and nobody else holds them."""
        pages = self.compute(request, tokens, identity)
        self.pool.drop(pages, Holder("request", request))
        return pages

    def edges(self) -> dict[int, list[int]]:
        """The pages of each node."""
        return {number: node.pages for number, node in self.cache._nodes.items()}

    def evicted(self) -> list[int]:
        """Every page evicted so far, in order of events."""
        return [page for event in self.history.of("evict") for page, _ in event["pages"]]

    def check(self) -> None:
        """No contradiction, and the history folds to the state."""
        self.pool.check()
        self.cache.check()
        fold = Fold(self.history.told)
        assert fold.nodes == {
            number: (
                node.digest,
                node.parent.number if node.parent else 0,
                list(zip(node.pages, node.lives, strict=True)),
                fold.nodes[number][3],
            )
            for number, node in self.cache._nodes.items()
        }
        assert fold.tails == {
            number: len(node.tokens) // 4 for number, node in self.cache._nodes.items() if node.tail
        }
        for page in range(1, self.pool.pages):
            assert fold.holders.get(page, {}) == self.pool.holders(page)
