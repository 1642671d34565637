"""Sound histories of other engines: who holds their pages, and what states they keep there, is no finding.

For the fast suite all acts are in one history, each on pages and rows of its own; in the slow one each is
alone.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.analysis.findings.other_engine import COMPUTE, Act, Engine, extent
from tests.analysis.history import Launched, Page


def _scan(engine: Engine, page: Page, end: int = 1, *, first: bool = False) -> Launched:
    """A recurrent layer goes on from the state in the page, or begins one."""
    rows = [extent(page, end)]
    return engine.forward(
        COMPUTE, kernel="scan", reads=[] if first else rows, writes=rows, **{"class": "rows"}
    )


def copies_the_state_of_a_prefix(engine: Engine) -> None:
    """Into a page that had keys and values in its last life."""
    request, former = engine.prefill(4)
    engine.unseat(request)
    engine.give_back(former, request.holder)
    cached = engine.pages(1, f"prefix:{engine.new('node')}")
    _scan(engine, cached[0], first=True)
    own = engine.alloc([former[0][0]], engine.request().holder)
    engine.copied(cached[0], own[0], 1)
    _scan(engine, own[0])


def loads_its_state_from_the_host_tier(engine: Engine) -> None:
    """It was offloaded while the request was preempted."""
    request = engine.request()
    page = engine.pages(1, request.holder)
    _scan(engine, page[0], first=True)
    slot = engine.new("slot")
    engine.moved("offload", COMPUTE, [(slot, *page[0])])
    engine.give_back(page, request.holder)
    own = engine.pages(1, request.holder)
    engine.moved("load", COMPUTE, [(slot, *own[0])])
    _scan(engine, own[0])


def goes_back_to_a_checkpoint_of_its_state(engine: Engine) -> None:
    """The state is copied to a page of the cache, and back."""
    page = engine.pages(1, engine.request().holder)
    _scan(engine, page[0], first=True)
    kept = engine.pages(1, f"prefix:{engine.new('node')}")
    engine.copied(page[0], kept[0], 1)
    _scan(engine, page[0])
    engine.copied(kept[0], page[0], 1)
    _scan(engine, page[0])


def takes_the_state_behind_the_accepted_draft(engine: Engine) -> None:
    """Each draft leaves a state of its own; that of the accepted one is copied over the request's."""
    page, drafts = engine.pages(2, engine.request().holder)
    _scan(engine, page, first=True)
    for accepted in (1, 2):
        written = [extent(drafts, 3)]
        engine.forward(
            COMPUTE, kernel="scan_drafts", reads=[extent(page, 1)], writes=written, **{"class": "rows"}
        )
        engine.copy(COMPUTE, [extent(drafts, accepted + 1, accepted)], [extent(page, 1)])
        _scan(engine, page)


def has_its_state_brought(engine: Engine) -> None:
    """By the network or by the host, into its page or into one from which it is copied; then it is read."""
    page, staged = engine.pages(2, engine.request().holder)
    engine.brought(extent(page, 1), extent(staged, 1))
    engine.forward(COMPUTE, kernel="emit", reads=[extent(page, 1)], **{"class": "rows"})
    engine.copied(staged, page, 1)
    _scan(engine, page)
    engine.sync()
    engine.host_write([extent(staged, 1)])
    engine.copied(staged, page, 1)
    engine.forward(COMPUTE, kernel="emit", reads=[extent(page, 1)], **{"class": "rows"})


def hands_a_page_over(engine: Engine) -> None:
    """References are counted up for the next request before they are counted down for the last one."""
    request, page = engine.prefill(2)
    engine.unseat(request)
    after = engine.request()
    engine.hold(page, after.holder, "write")
    engine.drop(page, request.holder)
    engine.seat(after, page)
    engine.run(after, 2, 3)


def evicts_behind_the_grant(engine: Engine) -> None:
    """The free list has pages that are cached: their node goes as they are granted."""
    request, page = engine.prefill(4)
    node = engine.insert(page)
    engine.unseat(request)
    engine.drop(page, request.holder)
    after = engine.request()
    again = engine.alloc([page[0][0]], after.holder)
    engine.event("evict", node=node, digest=f"{node:016x}", pages=[list(page[0])])
    engine.drop(page, f"prefix:{node}", "read")
    engine.seat(after, again)
    engine.run(after, 0, 4)


def _cached(engine: Engine) -> tuple[int, list[Page]]:
    """A page that is cached, and held by nobody but the request that computed it; that one goes."""
    request, page = engine.prefill(4)
    node = engine.new("node")
    engine.event("insert", node=node, digest=f"{node:016x}", identity=1, pages=[list(page[0])])
    engine.unseat(request)
    engine.drop(page, request.holder)
    return node, page


