"""Sound histories of other engines: when they give back what, and what is told of them only in part.

For the fast suite all acts of a kind are in one history, each on pages and rows of its own; in the slow one
each is alone.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.findings.other_engine import COMPUTE, Act, Engine, Request, extent
from tests.analysis.history import Launched, Page


def _ended(engine: Engine, request: Request, pages: list[Page]) -> None:
    engine.unseat(request)
    engine.give_back(pages, request.holder)


def learns_of_an_end_between_two_steps(engine: Engine) -> None:
    """A request ended while a step with it was in flight; it gives its page back behind the next schedule."""
    (ended, pages), (other, _) = engine.admitted(), engine.admitted(2)
    engine.step((ended, 0), (other, 0))
    in_flight = engine.step((ended, 1), (other, 1))
    engine.finish(ended)
    engine.step((other, 2))
    engine.passed(in_flight)
    step = engine.plan((other, 3))
    _ended(engine, ended, pages)
    engine.decode(step, (other, 3))
    engine.step((other, 4))


def learns_of_an_end_a_step_late(engine: Engine) -> None:
    """The step after has the request too: it gives its page back once that one has passed."""
    (ended, pages), (other, _) = engine.admitted(), engine.admitted()
    first = engine.step((ended, 0), (other, 0))
    second = engine.step((ended, 1), (other, 1))
    engine.passed(first)
    engine.finish(ended)
    engine.step((other, 2))
    engine.passed(second)
    _ended(engine, ended, pages)


def learns_of_an_end_two_steps_late(engine: Engine) -> None:
    """Two more steps with the request are in flight: its page goes back when the last has passed."""
    (ended, pages), (other, _) = engine.admitted(), engine.admitted(2)
    fences = [engine.step((ended, at), (other, at)) for at in range(3)]
    engine.passed(fences[0])
    engine.finish(ended)
    engine.step((other, 3))
    engine.passed(fences[1])
    engine.step((other, 4))
    engine.passed(fences[2])
    _ended(engine, ended, pages)
    engine.plan((other, 5))


def preempts_and_gives_back_in_one_step(engine: Engine) -> None:
    """Behind the schedule of the request that the room is for."""
    victim, pages = engine.admitted()
    engine.step((victim, 0))
    engine.preempt(victim)
    request = engine.request()
    own = engine.pages(1, request.holder)
    step = engine.plan((request, 0))
    _ended(engine, victim, pages)
    engine.seat(request, own)
    engine.decode(step, (request, 0))
    engine.plan((request, 1))


def aborts_while_the_network_fills_its_page(engine: Engine) -> None:
    """The page goes back once the transfer is done, at once or behind the next schedule."""
    for behind in (False, True):
        other, _ = engine.admitted(2)
        request = engine.request()
        page = engine.pages(1, request.holder)
        fetch = engine.begin("nic", writes=[extent(page[0], 4)])
        engine.finish(request, "abort")
        engine.step((other, 0))
        engine.step((other, 1))
        engine.end("nic", fetch)
        step = engine.plan((other, 2)) if behind else 0
        engine.give_back(page, request.holder)
        if behind:
            engine.decode(step, (other, 2))
            engine.plan((other, 3))


def restores_a_snapshot_that_is_released(engine: Engine) -> None:
    """Its page goes back when the launch that reads it has passed."""
    number = engine.new("snapshot")
    page = engine.pages(1, f"snapshot:{number}")
    whole = [extent(page[0], 4)]
    engine.forward(COMPUTE, kernel="store", writes=whole, **{"class": "rows"})
    other, _ = engine.admitted()
    engine.step((other, 0))
    engine.forward(COMPUTE, kernel="restore", reads=whole, **{"class": "rows"})
    restored = engine.record(COMPUTE)
    engine.event("snapshot_release", snapshot=number, pages=[list(page[0])])
    engine.step((other, 1))
    engine.step((other, 2))
    engine.passed(restored)
    engine.give_back(page, f"snapshot:{number}")
    engine.plan((other, 3))


def _planned(engine: Engine) -> tuple[int, list[Page], list[Page], tuple[Request, Request]]:
    """A tail is to be copied from one request to another, and both pages are pinned."""
    number = engine.new("transfer")
    owner, tail = engine.prefill(3)
    request = engine.request()
    own = engine.pages(1, request.holder)
    engine.hold(tail + own, f"transfer:{number}", "read")
    engine.event(
        "copy_plan", transaction=number, source=[extent(tail[0], 2)], target=[extent(own[0], 2)]
    )  # fmt: skip
    return number, tail, own, (owner, request)


def unpins_a_copy_in_the_next_step(engine: Engine) -> None:
    """The transfer is done, and lets go when the next step is planned."""
    number, tail, own, (owner, _) = _planned(engine)
    engine.copied(tail[0], own[0], 2)
    engine.sync(COMPUTE)
    engine.event("copy_done", transaction=number)
    step = engine.plan((owner, 3))
    engine.drop(tail + own, f"transfer:{number}", "read")
    engine.decode(step, (owner, 3))
    engine.plan((owner, 4))


def copies_as_planned_with_an_engine_of_its_own(engine: Engine) -> None:
    """Not by a launch: a writer without a stream carries the plan out, under a number of its own."""
    number, tail, own, (_, request) = _planned(engine)
    engine.sync()
    copying = engine.begin(
        "dma", reads=[extent(tail[0], 2)], writes=[extent(own[0], 2)], transaction=100 + number
    )  # fmt: skip
    engine.end("dma", copying)
    engine.event("copy_done", transaction=number)
    engine.drop(tail + own, f"transfer:{number}", "read")
    engine.seat(request, own)
    engine.run(request, 2, 3)


def _workspace(engine: Engine, kind: str, launch: int, room: int, **fields: Any) -> int:
    return engine.event(
        f"workspace_{kind}", launch=launch, stream=COMPUTE, capacity=100, room=room, **fields
    )  # fmt: skip


def waits_for_workspace(engine: Engine) -> None:
    """A launch is planned while there is no room for it, and launched when a block is given back."""
    request, _ = engine.admitted()
    first = engine._launches + 1
    _workspace(engine, "plan", first, 100, bytes=80)
    _workspace(engine, "alloc", first, 20, offset=0, bytes=80)
    engine.step((request, 0))
    _workspace(engine, "plan", first + 1, 20, bytes=50)
    engine.sync(COMPUTE)
    _workspace(engine, "free", first, 100, offset=0, bytes=80)
    _workspace(engine, "alloc", first + 1, 50, offset=0, bytes=50)
    engine.step((request, 1))
    engine.sync(COMPUTE)
    _workspace(engine, "free", first + 1, 100, offset=0, bytes=50)


def counts_transactions_by_itself(engine: Engine) -> None:
    """The number of a step's transaction is that of the next step's launch, and says nothing of it."""
    request, _ = engine.admitted()

    def step(at: int) -> Launched:
        _workspace(engine, "alloc", engine._launches + 1, 100 - 10 * at, offset=10 * at, bytes=10)
        engine.decode(engine.plan((request, at - 1)), (request, at - 1))
        launched = Launched(engine._launches, COMPUTE, engine._ordinals[COMPUTE], engine.seq)
        transaction("begin", launched, at)
        return launched

    def transaction(op: str, launched: Launched, frontier: int) -> None:
        engine.event(
            "transaction", op=op, transaction=launched.launch + 1, row=request.row, request=request.number,
            frontier=frontier,
        )  # fmt: skip

    steps = [step(at) for at in (1, 2, 3)]
    engine.sync(COMPUTE)
    for at, launched in enumerate(steps, 1):
        transaction("commit", launched, at)
        _workspace(engine, "free", launched.launch, 100, offset=10 * at, bytes=10)
        if at == 1:
            steps.append(step(4))
            engine.sync(COMPUTE)


GIVEN_BACK: list[Act] = [
    learns_of_an_end_between_two_steps,
    learns_of_an_end_a_step_late,
    learns_of_an_end_two_steps_late,
    preempts_and_gives_back_in_one_step,
    aborts_while_the_network_fills_its_page,
    restores_a_snapshot_that_is_released,
    unpins_a_copy_in_the_next_step,
    copies_as_planned_with_an_engine_of_its_own,
    waits_for_workspace,
    counts_transactions_by_itself,
]


def test_what_is_given_back_is_no_finding(tmp_path: Path) -> None:
    """One act after the other."""
    engine = Engine()
    engine.perform(*GIVEN_BACK)
    assert [] == engine.told(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("act", GIVEN_BACK)
def test_none_is_one_by_itself(tmp_path: Path, act: Act) -> None:
    """Nothing that another does hides it."""
    engine = Engine()
    engine.perform(act)
    assert [] == engine.told(tmp_path)


def test_no_beginning_is_a_finding(tmp_path: Path) -> None:
    """What lies before the history may have filled any page that was held then."""
    engine = Engine(first_seq=500)
    cached, old, asked, early = (engine.known() for _ in range(4))
    row, loading, running, granted = (engine.request() for _ in range(4))
    prefix = engine.new("node")
    holders = [(cached, f"prefix:{prefix}/read"), (old, f"{row.holder}/write")]
    holders += [(asked, f"{loading.holder}/write"), (early, f"{running.holder}/write")]
    states = [
        {"page": page, "life": life, "state": "held", "holders": [holder]} for (page, life), holder in holders
    ]
    engine.event("keyframe", set=1, pages=states)

    # While the set is being told two requests run, on a page of before and on one granted since.
    fresh = engine.pages(1, granted.holder)
    for request, page in ((running, early), (granted, fresh[0])):
        engine.seat(request, [page])
        engine.clear(COMPUTE, [extent(page, 4)])
        engine.run(request, 0, 2)
    for request, page in ((running, early), (row, old)):
        engine.event(
            "keyframe_row", set=1, row=request.row, generation=1, request=request.number, epoch=1,
            entries=[[0, *page]],
        )  # fmt: skip
    engine.event("keyframe_end", set=1, pages=len(states), rows=2)
    engine.run(running, 2, 3)
    engine.run(granted, 2, 3)

    # A row grows behind what it had; a transfer that began before is done.
    grown = engine.pages(1, row.holder)
    engine.clear(COMPUTE, [extent(grown[0], 4)])
    engine.map(row, 1, grown)
    engine.show(row, grown, first=1)
    engine.run(row, 4, 5)
    engine.end("nic", 3)
    behind = engine.pages(1, loading.holder)
    engine.clear(COMPUTE, [extent(behind[0], 4)])
    engine.seat(loading, [asked, *behind])
    engine.run(loading, 4, 5)

    # Requests that start behind a page of before, a copy of it, and what the host tier has had since before.
    reader, copier, loader = (engine.request() for _ in range(3))
    engine.hold([cached], reader.holder, "read")
    engine.seat(reader, [cached, *engine.pages(1, reader.holder)])
    copies = engine.pages(2, copier.holder)
    engine.copied(cached, copies[0], 4)
    engine.seat(copier, copies)
    loads = engine.pages(2, loader.holder)
    engine.clear(COMPUTE, [extent(loads[0], 4)])
    engine.moved("load", COMPUTE, [(3, *loads[0])])
    engine.seat(loader, loads)
    engine.forward(COMPUTE, *(request.use(4, 5) for request in (reader, copier, loader)))
    assert [] == engine.told(tmp_path)


def test_a_beginning_without_keyframes_proves_nothing(tmp_path: Path) -> None:
    """The writer that is done began before."""
    engine = Engine(first_seq=500)
    request = engine.request()
    pages = engine.pages(2, request.holder)
    engine.end("nic", 3)
    engine.seat(request, pages)
    engine.run(request, 4, 5)
    assert [] == [told for told in engine.told(tmp_path) if told[2] != "suspected"]


def tells_only_that_a_transfer_is_done(engine: Engine) -> None:
    """Neither when it began nor what it fills."""
    request = engine.request()
    pages = engine.pages(2, request.holder)
    engine.end("nic", 1000)
    engine.seat(request, pages)
    engine.run(request, 4, 5)


def fills_a_page_in_a_way_of_its_own(engine: Engine) -> None:
    """An event of a kind that is not known."""
    request = engine.request()
    pages = engine.pages(2, request.holder)
    engine._launch("p2p_load", COMPUTE, "p2p", target=[extent(pages[0], 4)])
    engine.seat(request, pages)
    engine.run(request, 4, 5)


@pytest.mark.parametrize("act", [tells_only_that_a_transfer_is_done, fills_a_page_in_a_way_of_its_own])
def test_a_filling_that_is_not_understood_proves_nothing(tmp_path: Path, act: Act) -> None:
    """The page may have been filled by it."""
    engine = Engine()
    engine.perform(act)
    assert [] == [told for told in engine.told(tmp_path) if told[2] != "suspected"]


def map_of_a_copy(engine: Engine) -> int:
    """Without it an entry is published otherwise than it was mapped."""
    request, pages = engine.prefill(3)
    own = engine.pages(1, request.holder)
    engine.copied(pages[0], own[0], 3)
    lost = engine.map(request, 0, own)
    engine.show(request, own)
    engine.run(request, 3, 4)
    return lost


def first_launch(engine: Engine) -> int:
    """Without it the second starts behind positions that nobody computed."""
    request, _ = engine.admitted()
    lost = engine.run(request, 0, 2).seq
    engine.run(request, 2, 3)
    return lost


@pytest.mark.parametrize("record", [map_of_a_copy, first_launch])
def test_a_torn_record_proves_nothing(tmp_path: Path, record: Callable[[Engine], int]) -> None:
    """What is missing is what makes the history sound; the dump says that it is torn."""
    engine = Engine()
    lost = record(engine)
    engine.events = [event for event in engine.events if event["seq"] != lost]
    engine.header["ring"].update(torn=1, torn_seqs=[lost])
    assert [] == [told for told in engine.told(tmp_path) if told[2] != "suspected"]
