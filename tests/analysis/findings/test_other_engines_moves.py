"""Sound histories of other engines: who moves pages elsewhere, by which way, and lets go of them when.

For the fast suite all acts are in one history, each on pages and rows of its own; in the slow one
each is alone.
"""

from pathlib import Path

import pytest

from tests.analysis.findings.other_engine import COMPUTE, TRANSFER, Act, Engine, Request, extent
from tests.analysis.history import History, Page, use


def _finished(engine: Engine) -> tuple[Request, list[Page], Request]:
    """A request of one step has finished; the host knows that this step is done. The other goes on."""
    request, pages = engine.admitted()
    other, _ = engine.admitted(2)
    engine.passed(engine.step((request, 0), (other, 0)))
    engine.finish(request, "length")
    engine.unseat(request)
    return request, pages, other


def _steps(engine: Engine, request: Request, start: int, end: int) -> None:
    for at in range(start, end):
        engine.step((request, at))


def gives_a_finished_requests_page_to_the_network(engine: Engine) -> None:
    """Behind the next step's schedule, and back as that is done, three steps later."""
    request, pages, other = _finished(engine)
    step = engine.plan((other, 1))
    fetch = engine.begin("nic", reads=[extent(pages[0], 1)])
    engine.decode(step, (other, 1))
    _steps(engine, other, 2, 5)
    engine.end("nic", fetch)
    engine.give_back(pages, request.holder)
    _steps(engine, other, 5, 7)


def offloads_a_finished_requests_page(engine: Engine) -> None:
    """The same with a copy to the host tier."""
    request, pages, other = _finished(engine)
    step = engine.plan((other, 1))
    engine.order(COMPUTE, TRANSFER)
    engine.moved("offload", TRANSFER, [(engine.new("slot"), *pages[0])])
    behind = engine.record(TRANSFER)
    engine.decode(step, (other, 1))
    _steps(engine, other, 2, 4)
    engine.passed(behind)
    engine.give_back(pages, request.holder)
    _steps(engine, other, 4, 6)


def sends_a_finished_requests_page_piece_by_piece(engine: Engine) -> None:
    """The second piece is asked for when the first is done, steps behind the end."""
    request, pages, other = _finished(engine)
    step = engine.plan((other, 1))
    fetch = engine.begin("nic", reads=[extent(pages[0], 1)])
    engine.decode(step, (other, 1))
    _steps(engine, other, 2, 4)
    engine.end("nic", fetch)
    _steps(engine, other, 4, 5)
    fetch = engine.begin("nic", reads=[extent(pages[0], 2, 1)])
    _steps(engine, other, 5, 7)
    engine.end("nic", fetch)
    engine.give_back(pages, request.holder)
    _steps(engine, other, 7, 8)


def _plan(engine: Engine, pages: list[Page], end: int) -> int:
    """Positions 0..end of the first page are to be copied to the second, and both are pinned."""
    number = engine.new("transfer")
    engine.hold(pages, f"transfer:{number}", "read")
    source, target = ([extent(page, end)] for page in pages)
    engine.event("copy_plan", transaction=number, source=source, target=target)
    return number


def _planned(engine: Engine, length: int = 2) -> tuple[int, list[Page], list[Page], tuple[Request, Request]]:
    """So many computed positions of a request are to be copied to another's page."""
    owner, tail = engine.prefill(length)
    request = engine.request()
    own = engine.pages(1, request.holder)
    return _plan(engine, tail + own, length), tail, own, (owner, request)


def _done(engine: Engine, number: int, pages: list[Page]) -> None:
    engine.event("copy_done", transaction=number)
    engine.drop(pages, f"transfer:{number}", "read")


def _goes_on(engine: Engine, request: Request, pages: list[Page], start: int) -> None:
    engine.seat(request, pages)
    engine.run(request, start, start + 1)


def copies_as_planned_by_the_host_itself(engine: Engine) -> None:
    """An engine on a CPU: what the host writes does not say where it comes from."""
    number, tail, own, (_, request) = _planned(engine)
    engine.sync()
    engine.host_write([extent(own[0], 2)])
    _done(engine, number, tail + own)
    _goes_on(engine, request, own, 2)


def copies_as_planned_through_a_staging_page(engine: Engine) -> None:
    """In two hops, to other positions of the staging page, which a piece of each comes by."""
    number, tail, own, (_, request) = _planned(engine)
    staging = engine.pages(1, f"transfer:{number}")
    engine.copy(COMPUTE, [extent(tail[0], 2)], [extent(staging[0], 3, 1)])
    for at in (1, 2):
        engine.copy(COMPUTE, [extent(staging[0], at + 1, at)], [extent(own[0], at, at - 1)])
    engine.sync(COMPUTE)
    _done(engine, number, tail + own)
    engine.give_back(staging, f"transfer:{number}")
    _goes_on(engine, request, own, 2)


