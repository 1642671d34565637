"""TR301, stale-bytes: each fault beside its sound twins."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.analysis.history import History, Launched, Page, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE, TRANSFER = 1, 2
Nothing = Callable[[History, Sequence[Page]], object]


def nothing(history: History, pages: Sequence[Page]) -> None:
    """No policy: the page is used as it is."""


def stored(history: History, *, early: bool = False) -> tuple[Launched, int]:
    """Snapshot 4's rows lie in page 5 until their fence has passed; the page is free then.

    With `early` the fence has passed before the snapshot is released.
    """
    pages = history.alloc([5], "snapshot:4")
    history.event("snapshot_alias", snapshot=4, ranges=[[5, 0, 64]], pages=[[5, 1]])
    store = history.forward(COMPUTE, kernel="save_rows", phase="snapshot", writes=[[5, 1, 0, 4]], **ROWS)
    history.event(
        "snapshot_save",
        snapshot=4,
        request=1,
        launch=store.launch,
        positions=4,
        ranges=[[5, 0, 64]],
        pages=[[5, 1]],
    )
    fence = history.record(COMPUTE)
    passed = history.passed(fence) if early else 0
    history.event("snapshot_release", snapshot=4, ranges=[[5, 0, 64]], pages=[[5, 1]])
    history.drop(pages, "snapshot:4")
    history.retire(pages, fence)
    passed = passed or history.passed(fence)
    history.free(pages)
    return store, passed


ROWS = {"class": "rows"}


def reused(history: History, clear: Nothing = nothing, *, end: int = 2, covers: str = "page") -> Launched:
    """Page 5 is granted to request 2, which writes positions 0 up to `end` and reads the page."""
    pages = history.alloc([5], "request:2")
    clear(history, pages)
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    return history.forward(COMPUTE, use(0, 1, 0, end, covers=covers))


def test_what_came_first_is_told_first(history: History, told: Read) -> None:
    """The fence of the earlier life had passed before that life ended."""
    _, passed = stored(history, early=True)
    reused(history)
    (finding,) = told(history)
    assert finding["sentence"].endswith(
        f"; fence 1 of that life passed at event {passed}, the life ended at event {passed + 2}, and no "
        "clear stands between"
    )


def test_a_fence_that_is_recorded_anew_is_another(history: History, told: Read) -> None:
    """Its first record passed long before, its last one comes later: what counts stood at the retirement."""
    fence = history.record(COMPUTE)
    history.passed(fence)
    pages = history.alloc([5], "snapshot:4")
    history.forward(COMPUTE, kernel="save_rows", writes=[[5, 1, 0, 4]], **ROWS)
    ended = history.drop(pages, "snapshot:4")
    history.record(COMPUTE, again=fence)
    history.retire(pages, fence)
    passed = history.passed(fence)
    history.free(pages)
    reused(history)
    history.passed(history.record(COMPUTE, again=fence))
    (finding,) = told(history)
    assert finding["sentence"].endswith(
        f"; that life ended at event {ended}, its fence 1 passed at event {passed}, and no clear stands "
        "between"
    )


def test_state_rows_under_a_tail(history: History, told: Read) -> None:
    """A kernel loads the whole page, of which the request has written two positions."""
    store, passed = stored(history)
    launch = reused(history)
    (finding,) = told(history)
    assert {
        "code": "TR301",
        "name": "stale-bytes",
        "seq": launch.seq,
        "class": "content",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute loads positions 2 to 3 of page 5.2 of request 2, "
            f"where state rows of snapshot 4 still are, stored by launch {store.launch} (save_rows) on "
            f"compute in life 1; that life ended at event {passed - 2}, its fence 1 passed at event "
            f"{passed}, and no clear stands between"
        ),
        "resource_kind": "page",
        "resource_id": 5,
        "life": 2,
        "row": 0,
        "generation": 1,
        "request": 2,
        "launch": launch.launch,
        "stream": COMPUTE,
        "other_launch": store.launch,
        "other_stream": COMPUTE,
        "other_seq": store.seq,
    }.items() <= finding.items()


@pytest.mark.parametrize(
    "clear",
    [
        lambda history, pages: history.clear(COMPUTE, [[*pages[0], 0, 4]]),
        lambda history, pages: history.clear(COMPUTE, [[*pages[0], 2, 4]]),
        lambda history, pages: history.clear(COMPUTE, [[5, 1, 0, 4]]),
        lambda history, pages: history.forward(COMPUTE, writes=[[*pages[0], 2, 4]]),
    ],
)
def test_a_cleared_tail_is_sound(history: History, told: Read, clear: Nothing) -> None:
    """The page, its tail, or the page before it was granted, is cleared; or written whole."""
    stored(history)
    reused(history, clear)
    assert [] == told(history)


def test_a_kernel_that_skips_what_is_not_valid_is_sound(history: History, told: Read) -> None:
    """Masked positions are not loaded."""
    stored(history)
    reused(history, covers="valid")
    assert [] == told(history)


@pytest.mark.parametrize(("end", "codes"), [(3, ["TR301"]), (4, [])])
def test_the_last_position_counts(history: History, told: Read, end: int, codes: list[str]) -> None:
    """With three positions written one is stale; a full page is its request's own."""
    stored(history)
    reused(history, end=end)
    assert codes == [finding["code"] for finding in told(history)]


