"""Last facts: right, kept when the ring wraps, and whole wherever their writing was cut off."""

from pathlib import Path
from typing import Any

import pytest

from tests.record.rings import WRITERS, new_recorder
from tracert.record.access import Clear, Compute, Copy, Extent, Holder, Publish, RowUse
from tracert.record.dump import lane_states, page_states
from tracert.record.facts import Facts
from tracert.record.image import Image, read
from tracert.record.ring_recorder import RingRecorder


def pages_of(recorder: RingRecorder) -> dict[int, dict[str, Any]]:
    """The page states of a dump, by page."""
    return {state.pop("page"): state for state in page_states(read(recorder.ring.path))}


def lanes_of(recorder: RingRecorder) -> dict[int, dict[str, Any]]:
    """The lane states of a dump, by row."""
    return {state.pop("row"): state for state in lane_states(read(recorder.ring.path))}


@pytest.mark.parametrize("native", WRITERS)
def test_a_pages_facts_outlive_the_ring(tmp_path: Path, native: bool) -> None:
    """Holder, previous holder, writer and fence are those of the last event that said so, long ago."""
    recorder = new_recorder(tmp_path, native=native)
    first = recorder.alloc([3, 4], [1, 1], Holder("request", 7))
    recorder.launch(5, 1, 1, "store", Compute("prefill", 1, writes=[Extent(3, 1, 0, 4)]))
    recorder.drop([3], [1], Holder("request", 7), "write")
    recorder.retire([3], [1], 0)
    freed = recorder.free([3], [1])
    again = recorder.alloc([3], [2], Holder("prefix", 9))
    wrote = recorder.launch(6, 2, 1, "copy_pages", Copy([Extent(4, 1, 0, 4)], [Extent(3, 2, 0, 4)]))
    for number in range(3000):
        recorder.fence_record(number, 1, 1)
    assert recorder.lost > 1000
    expected = {
        3: {
            "kind": "page_state",
            "life": 2,
            "state": "held",
            "holder": "prefix:9",
            "previous_holder": "request:7",
            "alloc_seq": again,
            "writer": 6,
            "writer_stream": 2,
            "writer_seq": wrote,
            "writer_life": 2,
            "fence": 0,
            "freed_seq": freed,
        },
        4: {"kind": "page_state", "life": 1, "state": "held", "holder": "request:7", "alloc_seq": first},
    }
    assert expected == pages_of(recorder)


@pytest.mark.parametrize("native", WRITERS)
def test_a_launch_writes_the_pages_that_its_rows_name(tmp_path: Path, native: bool) -> None:
    """Through the row as last published, and only where the launch writes."""
    recorder = new_recorder(tmp_path, native=native)
    pages, lives = [5, 6, 7], [1, 2, 3]
    recorder.alloc(pages, lives, Holder("request", 1))
    published = recorder.launch(1, 2, 1, "copy_row", Publish(2, 4, 9, 0, pages, lives, 1))
    wrote = recorder.launch(2, 1, 1, "forward", Compute("decode", 1, [RowUse(2, 4, 4, 9, 3)]))
    recorder.launch(3, 1, 2, "forward", Compute("decode", 1, [RowUse(2, 4, 9, 9, 3)]))
    found = pages_of(recorder)
    assert "writer" not in found[5]
    for page, life in ((6, 2), (7, 3)):
        assert (2, 1, wrote, life) == tuple(
            found[page][name] for name in ("writer", "writer_stream", "writer_seq", "writer_life")
        )
    lane = {"kind": "lane_state", "epoch": 9, "publish_launch": 1, "publish_stream": 2}
    assert {**lane, "publish_seq": published} == lanes_of(recorder)[2]


@pytest.mark.parametrize("native", WRITERS)
def test_the_clear_of_the_arena_wrote_every_page(tmp_path: Path, native: bool) -> None:
    """One record; every page that is granted later knows it."""
    recorder = new_recorder(tmp_path, native=native)
    everything = [Extent(page, 0, 0, 4) for page in range(24)]
    cleared = recorder.launch(1, 1, 1, "clear_pages", Clear(everything))
    recorder.alloc([23], [1], Holder("request", 1))
    state = pages_of(recorder)[23]
    assert (1, cleared, 0) == (state["writer"], state["writer_seq"], state["writer_life"])


