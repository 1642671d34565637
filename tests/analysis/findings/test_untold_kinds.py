"""Engines that don't tell of some kinds of acts: what rests on those is unknown, the rest is found."""

from pathlib import Path

import pytest

from tests.analysis.findings.other_engine import COMPUTE, Act, Engine, extent

KINDS = {
    "no map": ("map", "unmap"),
    "no insert": ("insert", "evict"),
    "no holder": ("hold", "drop", "retire"),
    "no publish": ("publish",),
}


def leaves_its_window_to_the_reserved_page(engine: Engine) -> None:
    """A sliding window: the first page goes back, and its entry names page 0 from then on."""
    request, pages = engine.prefill(8)
    engine.map(request, 0, [(0, 1)])
    engine.show(request, [(0, 1)])
    engine.give_back(pages[:1], request.holder)
    grown = engine.pages(1, request.holder)
    engine.map(request, 2, grown)
    engine.show(request, grown, first=2)
    engine.run(request, 8, 9)
    engine.run(request, 9, 10)


def hits_what_lies_in_its_window(engine: Engine) -> None:
    """The match names page 0 in the place of what no position of the request sees any more."""
    _, pages = engine.prefill(12)
    node = engine.insert(pages)
    request = engine.request()
    found = [(0, 1), (0, 1), pages[2]]
    engine.match(request, node, found, 12)
    engine.hold(pages[2:], request.holder, "read")
    engine.seat(request, found + engine.pages(1, request.holder))
    engine.run(request, 12, 13)


def goes_on_from_a_hit(engine: Engine) -> None:
    """The page is another request's, which goes on, too, and then ends."""
    request, shared, _ = engine.hit()
    engine.hold(shared, request.holder, "read")
    own = engine.pages(1, request.holder)
    engine.seat(request, shared + own)
    engine.run(request, 4, 6)
    engine.unseat(request)
    engine.drop(shared, request.holder, "read")
    engine.give_back(own, request.holder)


def gives_back_behind_a_fence(engine: Engine) -> None:
    """The page is retired, and then somebody else's."""
    request, pages = engine.prefill(3)
    fence = engine.record(COMPUTE)
    engine.unseat(request)
    engine.drop(pages, request.holder)
    engine.retire(pages, fence)
    engine.passed(fence)
    engine.free(pages)
    other = engine.request()
    engine.seat(other, engine.alloc([page for page, _ in pages], other.holder))
    engine.run(other, 0, 3)


def reads_past_rows_what_was_computed_through_one(engine: Engine) -> None:
    """A launch without rows, of a page that was hit."""
    request, shared, _ = engine.hit()
    engine.hold(shared, request.holder, "read")
    engine.forward(COMPUTE, kernel="cascade", reads=[extent(shared[0], 4)])


def follows_more_than_it_has(engine: Engine) -> None:
    """A captured graph follows entries behind the end of the sequence: they pad the row."""
    request, _ = engine.admitted()
    engine.show(request, [(0, 1), (0, 1)], first=1)
    engine.forward(COMPUTE, request.use(0, 3, walked=3))


SOUND: tuple[Act, ...] = (
    leaves_its_window_to_the_reserved_page,
    hits_what_lies_in_its_window,
    goes_on_from_a_hit,
    gives_back_behind_a_fence,
    reads_past_rows_what_was_computed_through_one,
    follows_more_than_it_has,
)


def reads_what_was_freed(engine: Engine) -> None:
    """Its row still names a page that was given back."""
    request, pages = engine.prefill(3)
    engine.give_back(pages, request.holder)
    engine.run(request, 3, 4)


def frees_twice(engine: Engine) -> None:
    """The page stands on the free list twice."""
    request, pages = engine.prefill(3)
    engine.give_back(pages, request.holder)
    engine.free(pages)