def test_a_clear_that_misses_a_position(history: History, told: Read) -> None:
    """Positions 2 up to 3 are cleared, position 3 isn't."""
    stored(history)
    clears = []
    launch = reused(
        history, lambda history, pages: clears.append(history.clear(COMPUTE, [[*pages[0], 2, 3]]))
    )
    (finding,) = told(history)
    assert ("TR301", launch.seq) == (finding["code"], finding["seq"])
    assert "loads position 3 of page 5.2" in finding["sentence"]
    assert finding["sentence"].endswith(
        f"; launch {clears[0].launch} (clear_pages) on compute cleared position 2 of page 5.2 and left "
        "position 3"
    )


def test_the_clear_that_came_nearest_is_told(history: History, told: Read) -> None:
    """A page that nobody holds is cleared for its next life; one of the life before prepares nothing."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    tail = history.clear(COMPUTE, [[5, 1, 3, 4]])
    history.forward(COMPUTE, writes=[[5, 1, 3, 4]])
    history.give_back(pages, "request:1")
    reused(history)
    (finding,) = told(history)
    assert finding["sentence"].endswith(", and no clear stands between")
    history.release(0, 1, 2)
    history.give_back([(5, 2)], "request:2")
    near = history.clear(COMPUTE, [[5, 2, 3, 4]])
    pages = history.alloc([5], "request:3")
    history.clear(COMPUTE, [[5, 3, 1, 2]])
    history.acquire(0, 2, 3)
    history.publish(COMPUTE, 0, 2, pages)
    history.forward(COMPUTE, use(0, 2, 0, 1, covers="page"))
    _, finding = told(history)
    assert tail.launch < near.launch
    assert finding["sentence"].endswith(
        f"launch {near.launch + 1} (clear_pages) on compute cleared position 1 of page 5.3 and left "
        "position 2"
    )


def test_a_page_that_was_never_used_is_sound(history: History, told: Read) -> None:
    """The arena's clear is enough for the first life."""
    reused(history)
    assert [] == told(history)


def test_output_that_was_not_finite_makes_it_observed(history: History, told: Read) -> None:
    """The request's next output has a NaN, and nothing was cleared in between."""
    stored(history)
    launch = reused(history)
    history.event("nonfinite", launch=launch.launch, request=2, row=0, position=1, layer=0, page=5, life=2)
    assert [("TR301", "observed"), ("TR902", "observed")] == [
        (finding["code"], finding["confidence"]) for finding in told(history)
    ]


def test_output_of_another_request_proves_no_more(history: History, told: Read) -> None:
    """A NaN elsewhere is not this finding's."""
    stored(history)
    reused(history)
    other = history.forward(COMPUTE, phase="prefill")
    history.event("nonfinite", launch=other.launch, request=7, row=3, position=1, layer=0, page=9, life=1)
    assert ["proven", "observed"] == [finding["confidence"] for finding in told(history)]


def test_it_fires_at_the_first_launch_that_covers_it(history: History, told: Read) -> None:
    """Later launches of the same life aren't told again, and a growing tail is one finding."""
    stored(history)
    launch = reused(history)
    history.forward(COMPUTE, use(0, 1, 2, 3, covers="page"))
    history.forward(COMPUTE, use(0, 1, 3, 4, covers="page"))
    assert [launch.seq] == [finding["seq"] for finding in told(history)]


def test_keys_and_values_of_another_request(history: History, told: Read) -> None:
    """The earlier life was a request's own."""
    reused(history, end=4)
    history.release(0, 1, 2)
    history.give_back([(5, 1)], "request:2")
    pages = history.alloc([5], "request:3")
    history.acquire(0, 2, 3)
    history.publish(COMPUTE, 0, 2, pages)
    launch = history.forward(COMPUTE, use(0, 2, 0, 1, covers="page"))
    (finding,) = told(history)
    assert ("TR301", launch.seq, 3) == (finding["code"], finding["seq"], finding["request"])
    assert "positions 1 to 3 of page 5.2 of request 3" in finding["sentence"]
    assert "where keys and values of request 2 still are" in finding["sentence"]


