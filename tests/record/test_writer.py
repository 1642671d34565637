"""The writer in C and the one in Python write the same bytes."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.record import numbered
from tests.record.rings import WRITERS, events_of, new_recorder
from tests.record.telling import GEOMETRY, Telling, tellings
from tracert.record.errors import GeometryError
from tracert.record.image import read
from tracert.record.layout import COUNTERS_AT, HEADER_SIZE, SLOT
from tracert.record.ring_recorder import RingRecorder

needs_both = pytest.mark.skipif(len(WRITERS) < 2, reason="the C writer was not built")


def bytes_of(recorder: RingRecorder) -> tuple[bytes, bytes, bytes]:
    """Counters, everything between header and records, and the records without times and checksums."""
    regions = recorder.ring.header.regions
    whole = bytes(recorder.ring.buffer)
    records = np.frombuffer(whole, SLOT, GEOMETRY.slots, regions.records).copy()
    heads = records["seq"] < 1 << 63
    records["t"][heads] = 0
    records["sum"][heads] = 0
    return whole[COUNTERS_AT : COUNTERS_AT + 32], whole[HEADER_SIZE : regions.records], records.tobytes()


@needs_both
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(tellings, max_size=60), repeat=st.integers(1, 12))
def test_both_writers_leave_the_same_file(tmp_path: Path, told: list[Telling], repeat: int) -> None:
    """Records, counters, words and last facts, also when the ring is overwritten several times."""
    recorders = [new_recorder(tmp_path, native=native) for native in WRITERS]
    for recorder in recorders:
        for _ in range(repeat):
            for telling in told:
                telling.tell(recorder)
    python, native = map(bytes_of, recorders)
    assert python == native
    for recorder in recorders:
        recorder.ring.path.unlink()


@pytest.mark.parametrize("native", WRITERS)
def test_pages_may_come_in_any_sequence(tmp_path: Path, native: bool) -> None:
    """Lists, tuples, ranges and arrays are the same to a writer."""
    recorder = new_recorder(tmp_path, native=native)
    pages: list[Any] = [[4, 5], (4, 5), range(4, 6), np.array([4, 5], np.int32), np.array([4, 5])]
    for each in pages:
        recorder.free(each, np.array([1, 2]))  # type: ignore[arg-type]
    assert [[[4, 1], [5, 2]]] * len(pages) == [event["pages"] for event in events_of(recorder)]


@pytest.mark.parametrize("native", WRITERS)
def test_no_pages_are_no_event(tmp_path: Path, native: bool) -> None:
    """Nothing happened, so nothing is told."""
    recorder = new_recorder(tmp_path, native=native)
    assert 0 == recorder.free([], [])
    assert 0 == recorder.events


@pytest.mark.parametrize("native", WRITERS)
def test_pages_and_lives_of_different_length_are_refused(tmp_path: Path, native: bool) -> None:
    """A record that pairs the wrong ones would be a lie."""
    recorder = new_recorder(tmp_path, native=native)
    for pages, lives in (([1, 2], [1]), ([1], [1, 2]), ([], [1])):
        with pytest.raises(ValueError, match=r"."):
            recorder.free(pages, lives)
    assert [] == events_of(recorder)


@pytest.mark.parametrize("native", WRITERS)
def test_a_number_that_does_not_fit_is_refused(tmp_path: Path, native: bool) -> None:
    """Never cut: not in a slot, not in a payload."""
    recorder = new_recorder(tmp_path, native=native)
    with pytest.raises(OverflowError, match="32 bits"):
        recorder.row_acquire(1, 1 << 33, 1)
    with pytest.raises(OverflowError, match="64 bits"):
        recorder.row_acquire(1, 1, 1 << 65)
    with pytest.raises(OverflowError, match="32 bits"):
        recorder.free([1, 1 << 32], [1, 1])
    assert [] == events_of(recorder)


@pytest.mark.parametrize("native", WRITERS)
def test_an_event_larger_than_the_ring_is_refused(tmp_path: Path, native: bool) -> None:
    """It says so, instead of overwriting itself."""
    recorder = new_recorder(tmp_path, native=native)
    recorder.row_acquire(1, 1, 1)
    with pytest.raises(GeometryError, match="larger --ring-events"):
        recorder.free(range(8000), range(8000))
    assert ["row_acquire"] == [event["kind"] for event in events_of(recorder)]


@pytest.mark.parametrize("native", WRITERS)
def test_threads_never_share_a_slot(tmp_path: Path, native: bool) -> None:
    """Every event of every thread is there once, and seqs follow time."""
    recorder = new_recorder(tmp_path, native=native)

    def work(thread: int) -> None:
        for number in range(60):
            recorder.free([thread, number], [1, 1])

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    events = events_of(recorder)
    expected = {(thread, number) for thread in range(4) for number in range(60)}
    assert expected == {(event["pages"][0][0], event["pages"][1][0]) for event in events}
    image = read(recorder.ring.path)
    times = image.slots["t"][image.heads]
    assert (times[1:] >= times[:-1]).all()


@pytest.mark.parametrize("native", WRITERS)
def test_events_and_lost_are_counted(tmp_path: Path, native: bool) -> None:
    """Told = readable + lost, whatever payload the events have."""
    recorder = new_recorder(tmp_path, native=native)
    for number in range(1, 2000):
        numbered.tell(recorder, number)
    kept = len(events_of(recorder))
    assert 1999 == recorder.events
    assert 1999 - kept == recorder.lost
    assert 0 < kept < 1000