def copies_as_planned_through_the_host_tier(engine: Engine) -> None:
    """Offloaded to a slot, and loaded from there to the other page."""
    number, tail, own, (_, request) = _planned(engine, 4)
    slot = engine.new("slot")
    engine.moved("offload", COMPUTE, [(slot, *tail[0])])
    engine.moved("load", COMPUTE, [(slot, *own[0])])
    engine.sync(COMPUTE)
    _done(engine, number, tail + own)
    grown = engine.pages(1, request.holder)
    _goes_on(engine, request, own + grown, 4)


def brings_what_was_planned_through_memory_of_the_host(engine: Engine) -> None:
    """The host writes a staging page, which is copied on: from where it had that is not told."""
    number, tail, own, (_, request) = _planned(engine)
    staging = engine.pages(1, f"transfer:{number}")
    engine.sync()
    engine.host_write([extent(staging[0], 2)])
    engine.copied(staging[0], own[0], 2)
    engine.sync(COMPUTE)
    _done(engine, number, tail + own)
    engine.give_back(staging, f"transfer:{number}")
    _goes_on(engine, request, own, 2)


def plans_a_copy_before_its_last_position_is_computed(engine: Engine) -> None:
    """With the step that computes it, and computes it again; the copy comes behind on the same stream."""
    owner, tail = engine.prefill(2)
    request = engine.request()
    own = engine.pages(1, request.holder)
    number = _plan(engine, tail + own, 3)
    engine.run(owner, 2, 3)
    engine.run(owner, 2, 3)
    engine.copied(tail[0], own[0], 3)
    engine.sync(COMPUTE)
    _done(engine, number, tail + own)
    _goes_on(engine, request, own, 3)


def frees_a_source_once_the_copy_has_passed(engine: Engine) -> None:
    """Dropped at once, never retired: it is on the free list only when the host knows of the copy."""
    owner, tail = engine.prefill(3)
    request = engine.request()
    own = engine.pages(1, request.holder)
    number = engine.new("transfer")
    engine.event("copy_plan", transaction=number, source=[extent(tail[0], 2)], target=[extent(own[0], 2)])
    engine.order(COMPUTE, TRANSFER)
    engine.copied(tail[0], own[0], 2, stream=TRANSFER)
    behind = engine.record(TRANSFER)
    engine.unseat(owner)
    engine.drop(tail, owner.holder)
    engine.passed(behind)
    engine.event("copy_done", transaction=number)
    engine.free(tail)
    other = engine.request()
    again = engine.alloc([tail[0][0]], other.holder)
    engine.seat(other, again)
    engine.run(other, 0, 2)
    _goes_on(engine, request, own, 2)


MOVES: list[Act] = [
    gives_a_finished_requests_page_to_the_network,
    offloads_a_finished_requests_page,
    sends_a_finished_requests_page_piece_by_piece,
    copies_as_planned_by_the_host_itself,
    copies_as_planned_through_a_staging_page,
    copies_as_planned_through_the_host_tier,
    brings_what_was_planned_through_memory_of_the_host,
    plans_a_copy_before_its_last_position_is_computed,
    frees_a_source_once_the_copy_has_passed,
]


def test_what_is_moved_elsewhere_is_no_finding(tmp_path: Path) -> None:
    """One act after the other."""
    engine = Engine()
    engine.perform(*MOVES)
    assert [] == engine.told(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("act", MOVES)
def test_none_is_one_by_itself(tmp_path: Path, act: Act) -> None:
    """Nothing that another does hides it."""
    engine = Engine()
    engine.perform(act)
    assert [] == engine.told(tmp_path)


def test_a_row_of_before_may_have_named_any_page(tmp_path: Path) -> None:
    """Keyframes without rows: a request that finishes waits for its last step, which is in flight."""
    history = History(first_seq=100)
    held = {"page": 5, "life": 1, "state": "held", "holders": ["request:1/write"]}
    history.keyframe([held])
    steps = [
        history.forward(COMPUTE, use(0, 1, at, at + 1), step=at) and history.record(COMPUTE) for at in (0, 1)
    ]
    history.passed(steps[0])
    history.event("finish", request=1, row=0, reason="stop")
    history.forward(COMPUTE, step=2)
    history.passed(steps[1])
    history.forward(COMPUTE, step=3)
    history.give_back([(5, 1)], "request:1")
    history.forward(COMPUTE, step=4)
    found = history.read(tmp_path).connection.execute("SELECT code, confidence FROM finding").fetchall()
    assert [] == found
