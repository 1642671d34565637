"""Prefix caches: pages that outlive their request, found again by the tokens that they hold.

A cached page is held by `prefix:<node>` for reading. It may be evicted when nobody else holds it, so
whoever matched pages holds them, the tail's too, before doing anything that can evict. A tail is copied:
nobody writes into a cached position.

**Ordering rule.** `insert` is called only after the launch that writes the pages has been launched, and
whoever matches them launches on the same stream, later: so the read is ordered after the write. A
reader on another stream needs a fence behind the writing launch, which the cache does not give.

Knows nothing of scheduling; token ids are numbers to it.
"""

import secrets
from collections.abc import Sequence
from typing import Literal, Protocol

from tracert.memory.hash_cache import HashCache
from tracert.memory.no_cache import NoCache
from tracert.memory.pool import PagePool
from tracert.memory.prefix import Identity as Identity
from tracert.memory.prefix import Match as Match
from tracert.memory.prefix import Spill as Spill
from tracert.memory.prefix import Tail as Tail
from tracert.memory.radix_cache import RadixCache
from tracert.record.access import Holder
from tracert.record.recorder import Recorder

PrefixCacheKind = Literal["none", "hash", "radix"]


class PrefixCache(Protocol):
    """What the engine asks of a prefix cache."""

    def match(self, request: int, tokens: Sequence[int], identity: Identity) -> Match:
        """The longest cached front of `tokens`, whole pages and a tail, short of the last token."""

    def insert(
        self,
        request: int,
        tokens: Sequence[int],
        pages: Sequence[int],
        identity: Identity,
        computed_tokens: int,
        *,
        ended: bool = False,
    ) -> int:
        """Cache those of a request's pages that its `computed_tokens` fill; returns how many are new.

        With `ended` the request computes no more, and its last page is cached though filled in part.
        """

    def evict(self, count: int) -> int:
        """Give up to `count` pages back that nobody else holds; returns how many."""

    def pages(self) -> int:
        """How many pages are cached, in use or not."""

    def reset(self) -> None:
        """Forget everything; pages that requests hold stay theirs."""

    def claims(self) -> dict[Holder, list[int]]:
        """The pages that each node says are its."""

    def check(self) -> None:
        """InvariantError when cache and pool disagree."""


def open_cache(
    kind: PrefixCacheKind,
    recorder: Recorder,
    pool: PagePool,
    *,
    secret: bytes | None = None,
    spill: Spill | None = None,
) -> PrefixCache:
    """The cache of a kind. `secret` keys its digests: 16 bytes, random when not given.

    `spill` gets the full pages that are evicted.
    """
    if kind == "none":
        return NoCache()
    key = secrets.token_bytes(16) if secret is None else secret
    opened = RadixCache if kind == "radix" else HashCache
    return opened(recorder, pool, key, spill=spill)
