"""Damage is detected record by record, counted, and never believed."""

import contextlib
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.record import numbered
from tests.record.rings import WRITERS, events_of, new_recorder
from tests.record.telling import GEOMETRY
from tracert.record.errors import NotARingError, PathError, RingVersionError, TruncatedRingError
from tracert.record.image import Image, read
from tracert.record.layout import COUNTERS_AT, HEADER_SIZE, SLOT_SIZE, Header, seal
from tracert.record.ring_recorder import RingRecorder

needs_checksum = pytest.mark.skipif(len(WRITERS) < 2, reason="only the C writer writes checksums")


def told(folder: Path, count: int, *, native: bool) -> RingRecorder:
    """A recorder that was told numbered events."""
    recorder = new_recorder(folder, native=native)
    for number in range(1, count + 1):
        numbered.tell(recorder, number)
    return recorder


def damaged(recorder: RingRecorder, change: dict[int, bytes]) -> Image:
    """The ring read from a copy of the file in which some bytes are others. Its process counts as dead."""
    path = recorder.ring.path.with_suffix(".damaged")
    shutil.copy(recorder.ring.path, path)
    with path.open("r+b") as file:
        for at, data in change.items():
            file.seek(at)
            file.write(data)
        file.seek(0)
        dead = replace(Header.unpack(file.read(HEADER_SIZE)), pid=2**22 + 1)
        file.seek(0)
        file.write(dead.pack()[:COUNTERS_AT])
    return read(path)


def slot_at(recorder: RingRecorder, seq: int) -> int:
    """The byte offset of the slot of `seq`."""
    ring = recorder.ring
    return ring.header.regions.records + SLOT_SIZE * ((seq - 1) & ring.header.geometry.mask)


def untouched(events: list[dict[str, Any]], hit: set[int]) -> list[int]:
    """The numbers of the events none of whose slots were hit."""
    found = []
    for event in events:
        number = numbered.number_of(event)
        slots = {(event["seq"] - 1 + more) & GEOMETRY.mask for more in range(numbered.slots(number))}
        if not slots & hit:
            found.append(number)
    return found


@pytest.mark.parametrize("native", WRITERS)
@pytest.mark.parametrize("count", [0, 1, 300, 431, 5000])
def test_what_the_ring_still_holds_is_read(tmp_path: Path, native: bool, count: int) -> None:
    """Before, at and long after the first wrap: the newest events, in order, without holes."""
    recorder = told(tmp_path, count, native=native)
    image = read(recorder.ring.path)
    numbers = numbered.check(events_of(image))
    assert numbers == list(range(count + 1 - len(numbers), count + 1))
    assert 0 == image.torn
    assert count - len(numbers) == image.lost
    slots = sum(map(numbered.slots, range(1, count + 1)))
    assert slots == image.last_seq
    kept = sum(map(numbered.slots, numbers))
    largest = max(map(numbered.slots, range(1, 200)))
    assert min(slots, GEOMETRY.slots) - largest < kept <= GEOMETRY.slots


