"""Sound histories of other engines: how they map and publish rows, and who fills their pages, is no finding.

For the fast suite all acts are in one history, each on pages and rows of its own; in the slow one each is
alone.
"""

from pathlib import Path

import pytest

from tests.analysis.findings.other_engine import COMPUTE, Act, Engine, Request, extent
from tests.analysis.history import Page


def shifts_keys_of_a_page_to_another_place(engine: Engine) -> None:
    """The page is copied, and a launch turns its keys to the positions where they stand now."""
    _, pages = engine.prefill(8)
    request = engine.request()
    own = engine.pages(2, request.holder)
    engine.copied(pages[1], own[0], 4)
    turned = [extent(own[0], 4)]
    engine.forward(COMPUTE, kernel="rope_shift", reads=turned, writes=turned)
    engine.seat(request, own)
    engine.run(request, 4, 5)


def attends_to_selected_pages(engine: Engine) -> None:
    """Sparse attention: a second row of the request names the pages that were selected."""
    request, pages = engine.prefill(10)
    selected = engine.request()
    selected.number = request.number
    engine.seat(selected, pages[1:])
    engine.run(selected, 6, 6, kernel="sparse_attend")


def captures_graphs_on_rows_of_nobody(engine: Engine) -> None:
    """One row that no request has, one of request 0, and a scratch page under padding that starts late."""
    row, held, late = (engine.request() for _ in range(3))
    held.number = 0
    engine.show(row, engine.pages(1, "warmup:0"))
    engine.run(row, 2, 3, kernel="capture")
    engine.seat(held, engine.pages(1, "graph:0"), mapped=False)
    engine.run(held, 2, 3, kernel="capture")
    late.generation = 0
    engine.show(late, engine.pages(1, "scratch:0"))
    request, _ = engine.admitted()
    engine.forward(COMPUTE, request.use(0, 3), late.use(3, 4))


def comes_back_with_its_window_alone(engine: Engine) -> None:
    """A rolling buffer: its new row leaves the first page out, and all stand one entry before."""
    request, pages = engine.prefill(10)
    engine.unseat(request)
    engine.seat(request, pages[1:])
    engine.run(request, 6, 7)


def _copied_on_write(engine: Engine) -> tuple[Request, list[Page]]:
    request, pages = engine.prefill(3)
    own = engine.pages(1, request.holder)
    engine.copied(pages[0], own[0], 3)
    return request, own


def publishes_before_it_maps(engine: Engine) -> None:
    """An entry is published, and then told as mapped."""
    request, own = _copied_on_write(engine)
    engine.show(request, own)
    engine.map(request, 0, own)
    engine.run(request, 3, 4)


def maps_behind_the_launch(engine: Engine) -> None:
    """An entry is told as mapped when the launch that follows it was launched already."""
    request, own = _copied_on_write(engine)
    engine.show(request, own)
    engine.run(request, 3, 4)
    engine.map(request, 0, own)
    engine.run(request, 4, 4)


def maps_a_page_and_thinks_better_of_it(engine: Engine) -> None:
    """The entry is mapped to another page and back, and not published meanwhile."""
    request, pages = engine.prefill(3)
    engine.map(request, 0, engine.pages(1, request.holder))
    engine.map(request, 0, pages)
    engine.run(request, 3, 4)


def maps_ahead_and_publishes_when_needed(engine: Engine) -> None:
    """A captured graph follows the whole row, and leaves out what is behind the sequence's end."""
    request = engine.request()
    engine.publish(COMPUTE, request.row, 0, [(0, 1), (0, 1)])
    pages = engine.pages(2, request.holder)
    engine.acquire(request.row, 1, request.number)
    engine.map(request, 0, pages)
    engine.show(request, pages[:1])
    engine.forward(COMPUTE, request.use(0, 3, walked=2))
    engine.show(request, pages[1:], first=1)
    engine.run(request, 3, 5)


