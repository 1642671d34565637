"""sgl-project/mini-sglang#52's kind: the tree evicts what a hit is about to lock.

There the walk that locks a path began one node too high, so that the node itself was never locked. Here pages
are kept free ahead of need by an evictor that does not wait for the match in progress: it comes after a match
has found its node, and before the request holds what was found.
"""

from collections.abc import Sequence
from typing import Any

from tracert.engine.step import Engine
from tracert.faults.fault import Fault
from tracert.memory.prefix_cache import Match
from tracert.record.access import Holder


def _plant(engine: Engine) -> None:
    match, drop = engine.cache.match, engine.pool.drop
    matching = False

    def match_unlocked(*asked: Any) -> Match:
        nonlocal matching
        matching = True
        try:
            return match(*asked)
        finally:
            matching = False

    def drop_and_evict(pages: Sequence[int], holder: Holder, mode: Any = None, **fence: Any) -> None:
        nonlocal matching
        drop(pages, holder, mode, **fence)
        if matching:
            # The nodes of an edge that a match has just parted are used by nobody yet.
            matching = False
            engine.cache.evict(engine.config.kv_pages // 2 - engine.pool.available())

    engine.cache.match = match_unlocked  # type: ignore[method-assign, assignment]
    engine.pool.drop = drop_and_evict  # type: ignore[method-assign]


HIT_AFTER_EVICT = Fault(
    name="hit-after-evict",
    finding="TR503",
    summary="pages of a hit are evicted before the request holds them",
    plant=_plant,
)
