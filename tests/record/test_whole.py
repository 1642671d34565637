"""Which records are whole: C and numpy say the same of any ring, however damaged."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.record import numbered
from tests.record.rings import WRITERS, new_recorder
from tracert.record.layout import SLOT
from tracert.record.schema import PAYLOAD_BIT
from tracert.record.whole import ragged, whole

needs_native = pytest.mark.skipif(len(WRITERS) < 2, reason="there is no C to compare with")


def slots_of(folder: Path, count: int, *, native: bool) -> np.ndarray:
    """A copy of the slots of a ring that was told numbered events."""
    recorder = new_recorder(folder, native=native)
    for number in range(1, count + 1):
        numbered.tell(recorder, number)
    regions, geometry = recorder.ring.header.regions, recorder.ring.header.geometry
    slots = np.frombuffer(bytes(recorder.ring.buffer), SLOT, geometry.slots, regions.records).copy()
    recorder.ring.path.unlink()
    return slots


def damage(slots: np.ndarray, moments: random.Random) -> None:
    """Flip a bit, empty or exchange slots, or say that a payload is of another length or form."""
    one, other = moments.randrange(len(slots)), moments.randrange(len(slots))
    match moments.randrange(6):
        case 0:
            slots.view(np.uint8).reshape(-1)[moments.randrange(slots.nbytes)] ^= 1 << moments.randrange(8)
        case 1:
            slots[one] = np.zeros(1, SLOT)[0]
        case 2:
            slots[[one, other]] = slots[[other, one]]
        case 3:
            slots["count"][one] = moments.choice([0, 1, 13, 14, 15, 2**16, 2**32 - 1])
        case 4:
            slots["flags"][one] = moments.randrange(4)
        case 5:
            slots["seq"][one] = moments.choice([1, 2**63 - 1, 2**63, 2**64 - 1, PAYLOAD_BIT | one + 1])


@needs_native
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 900), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 12), st.integers())
def test_c_and_numpy_say_the_same(
    tmp_path: Path, count: int, native: bool, checked: bool, changing: bool, damages: int, seed: int
) -> None:
    """Of rings of either writer, wrapped or not, checked or not, changed before or while they are copied."""
    moments = random.Random(seed)
    slots = slots_of(tmp_path, count, native=native)
    seqs = slots["seq"].copy() if changing else None
    for _ in range(damages):
        damage(slots, moments)
    fast, slow = (whole(slots, seqs, checked=checked, native=native) for native in (True, False))
    assert fast.first.tolist() == slow.first.tolist()
    assert fast.last.tolist() == slow.last.tolist()
    if not damages and checked <= native:
        held = slots["seq"][slots["seq"] < PAYLOAD_BIT]
        # Of the oldest event in a ring that has wrapped the payload may be there without its record.
        assert sorted(held[held > 0].tolist()) == sorted(fast.first.tolist())


@needs_native
def test_what_changed_while_it_was_copied_is_not_whole(tmp_path: Path) -> None:
    """A record that has right bytes, too, when its own seq or that of its payload was another before."""
    slots = slots_of(tmp_path, 40, native=True)
    for native in WRITERS:
        sound = whole(slots, slots["seq"].copy(), checked=True, native=native)
        head, payload = int(sound.first[2]) - 1, int(sound.last[2]) - 1
        assert head < payload
        for place in (head, payload):
            seqs = slots["seq"].copy()
            seqs[place] += 1
            found = whole(slots, seqs, checked=True, native=native)
            assert np.delete(sound.first, 2).tolist() == found.first.tolist()


@needs_native
def test_the_c_refuses_rooms_that_are_too_small() -> None:
    """It writes to memory that it is given: a wrong length is an error, and nothing is written."""
    from tracert.record._ring import whole as find

    slots, room = np.zeros(8, SLOT), np.zeros(8, np.int64)
    assert 0 == find(slots, None, True, room, room.copy())
    for wrong in (
        (slots[:6].copy(), None, True, room, room),
        (slots, np.zeros(7, np.uint64), True, room, room),
        (slots, None, True, room[:7], room),
        (slots, None, True, room, room[:7]),
    ):
        with pytest.raises(ValueError, match="power of two"):
            find(*wrong)


def test_ragged_concatenates_ranges() -> None:
    """Of each start as many numbers as its length says."""
    assert [5, 6, 9, 2] == ragged(np.array([5, 1, 9, 2]), np.array([2, 0, 1, 1])).tolist()
    assert [] == ragged(np.array([], np.int64), np.array([], np.int64)).tolist()