def maps_the_reserved_page_without_a_life(engine: Engine) -> None:
    """The window slides on: behind it stands page 0, which is never granted and so has no life there."""
    request, pages = engine.prefill(8)
    nothing = [(0, 0)]
    engine.map(request, 0, nothing)
    engine.show(request, nothing)
    engine.give_back(pages[:1], request.holder)
    grown = engine.pages(1, request.holder)
    engine.map(request, 2, grown)
    engine.show(request, grown, first=2)
    engine.run(request, 8, 9)


def takes_its_row_again_without_a_publish(engine: Engine) -> None:
    """The row still names its pages."""
    request, pages = engine.prefill(8)
    engine.unseat(request)
    engine.acquire(request.row, request.generation, request.number)
    engine.map(request, 0, pages)
    engine.run(request, 8, 8)


def swaps_a_beam(engine: Engine) -> None:
    """Beam search: the row takes another's page over, in one publish with a new one."""
    (request, _), (other, taken) = engine.admitted(), engine.admitted()
    engine.forward(COMPUTE, request.use(0, 4), other.use(0, 4))
    engine.hold(taken, request.holder, "read")
    pages = taken + engine.pages(1, request.holder)
    engine.map(request, 0, pages)
    engine.show(request, pages)
    engine.forward(COMPUTE, request.use(4, 5), other.use(4, 4))


def maps_the_whole_row_before_each_launch(engine: Engine) -> None:
    """Behind the publish."""
    request = engine.request()
    engine.acquire(request.row, 1, request.number)
    pages: list[Page] = []
    for start, end in ((0, 4), (4, 5)):
        grown = engine.pages(1, request.holder)
        engine.show(request, grown, first=len(pages))
        pages += grown
        engine.map(request, 0, pages)
        engine.run(request, start, end)


def maps_for_the_step_after_the_next(engine: Engine) -> None:
    """The step that was prepared before runs on what was published before."""
    request, pages = engine.admitted()
    own = engine.pages(1, request.holder)
    engine.map(request, 0, own)
    engine.run(request, 0, 3)
    engine.copied(pages[0], own[0], 3)
    engine.show(request, own)
    engine.run(request, 3, 4)


def pins_a_page_beside_its_own(engine: Engine) -> None:
    """The request holds its page for reading too, for a while, and writes on behind that."""
    request, pages = engine.prefill(2)
    engine.hold(pages, request.holder, "read")
    engine.drop(pages, request.holder, "read")
    engine.run(request, 2, 3)


def fills_pages_by_other_launches(engine: Engine) -> None:
    """An encoder's page for cross attention, and an image's positions before the first of the row."""
    for kernel, count, end, last in (("encoder", 2, 4, 5), ("vision", 1, 2, 4)):
        request = engine.request()
        pages = engine.pages(count, request.holder)
        engine.forward(COMPUTE, kernel=kernel, writes=[extent(pages[0], end)])
        engine.seat(request, pages)
        engine.run(request, end, last)


def fills_pages_from_outside_in_pieces(engine: Engine) -> None:
    """Two transfers, the later of which is done first."""
    request = engine.request()
    pages = engine.pages(2, request.holder)
    first = engine.begin("nic", writes=[extent(pages[0], 2)])
    engine.brought(extent(pages[0], 4, 2))
    engine.end("nic", first)
    engine.seat(request, pages)
    engine.run(request, 4, 5)


def keeps_a_state_in_a_page(engine: Engine) -> None:
    """A layer without attention has no positions: it reads and writes its state as a whole."""
    request = engine.request()
    whole = [extent(page, 4) for page in engine.pages(1, request.holder)]
    engine.forward(COMPUTE, kernel="mamba_prefill", writes=whole, **{"class": "rows"})
    engine.forward(COMPUTE, kernel="mamba", reads=whole, writes=whole, **{"class": "rows"})


def makes_a_state_of_keys_and_values(engine: Engine) -> None:
    """The class of a launch is that of what it writes, whatever it reads."""
    snapshot = f"snapshot:{engine.new('snapshot')}"
    former = engine.pages(1, snapshot)
    engine.forward(COMPUTE, kernel="store_row", writes=[extent(former[0], 2)], **{"class": "rows"})
    engine.give_back(former, snapshot)
    request = engine.request()
    page = engine.alloc([former[0][0]], request.holder)
    engine.clear(COMPUTE, [extent(page[0], 4)])
    engine.seat(request, page)
    engine.run(request, 0, 4)
    state = engine.pages(1, f"snapshot:{engine.new('snapshot')}")
    engine.forward(
        COMPUTE, kernel="make_state", reads=[extent(page[0], 4)], writes=[extent(state[0], 2)],
        **{"class": "rows"},
    )  # fmt: skip