@pytest.mark.parametrize("native", WRITERS)
def test_a_write_without_a_launch_leaves_no_launch_in_the_facts(tmp_path: Path, native: bool) -> None:
    """Whoever asks for the last writer must not be told of the launch before it."""
    recorder = new_recorder(tmp_path, native=native)
    recorder.alloc([5, 6], [1, 1], Holder("request", 1))
    extents = [Extent(5, 1, 0, 4), Extent(6, 1, 0, 4)]
    recorder.launch(1, 1, 1, "forward", Compute("prefill", 1, writes=extents))
    begun = recorder.external_begin("nic", 9, [Extent(6, 1, 0, 4)], [Extent(5, 1, 0, 2)])
    host = recorder.host_write([Extent(6, 1, 3, 4)])
    recorder.external_done("nic", 9)
    found = pages_of(recorder)
    written = {page: {key: found[page].get(key) for key in ("writer", "writer_stream")} for page in (5, 6)}
    nobody = {"writer": None, "writer_stream": None}
    assert {5: nobody, 6: nobody} == written
    assert ((begun, 1), (host, 1)) == tuple(
        (found[page]["writer_seq"], found[page]["writer_life"]) for page in (5, 6)
    )


@pytest.mark.parametrize("native", WRITERS)
def test_a_lane_tells_its_frontier_and_open_transaction(tmp_path: Path, native: bool) -> None:
    """Provisional while the transaction is open, committed when it is closed, back when it is aborted."""
    recorder = new_recorder(tmp_path, native=native)
    recorder.row_acquire(1, 3, 17)
    recorder.schedule(17, 1, "prefill", 4, 20, 0, 5)
    recorder.transaction("begin", 0, 1, 17, 20)
    open_lane = lanes_of(recorder)[1]
    recorder.transaction("commit", 0, 1, 17, 20)
    recorder.transaction("begin", 1, 1, 17, 21)
    recorder.transaction("abort", 1, 1, 17, 21)
    recorder.row_release(1, 3, 17)
    closed = {
        "kind": "lane_state",
        "state": "released",
        "generation": 3,
        "request": 17,
        "frontier": 20,
        "committed": 20,
        "phase": "prefill",
        "step": 4,
        "scheduled_tokens": 20,
        "computed_tokens": 0,
        "pages": 5,
    }
    still_open = {"state": "held", "committed": 0, "provisional": 20, "transaction": 0}
    assert {**closed, **still_open} == open_lane
    assert closed == lanes_of(recorder)[1]


@pytest.mark.parametrize("native", WRITERS)
def test_a_step_may_be_launched_before_the_one_before_is_learnt(tmp_path: Path, native: bool) -> None:
    """What was committed is the earlier frontier, what is open the later one."""
    recorder = new_recorder(tmp_path, native=native)
    recorder.row_acquire(0, 1, 5)
    recorder.schedule(5, 0, "prefill", 9, 20, 0, 4)
    recorder.transaction("begin", 7, 0, 5, 20)
    recorder.schedule(5, 0, "decode", 10, 1, 20, 4)
    recorder.transaction("begin", 9, 0, 5, 21)
    recorder.transaction("commit", 7, 0, 5, 20)
    lane = lanes_of(recorder)[0]
    expected = (21, 20, 1, 9)
    assert expected == (lane["frontier"], lane["committed"], lane["provisional"], lane["transaction"])


@pytest.mark.parametrize("native", WRITERS)
def test_what_a_prefix_hit_spared_is_committed(tmp_path: Path, native: bool) -> None:
    """The frontier starts where the hit ends; only what is being computed is provisional."""
    recorder = new_recorder(tmp_path, native=native)
    recorder.row_acquire(0, 1, 5)
    recorder.schedule(5, 0, "prefill", 9, 12, 48, 4)
    recorder.transaction("begin", 7, 0, 5, 60)
    lane = lanes_of(recorder)[0]
    assert (60, 48, 12) == (lane["frontier"], lane["committed"], lane["provisional"])