def test_what_a_copy_brings_along(history: History, told: Read) -> None:
    """A copy of stale bytes fires nothing; the first read of what it copied does, and says whose they are."""
    store, _ = stored(history)
    history.alloc([5], "request:2")
    target = history.alloc([6], "request:2")
    copy = history.copy(COMPUTE, [[5, 2, 0, 4]], [[6, 1, 0, 4]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, target)
    launch = history.forward(COMPUTE, use(0, 1, 0, 1, covers="page"))
    (finding,) = told(history)
    assert ("TR301", launch.seq, 6, store.launch) == (
        finding["code"],
        finding["seq"],
        finding["resource_id"],
        finding["other_launch"],
    )
    assert f"in page 5.1 and brought here by launch {copy.launch} (copy_pages)" in finding["sentence"]


def test_a_fork_by_copying_is_sound(history: History, told: Read) -> None:
    """What was written in the source's life is copied; the target had another life before."""
    stored(history)
    source = history.alloc([6], "request:1")
    history.acquire(1, 1, 1)
    history.publish(COMPUTE, 1, 1, source)
    history.forward(COMPUTE, use(1, 1, 0, 3))
    pages = history.alloc([5], "request:2")
    history.copy(COMPUTE, [[6, 1, 0, 3]], [[5, 2, 0, 3]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 3, 4, covers="page"))
    assert [] == told(history)


def test_a_fork_that_copies_too_little(history: History, told: Read) -> None:
    """Two of three positions are copied; the third is read as valid."""
    stored(history)
    source = history.alloc([6], "request:1")
    history.forward(COMPUTE, writes=[[6, 1, 0, 3]])
    pages = history.alloc([5], "request:2")
    history.copy(COMPUTE, [[*source[0], 0, 2]], [[5, 2, 0, 2]])
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 3, 4))
    (finding,) = told(history)
    assert ("TR301", launch.seq) == (finding["code"], finding["seq"])
    assert "loads position 2 of page 5.2" in finding["sentence"]


def test_the_host_tier_brings_back_what_was_offloaded(history: History, told: Read) -> None:
    """A page goes to a slot and comes back to another: its positions are clean, over stale bytes."""
    source = history.alloc([6], "request:1")
    history.forward(TRANSFER, writes=[[6, 1, 0, 4]])
    history.moved("offload", TRANSFER, [(3, *source[0])])
    history.sync(TRANSFER)
    stored(history)
    reused(
        history, lambda history, pages: (history.moved("load", TRANSFER, [(3, *pages[0])]), history.sync())
    )
    assert [] == told(history)


def test_the_host_tier_brings_back_stale_bytes(history: History, told: Read) -> None:
    """What was offloaded was an earlier life's already."""
    store, _ = stored(history)
    pages = history.alloc([5], "request:1")
    history.sync()
    history.moved("offload", TRANSFER, [(3, *pages[0])])
    target = history.alloc([6], "request:2")
    load = history.moved("load", TRANSFER, [(3, *target[0])])
    history.sync()
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, target)
    launch = history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"))
    (finding,) = told(history)
    assert ("TR301", launch.seq, store.launch) == (finding["code"], finding["seq"], finding["other_launch"])
    assert f"brought here by launch {load.launch}" in finding["sentence"]


def test_shared_prefix_pages_are_sound(history: History, told: Read) -> None:
    """The page's writer is another request of the same life."""
    stored(history)
    first = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, first)
    history.forward(COMPUTE, use(0, 1, 0, 4))
    history.hold(first, "request:2")
    own = history.alloc([6], "request:2")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, [*first, *own])
    history.forward(COMPUTE, use(1, 1, 4, 5, covers="page"))
    assert [] == told(history)


def test_a_history_that_starts_in_the_middle_knows_nothing(history: History, told: Read) -> None:
    """Before the keyframe the page may have been cleared: what isn't known is no finding."""
    stored(history)
    history.alloc([5], "request:2")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, [(5, 2)])
    del history.events[:-1]
    history.keyframe(
        [{"page": 5, "life": 2, "state": "held", "holders": ["request:2/write"]}],
        [{"row": 0, "generation": 1, "request": 2, "epoch": 1, "entries": [[0, 5, 2]]}],
    )
    history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"))
    assert [] == told(history)


def test_an_event_of_an_unknown_kind_may_have_cleared(history: History, told: Read) -> None:
    """A later version's event between them: the finding is suspected only."""
    stored(history)
    history.event("scrub", page=5)
    reused(history)
    assert [("TR301", "suspected")] == [(finding["code"], finding["confidence"]) for finding in told(history)]