def samples_in_parallel(engine: Engine) -> None:
    """A child copies its parent's page and starts behind it, in one launch with the parent."""
    parent, pages = engine.prefill(3)
    child = engine.request()
    engine.hold(pages, child.holder, "read")
    own = engine.pages(1, child.holder)
    engine.copied(pages[0], own[0], 3)
    engine.seat(child, own)
    engine.forward(COMPUTE, child.use(3, 4), parent.use(3, 4))


def prefills_by_halves_on_two_rows(engine: Engine) -> None:
    """Context parallel: both rows are the request's, and name the same pages."""
    request, pages = engine.admitted(2)
    half = engine.request()
    half.number = request.number
    engine.seat(half, pages, mapped=False)
    engine.forward(COMPUTE, request.use(0, 4), half.use(4, 8))
    engine.run(request, 8, 8)


def embeds_before_it_prefills(engine: Engine) -> None:
    """A first launch over the row that computes no position of it."""
    request, _ = engine.admitted()
    engine.run(request, 0, 0, kernel="embed")
    engine.run(request, 0, 4)


def _verified(engine: Engine, end: int, *, accepted: int) -> tuple[Request, list[Page]]:
    """Positions 5..`end` were drafts; so many are accepted, and none of them where it is to stand."""
    request, pages = engine.admitted(3)
    engine.run(request, 0, 4)
    engine.run(request, 4, end)
    engine.event(
        "verify", request=request.number, row=request.row, drafts=end - 5, accepted=accepted, frontier=5
    )  # fmt: skip
    return request, pages


def clears_rejected_drafts(engine: Engine) -> None:
    """And computes anew from the first of them."""
    request, pages = _verified(engine, 8, accepted=0)
    engine.clear(COMPUTE, [extent(pages[1], 4, 1)])
    engine.run(request, 5, 8)


def fills_rejected_drafts_with_a_kernel(engine: Engine) -> None:
    """A launch computes those positions by their extents, through no row."""
    request, pages = _verified(engine, 8, accepted=0)
    engine.forward(COMPUTE, kernel="fixup", writes=[extent(pages[1], 4, 1)])
    engine.run(request, 8, 9)


def moves_an_accepted_branch_together(engine: Engine) -> None:
    """A tree of drafts: those of the accepted branch are copied to where the sequence goes on."""
    request, pages = _verified(engine, 10, accepted=2)
    engine.copy(COMPUTE, [extent(pages[1], 4, 2)], [extent(pages[1], 3, 1)])
    engine.run(request, 7, 8)


ACTS: list[Act] = [
    shifts_keys_of_a_page_to_another_place,
    attends_to_selected_pages,
    captures_graphs_on_rows_of_nobody,
    comes_back_with_its_window_alone,
    publishes_before_it_maps,
    maps_behind_the_launch,
    maps_a_page_and_thinks_better_of_it,
    maps_ahead_and_publishes_when_needed,
    maps_the_reserved_page_without_a_life,
    takes_its_row_again_without_a_publish,
    swaps_a_beam,
    maps_the_whole_row_before_each_launch,
    maps_for_the_step_after_the_next,
    pins_a_page_beside_its_own,
    fills_pages_by_other_launches,
    fills_pages_from_outside_in_pieces,
    keeps_a_state_in_a_page,
    makes_a_state_of_keys_and_values,
    samples_in_parallel,
    prefills_by_halves_on_two_rows,
    embeds_before_it_prefills,
    clears_rejected_drafts,
    fills_rejected_drafts_with_a_kernel,
    moves_an_accepted_branch_together,
]


def test_no_row_and_no_filling_is_a_finding(tmp_path: Path) -> None:
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