def maps_too_little(engine: Engine) -> None:
    """The launch follows one entry more than is mapped, and stores there."""
    request = engine.request()
    pages = engine.pages(2, request.holder)
    engine.seat(request, pages, mapped=False)
    engine.map(request, 0, pages[:1])
    engine.run(request, 0, 6)


def reads_what_another_has(engine: Engine) -> None:
    """Page 1 is another request's."""
    _, theirs = engine.prefill(3)
    request = engine.request()
    engine.seat(request, theirs)
    engine.run(request, 3, 4)


def hits_before_it_is_written(engine: Engine) -> None:
    """Nobody computed the page."""
    owner = engine.request()
    pages = engine.pages(1, owner.holder)
    node = engine.insert(pages)
    request = engine.request()
    engine.match(request, node, pages, 4)
    engine.hold(pages, request.holder, "read")
    engine.seat(request, pages + engine.pages(1, request.holder))
    engine.run(request, 4, 5)


BROKEN: dict[str, dict[Act, set[str]]] = {
    "no map": {reads_what_was_freed: {"TR201", "TR402"}, reads_what_another_has: {"TR402"}},
    "no insert": {hits_before_it_is_written: {"TR302", "TR502"}, frees_twice: {"TR203"}},
    "no holder": {reads_what_was_freed: {"TR201", "TR402"}, frees_twice: {"TR203"}},
    "no publish": {maps_too_little: {"TR403"}, frees_twice: {"TR203"}},
}


@pytest.mark.parametrize("untold", KINDS)
def test_what_rests_on_an_untold_kind_is_unknown(tmp_path: Path, untold: str) -> None:
    """Sound acts are no finding, and what is broken without that kind still is one."""
    engine = Engine()
    engine.perform(*SOUND)
    assert [] == _told(engine, tmp_path, untold)
    engine.perform(*BROKEN[untold])
    found: dict[str, set[str]] = {}
    for act, code, confidence, _ in _told(engine, tmp_path, untold):
        assert confidence == "proven", (act, code)
        found.setdefault(act, set()).add(code)
    assert {act.__name__: codes for act, codes in BROKEN[untold].items()} == found


def test_what_launches_stored_in_rows_that_nobody_tells_of_is_no_proof(tmp_path: Path) -> None:
    """The page's second life was computed, for all that one knows."""
    engine = Engine()
    pages = engine.pages(1, "request:9")
    engine.fill(COMPUTE, pages)
    engine.sync()
    engine.give_back(pages, "request:9")
    request = engine.request()
    pages = engine.alloc([page for page, _ in pages], request.holder)
    engine.seat(request, pages)
    engine.run(request, 0, 4)
    engine.forward(COMPUTE, kernel="cascade", reads=[extent(pages[0], 4)])
    assert [] == engine.told(tmp_path)
    assert [("TR301", "suspected")] == [found[1:3] for found in _told(engine, tmp_path, "no publish")]
    unknown = engine.read(tmp_path).evidence.unknown
    engine.events = [event for event in engine.events if event["kind"] != "publish"]
    told = engine.read(tmp_path).evidence.unknown
    assert unknown == ()
    assert told == ("no publish is told: in which pages launches read and write through rows is not known",)


def test_who_shares_and_frees_nothing_may_not_tell_of_holders(tmp_path: Path) -> None:
    """That is no proof: the page may be shared. Where holders are told of, it is one."""
    engine = Engine()
    engine.perform(reads_what_another_has)
    assert [("TR402", "suspected")] == [found[1:3] for found in engine.told(tmp_path)]
    engine.give_back(engine.pages(1, "request:9"), "request:9")
    assert [("TR402", "proven")] == [found[1:3] for found in engine.told(tmp_path)]


def _told(engine: Engine, folder: Path, untold: str) -> list[tuple[str, str, str, str]]:
    every = engine.events
    try:
        engine.events = [event for event in every if event["kind"] not in KINDS[untold]]
        return engine.told(folder)
    finally:
        engine.events = every