@needs_checksum
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(2, 800), flips=st.sets(st.integers(0, GEOMETRY.slots * 512 - 1), min_size=1, max_size=4)
)
def test_a_flipped_bit_costs_the_event_that_it_hits_and_no_other(
    tmp_path: Path, count: int, flips: set[int]
) -> None:
    """Anywhere in the records: in a head, in payload, in a seq."""
    recorder = told(tmp_path, count, native=True)
    ring = recorder.ring
    before = events_of(read(ring.path))
    change: dict[int, bytes] = {}
    for flip in flips:
        at = ring.header.regions.records + flip // 8
        byte = change.get(at, ring.buffer[at : at + 1])
        change[at] = bytes([byte[0] ^ 1 << flip % 8])
    image = damaged(recorder, change)
    expected = untouched(before, {flip // 512 for flip in flips})
    assert expected == numbered.check(events_of(image))
    first = (before[0]["seq"] - 1) & GEOMETRY.mask
    # The oldest of a ring that has wrapped, when its head looks like payload: overwritten, not torn.
    assert image.torn >= len(before) - len(expected) - (before[0]["seq"] > 1 and 512 * first + 511 in flips)
    ring.path.unlink()


@needs_checksum
def test_the_first_event_ever_is_torn_when_its_head_looks_like_payload(tmp_path: Path) -> None:
    """Nothing was overwritten that it could be the rest of."""
    recorder = told(tmp_path, 2, native=True)
    at = slot_at(recorder, 1) + SLOT_SIZE - 1
    image = damaged(recorder, {at: bytes([recorder.ring.buffer[at] ^ 0x80])})
    assert [2] == numbered.check(events_of(image))
    assert [1, 2] == image.torn_seqs


@needs_checksum
def test_a_slot_of_an_earlier_lap_is_never_believed(tmp_path: Path) -> None:
    """Every mixture of the first half of a new record with the second half of the one it replaced."""
    recorder = told(tmp_path, 600, native=True)
    ring = recorder.ring
    old = bytes(ring.buffer)
    for number in range(601, 1200):
        numbered.tell(recorder, number)
    moments = random.Random(5)
    change = {}
    mixed = moments.sample(range(GEOMETRY.slots), 40)
    for slot in mixed:
        at = ring.header.regions.records + SLOT_SIZE * slot
        cut = at + 8 * moments.randrange(1, 8)
        change[cut] = old[cut : at + SLOT_SIZE]
    image = damaged(recorder, change)
    numbers = numbered.check(events_of(image))
    assert image.torn >= 40 - numbered.slots(1199)
    assert untouched(events_of(read(ring.path)), set(mixed)) == numbers


@needs_checksum
def test_two_slots_exchanged_are_found(tmp_path: Path) -> None:
    """A span whose payload slots changed places, their seqs put right: the checksum knows."""
    recorder = new_recorder(tmp_path, native=True)
    seq = recorder.free(range(30), range(30))
    recorder.row_acquire(1, 1, 1)
    ring = recorder.ring
    one, other = slot_at(recorder, seq + 1), slot_at(recorder, seq + 2)
    image = damaged(recorder, {one: ring.buffer[other : other + 56], other: ring.buffer[one : one + 56]})
    assert ["row_acquire"] == [event["kind"] for event in events_of(image)]
    assert 6 == image.torn


@pytest.mark.parametrize("native", WRITERS)
def test_a_record_that_was_reserved_but_not_finished_is_torn(tmp_path: Path, native: bool) -> None:
    """Killed between taking a seq and storing the record: what the slot held before is overwritten."""
    recorder = told(tmp_path, 1000, native=native)
    ring = recorder.ring
    before = read(ring.path)
    ring.counters[0] += 1
    image = damaged(recorder, {})
    assert 1 == image.torn
    assert [before.last_seq + 1] == image.torn_seqs
    assert before.last_seq + 1 == image.last_seq
    assert numbered.check(events_of(before))[-300:] == numbered.check(events_of(image))[-300:]
    assert before.last_seq - GEOMETRY.slots + 1 < image.first_seq


@pytest.mark.parametrize("native", WRITERS)
def test_a_damaged_cursor_is_not_believed(tmp_path: Path, native: bool) -> None:
    """The records themselves say where the history ends."""
    recorder = told(tmp_path, 1000, native=native)
    expected = numbered.check(events_of(read(recorder.ring.path)))
    for wrong in (0, 7, 2**50):
        image = damaged(recorder, {COUNTERS_AT: wrong.to_bytes(8, "little")})
        assert expected == numbered.check(events_of(image))


@pytest.mark.parametrize("native", WRITERS)
def test_a_file_that_ends_early_is_read_as_far_as_it_goes(tmp_path: Path, native: bool) -> None:
    """A copy that was cut: its events are right, the rest counts as torn, and the image says so."""
    recorder = told(tmp_path, 1000, native=native)
    path = recorder.ring.path
    whole = set(numbered.check(events_of(read(path))))
    cut = tmp_path / "cut.ring"
    cut.write_bytes(path.read_bytes()[: recorder.ring.header.regions.records + 500 * SLOT_SIZE + 11])
    image = read(cut)
    found = set(numbered.check(events_of(image)))
    assert image.truncated
    assert found < whole
    assert len(found) > 100
    assert image.torn >= GEOMETRY.slots - 500


def test_what_is_no_ring_is_refused_in_one_line(tmp_path: Path) -> None:
    """Each with what is wrong and what to do."""
    ring = new_recorder(tmp_path).ring
    good = ring.path.read_bytes()
    path = tmp_path / "bad.ring"
    cases: list[tuple[bytes, type[Exception], str]] = [
        (b"", NotARingError, "empty"),
        (b"x" * 100, NotARingError, "shorter than a header"),
        (b"x" * 8192, NotARingError, "wrong magic"),
        (good[:8] + (99).to_bytes(4, "little") + good[12:], RingVersionError, "format 99"),
        (good[:12] + (32).to_bytes(4, "little") + good[16:], NotARingError, "damaged header"),
        (seal(good[:12] + (32).to_bytes(4, "little") + good[16:]), NotARingError, "records of 32 bytes"),
        (seal(good[:256] + (1000).to_bytes(8, "little") + good[264:]), NotARingError, "no power of two"),
        (seal(good[:264] + (2**60).to_bytes(8, "little") + good[272:]), NotARingError, "damaged header"),
        (seal(good[:528] + (2**60).to_bytes(8, "little") + good[536:]), NotARingError, "regions overlap"),
        (good[:9000], TruncatedRingError, "truncated"),
    ]
    for data, kind, message in cases:
        path.write_bytes(data)
        with pytest.raises(kind, match=message) as raised:
            read(path)
        assert "\n" not in str(raised.value)
        assert str(path) in str(raised.value)
    with pytest.raises(PathError, match="cannot read the ring"):
        read(tmp_path / "none.ring")
    with pytest.raises(NotARingError, match="not a tracert ring \\(a folder\\)"):
        read(tmp_path)


@given(st.binary(max_size=300), st.integers(0, 4000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_header_never_becomes_a_traceback(tmp_path: Path, noise: bytes, at: int) -> None:
    """Random bytes over the header: a ring, or an error of ours."""
    recorder = new_recorder(tmp_path)
    numbered.tell(recorder, 1)
    path = recorder.ring.path
    with path.open("r+b") as file:
        file.seek(at)
        file.write(noise)
    with contextlib.suppress(NotARingError, RingVersionError, TruncatedRingError):
        assert [1] == numbered.check(events_of(read(path)))
    path.unlink()