class Cut:
    """Memory that lets a number of stores pass; after that nothing is stored any more."""

    def __init__(self, memory: Any, left: list[int]) -> None:
        self.memory = memory
        self.left = left

    def __getitem__(self, index: Any) -> Any:
        return self.memory[index]

    def __setitem__(self, index: Any, value: int) -> None:
        if not self.left[0]:
            raise InterruptedError
        self.left[0] -= 1
        self.memory[index] = value


def fold_from(image: Image, facts: Facts, start: int) -> int:
    """Fold the events of the image from position `start` on; returns where it was interrupted."""
    position = start
    try:
        for position in range(start, len(image.heads)):
            place = int(image.heads[position])
            fold = facts.folds.get(int(image.slots["kind"][place]))
            if fold is not None:
                fold(image.told(place))
    except InterruptedError:
        return position
    return len(image.heads)


def tell_two_lives(recorder: RingRecorder) -> None:
    """Every kind of event that leaves facts, on few pages and rows."""
    request, prefix = Holder("request", 7), Holder("prefix", 9)
    recorder.launch(1, 1, 1, "clear_pages", Clear([Extent(page, 0, 0, 4) for page in range(24)]))
    for life in (1, 2):
        recorder.row_acquire(1, life, 7)
        recorder.alloc([3, 4], [life, life], request)
        recorder.launch(2 * life, 2, life, "copy_row", Publish(1, life, life, 0, [3, 4], [life, life], 1))
        recorder.schedule(7, 1, "prefill", life, 6, 0, 2)
        recorder.transaction("begin", life, 1, 7, 6)
        recorder.launch(2 * life + 1, 1, life + 1, "f", Compute("prefill", life, [RowUse(1, life, 0, 6, 2)]))
        recorder.hold([3], [life], prefix, "read")
        recorder.transaction("abort" if life == 1 else "commit", life, 1, 7, 6)
        copied = Copy([Extent(3, life, 0, 4)], [Extent(4, life, 0, 4)])
        recorder.launch(9 * life, 1, life + 2, "copy_pages", copied)
        recorder.drop([3, 4], [life, life], request, "write")
        recorder.drop([3], [life], prefix, "read")
        recorder.row_release(1, life, 7)
        recorder.retire([3, 4], [life, life], life)
        recorder.free([3, 4], [life, life])


def test_facts_are_the_same_wherever_their_writing_was_cut_off(tmp_path: Path) -> None:
    """Killed between any two stores of any fold, then folded again from that event on: every cut."""
    recorder = new_recorder(tmp_path)
    tell_two_lives(recorder)
    image = read(recorder.ring.path)
    expected = bytes(image.fixed)
    start = recorder.ring.header.regions.pages
    stores = 0
    while True:
        image.fixed[start:] = bytes(len(expected) - start)
        cut, left = Facts(image.fixed, image.header), [stores]
        cut._bytes, cut._u32, cut._u64 = (  # type: ignore[assignment]
            Cut(memory, left) for memory in (cut._bytes, cut._u32, cut._u64)
        )
        interrupted = fold_from(image, cut, 0)
        fold_from(image, Facts(image.fixed, image.header), interrupted)
        assert expected == bytes(image.fixed)
        if interrupted == len(image.heads):
            break
        stores += 1
    assert stores > 200


def test_events_that_are_newer_than_the_facts_are_folded_when_the_ring_is_read(tmp_path: Path) -> None:
    """As after a kill between the record and its facts."""
    recorder = new_recorder(tmp_path)
    recorder.alloc([3], [1], Holder("request", 7))
    ring = recorder.ring
    before = bytes(ring.buffer[: ring.header.regions.records])
    recorder.alloc([3], [2], Holder("request", 8))
    recorder.row_acquire(1, 2, 8)
    regions = ring.header.regions
    ring.buffer[regions.pages : regions.records] = before[regions.pages : regions.records]
    ring.counters[3] = 1
    assert ("request:8", "request:7", 2) == tuple(
        pages_of(recorder)[3][name] for name in ("holder", "previous_holder", "life")
    )
    assert 8 == lanes_of(recorder)[1]["request"]