@pytest.mark.parametrize("over", [True, False])
def test_bytes_of_the_other_kind_in_the_same_life(history: History, told: Read, over: bool) -> None:
    """Rows over keys and values of a page, or beside them; each is read by both kinds of launches."""
    pages = history.alloc([5], "snapshot:4")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 2))
    span = [5, 1, 0, 2] if over else [5, 1, 2, 4]
    store = history.forward(COMPUTE, kernel="store_row", phase="snapshot", writes=[span], **ROWS)
    history.forward(COMPUTE, kernel="load_row", phase="snapshot", reads=[span], **ROWS)
    if not over:
        history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
        history.forward(COMPUTE, use(0, 1, 2, 2))
        assert [] == [one for one in told(history) if one["code"] == "TR301"]
    reader = history.forward(COMPUTE, use(0, 1, 2, 2, covers="valid" if over else "page"))
    (finding,) = (one for one in told(history) if one["code"] == "TR301")
    assert ("TR301", "proven", reader.seq, store.launch) == tuple(
        finding[name] for name in ("code", "confidence", "seq", "other_launch")
    )
    assert finding["sentence"].endswith(
        f"state rows are, stored by launch {store.launch} (store_row) on compute in this life: it takes them "
        "for keys and values"
    )


def test_keys_and_values_that_are_read_as_rows(history: History, told: Read) -> None:
    """A request's step writes over the rows, through a copy; then a restore reads them."""
    history.alloc([5], "snapshot:4")
    (page,) = history.alloc([6], "request:2")
    history.forward(COMPUTE, kernel="store_row", phase="snapshot", writes=[[5, 1, 0, 4]], **ROWS)
    writer = history.forward(COMPUTE, writes=[[*page, 0, 4]])
    copy = history.copy(COMPUTE, [[*page, 1, 2]], [[5, 1, 1, 2]])
    load = history.forward(COMPUTE, kernel="load_row", phase="snapshot", reads=[[5, 1, 0, 4]], **ROWS)
    (finding,) = told(history)
    assert (load.seq, 5, writer.launch) == tuple(
        finding[name] for name in ("seq", "resource_id", "other_launch")
    )
    assert "loads position 1 of page 5.1, where keys and values are, stored by" in finding["sentence"]
    assert finding["sentence"].endswith(
        f"in page 6.1 and brought here by launch {copy.launch} (copy_pages) on compute: it takes them for "
        "state rows"
    )


@pytest.mark.parametrize("how", ["makes", "restores", "stores"])
def test_the_class_tells_what_a_launch_writes(history: History, told: Read, how: str) -> None:
    """Rows are made of keys and values, which it reads; that a snapshot is restored tells what it reads."""
    history.give_back(history.alloc([5], "snapshot:4"), "snapshot:4")
    (page,) = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[*page, 0, 4]])
    (rows,) = history.alloc([6], "snapshot:5")
    if how == "makes":
        history.forward(COMPUTE, kernel="make_rows", reads=[[*page, 0, 4]], writes=[[*rows, 0, 2]], **ROWS)
    elif how == "restores":
        load = history.forward(COMPUTE, kernel="load_row", reads=[[*page, 0, 4]])
        history.event("snapshot_restore", snapshot=5, request=1, launch=load.launch)
    else:
        history.forward(COMPUTE, kernel="store_row", writes=[[*rows, 0, 2]], **ROWS)
        load = history.forward(COMPUTE, kernel="load_row", reads=[[*rows, 0, 2], [*page, 0, 1]], **ROWS)
    assert ([] if how == "makes" else [("TR301", load.seq)]) == [
        (finding["code"], finding["seq"]) for finding in told(history)
    ]


def test_what_several_launches_stored(history: History, told: Read) -> None:
    """A page that was decoded into: the sentence speaks of all, and names the last."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3))
    last = history.forward(COMPUTE, use(0, 1, 3, 4))
    history.release(0, 1, 1)
    history.give_back(pages, "request:1")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, history.alloc([5], "request:2"))
    history.forward(COMPUTE, use(1, 1, 0, 1, covers="page"))
    (finding,) = told(history)
    assert (
        "loads positions 1 to 3 of page 5.2 of request 2, where keys and values of request 1 still are, "
        f"stored by 2 launches, last by launch {last.launch} (forward) on compute in life 1; "
    ) in finding["sentence"]
    assert finding["other_launch"] == last.launch


def test_what_is_stored_through_a_row_after_the_end_of_a_life(history: History, told: Read) -> None:
    """It did not stand there before: no clear could have come between, and the sentence claims none."""
    pages = history.alloc([5], "request:2")
    history.acquire(0, 1, 2)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    ended = history.drop(pages, "request:2")
    history.free(pages)
    again = history.alloc([5], "request:3")
    history.acquire(1, 1, 3)
    history.publish(COMPUTE, 1, 1, again)
    late = history.forward(COMPUTE, use(0, 1, 1, 2))
    history.forward(COMPUTE, use(1, 1, 0, 1, covers="page"))
    sentence = next(found["sentence"] for found in told(history) if found["code"] == "TR301")
    assert sentence.endswith(
        f"where keys and values of request 2 are, stored by launch {late.launch} (forward) on compute as in "
        f"life 1; that life had ended before, at event {ended}"
    )