def takes_cached_pages_from_the_free_list(engine: Engine) -> None:
    """A page that nobody holds is free and cached at once, until it is granted; a hit takes it up again."""
    node, page = _cached(engine)
    for _ in range(2):
        engine.free(page)
        request = engine.request()
        engine.match(request, node, page, 4)
        engine.hold(page, request.holder, "read")
        own = engine.pages(1, request.holder)
        engine.seat(request, page + own)
        engine.run(request, 4, 5)
        engine.unseat(request)
        engine.drop(page, request.holder, "read")
        engine.give_back(own, request.holder)
    engine.free(page)
    after = engine.request()
    again = engine.alloc([page[0][0]], after.holder)
    engine.event("evict", node=node, digest=f"{node:016x}", pages=[list(page[0])])
    engine.seat(after, again)
    engine.run(after, 0, 4)


def takes_a_retired_page_up_again(engine: Engine) -> None:
    """The same while a fence guards it, which then guards nothing."""
    node, page = _cached(engine)
    engine.retire(page, engine.record(COMPUTE))
    request = engine.request()
    engine.match(request, node, page, 4)
    engine.hold(page, request.holder, "read")
    engine.seat(request, page + engine.pages(1, request.holder))
    engine.run(request, 4, 5)


def _filled_twice(engine: Engine, holder: str, fill: Callable[[Page], object]) -> None:
    """A page of a holder is filled, cached, and read by another request; then the same comes once more."""
    page = engine.pages(1, holder)
    fill(page[0])
    engine.insert(page)
    reader = engine.request()
    engine.hold(page, reader.holder, "read")
    engine.drop(page, holder)
    fill(page[0])
    engine.seat(reader, page + engine.pages(1, reader.holder))
    engine.run(reader, 4, 5)


def fills_a_shared_page_with_the_same_again(engine: Engine) -> None:
    """By layers, or for the second time: from one slot, from one page, by the network."""
    request, source = engine.prefill(4)
    slot = engine.new("slot")
    engine.moved("offload", COMPUTE, [(slot, *source[0])])
    _filled_twice(engine, request.holder, lambda page: engine.moved("load", COMPUTE, [(slot, *page)]))
    _filled_twice(engine, request.holder, lambda page: engine.copied(source[0], page, 4))
    _filled_twice(engine, request.holder, lambda page: engine.brought(extent(page, 4)))


def brings_what_a_shared_page_lacks(engine: Engine) -> None:
    """Into a page that is fresh, though it is cached and read already; and behind what is cached of one."""
    request, source = engine.prefill(4)
    for first in (0, 2):
        page = engine.pages(1, request.holder)
        if first:
            engine.copied(source[0], page[0], 3)
        engine.insert(page, positions=2 if first else None)
        reader = engine.request()
        engine.hold(page, reader.holder, "read")
        engine.drop(page, request.holder)
        engine.copy(COMPUTE, [extent(source[0], 4, first)], [extent(page[0], 4, first)])
        engine.sync()
        engine.brought(extent(page[0], 4, first)) if first else None


def fills_a_page_that_it_may_write(engine: Engine) -> None:
    """It is cached, and held for writing by who fills it; or it has left the cache, and is filled anew."""
    request, page = engine.prefill(4)
    node = engine.insert(page)
    reader = engine.request()
    engine.hold(page, reader.holder, "read")
    engine.sync()
    engine.host_write([extent(page[0], 4)])
    engine.drop(page, request.holder)
    engine.event("evict", node=node, digest=f"{node:016x}", pages=[list(page[0])])
    engine.brought(extent(page[0], 4))
    engine.insert(page)
    engine.clear(COMPUTE, [extent(page[0], 4, 4)])


ACTS: list[Act] = [
    copies_the_state_of_a_prefix,
    loads_its_state_from_the_host_tier,
    goes_back_to_a_checkpoint_of_its_state,
    takes_the_state_behind_the_accepted_draft,
    has_its_state_brought,
    hands_a_page_over,
    evicts_behind_the_grant,
    takes_cached_pages_from_the_free_list,
    takes_a_retired_page_up_again,
    fills_a_shared_page_with_the_same_again,
    brings_what_a_shared_page_lacks,
    fills_a_page_that_it_may_write,
]


def test_no_hold_and_no_state_is_a_finding(tmp_path: Path) -> None:
    """One after the other."""
    engine = Engine()
    engine.perform(*ACTS)
    assert [] == engine.told(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_none_is_one_by_itself(tmp_path: Path, act: Act) -> None:
    """Nothing that another does hides it."""
    engine = Engine()
    engine.perform(act)
    assert [] == engine.told(tmp_path)


def test_a_free_page_is_what_it_is_where_no_insert_is_told(tmp_path: Path) -> None:
    """Then nobody knows what is cached; nor of a page from before the history."""
    engine = Engine()
    engine.perform(takes_cached_pages_from_the_free_list)
    engine.events = [one for one in engine.events if one["kind"] not in ("insert", "evict", "match")]
    assert [] == engine.told(tmp_path)
