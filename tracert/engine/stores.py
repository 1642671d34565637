"""What outlives requests: caches of pages, turns and snapshots, with what moves pages between them.

    cache       whole pages and tails of prompts        `prefix_cache`
    host        full pages that the cache evicted       `host_slots`
    retained    pages of ended turns                    `retain`
    snapshots   the state after a whole prompt          `snapshots`
    copies      tails on their way to who goes on       `stage_copies`
    stale       what becomes of a page's former bytes   `stale_pages`

Which of them there are is decided here, once. What a request starts from is the fronts' to find.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from tracert_kernels.dispatch import Kernels

from tracert.device.device import Device, Stream
from tracert.engine.config import EngineConfig
from tracert.memory.arena import Arena
from tracert.memory.audit import Claims
from tracert.memory.host_tier import HostStats, HostTier
from tracert.memory.pool import PagePool
from tracert.memory.prefix_cache import PrefixCache, open_cache
from tracert.memory.retained import RetainedStore
from tracert.memory.snapshot_store import SnapshotStore
from tracert.memory.stale_pages import StalePages, open_policy
from tracert.memory.tail_copies import TailCopies
from tracert.record.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of one engine; None for those that it goes without."""

    cache: PrefixCache
    copies: TailCopies
    stale: StalePages
    stage_on: Stream | None
    """Where tails are copied; None: at once, on the stream that computes."""
    host: HostTier | None
    retained: RetainedStore | None
    snapshots: SnapshotStore | None

    @property
    def evictors(self) -> list[PrefixCache | RetainedStore | SnapshotStore]:
        """Those who `evict` pages, in the order in which they are asked.

        What only the cache holds goes first, then turns and snapshots, whose full pages are the cache's to
        give after that.
        """
        return [self.cache, *(each for store in self._optional for each in (store, self.cache))]

    @property
    def claims(self) -> list[Claims]:
        """The pages that each store says are its."""
        return [self.cache.claims, self.copies.claims, *(store.claims for store in self._optional)]

    @property
    def free_snapshots(self) -> int:
        """Slots without a snapshot."""
        return 0 if self.snapshots is None else self.snapshots.free

    @property
    def host_stats(self) -> HostStats:
        """Figures of the host tier: all 0 without one."""
        return HostStats(0, 0, 0, 0, 0) if self.host is None else self.host.stats

    @property
    def kept_pages(self) -> int:
        """Pages that retained turns and snapshots, rows included, hold and the prefix cache does not."""
        kept = {page for store in self._optional for pages in store.claims().values() for page in pages}
        kept.update(self.aliased())
        cached = (page for pages in self.cache.claims().values() for page in pages) if kept else ()
        return len(kept.difference(cached))

    def aliased(self) -> Iterable[int]:
        """Pages that snapshots' rows are on."""
        return () if self.snapshots is None else self.snapshots.aliased()

    def check(self) -> None:
        """InvariantError when a store contradicts itself or the pool."""
        for store in (self.cache, self.copies, self.host, *self._optional):
            if store is not None:
                store.check()

    @property
    def _optional(self) -> list[RetainedStore | SnapshotStore]:
        return [store for store in (self.retained, self.snapshots) if store is not None]


def open_stores(
    recorder: Recorder,
    device: Device,
    pool: PagePool,
    arena: Arena,
    kernels: Kernels,
    config: EngineConfig,
    compute: Stream,
    vocab: int,
) -> Stores:
    """The stores that `config` asks for. `compute` writes pages; a snapshot's row has `vocab` numbers."""
    secret = secrets.token_bytes(16)
    # Whole pages are not copied on the transfer stream, whose publishes every step waits for.
    tiered = config.host_slots > 0 and config.prefix_cache != "none"
    copying = device.stream("copies") if tiered or config.stage_copies else None
    host: HostTier | None = None
    if copying is not None and tiered:
        host = HostTier(device, arena, config.host_slots, compute, copying, secret)
    spill = None if host is None else host.spill
    cache = open_cache(config.prefix_cache, recorder, pool, secret=secret, spill=spill)
    copies = TailCopies(recorder, device, pool, arena, kernels.copy_pages)
    snapshots: SnapshotStore | None = None
    if config.snapshots:
        dedicated = config.dedicated_snapshots
        snapshots = SnapshotStore(
            recorder, device, pool, arena, copies, compute, config.snapshots, vocab, dedicated=dedicated
        )
    return Stores(
        cache=cache,
        copies=copies,
        stale=open_policy(config.stale_pages, device, arena, kernels.clear_pages, kernels.clear_positions),
        stage_on=copying if config.stage_copies else None,
        host=host,
        retained=RetainedStore(pool, config.retain) if config.retain else None,
        snapshots=snapshots,
    )
