"""A process that is killed loses nothing that it was told had been recorded."""

import contextlib
import mmap
import os
import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.record import numbered
from tests.record.rings import WRITERS, events_of
from tests.record.telling import GEOMETRY
from tracert.record.dump import page_states, write_dump
from tracert.record.image import read
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

KILLS = 10
"""With each of two writers: twenty in all."""

LAPPED = replace(GEOMETRY, slots=1 << 15)
"""A ring that a writer laps in about the time that copying it takes."""


def shared_word() -> memoryview:
    """A word of memory that a forked child shares; a store to it happens at once or not at all."""
    return memoryview(mmap.mmap(-1, 8)).cast("Q")


def write_for_ever(path: Path, acknowledged: memoryview, native: bool, geometry: Geometry = GEOMETRY) -> None:
    """Tell numbered events until killed; after each one its number goes to shared memory."""
    recorder = RingRecorder(Ring.create(path, geometry, native=native))
    number = 1
    while True:
        numbered.tell(recorder, number)
        acknowledged[0] = number
        number += 1


@pytest.mark.parametrize("native", WRITERS)
def test_kill_9_at_random_moments_loses_no_acknowledged_event(tmp_path: Path, native: bool) -> None:
    """Whatever the moment: every acknowledged event that was not overwritten is there, none is wrong,
    at most the one in flight is torn, and the page facts are those of the last event."""
    moments = random.Random(17 + native)
    for kill in range(KILLS):
        path = tmp_path / f"{kill}.ring"
        acknowledged = shared_word()
        pid = numbered.child(lambda: write_for_ever(path, acknowledged, native))  # noqa: B023
        numbered.wait_for(path)
        deadline = time.monotonic() + 20
        while not acknowledged[0] and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(moments.uniform(0.0, 0.06))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        last = acknowledged[0]

        image = read(path)
        numbers = numbered.check(events_of(image))

        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert numbers[-1] in (last, last + 1)
        seqs = [0]
        for number in range(1, last + 1):
            seqs.append(seqs[-1] + numbered.slots(number))
        kept = [
            number for number in range(1, last + 1) if seqs[number - 1] + 1 > image.last_seq - GEOMETRY.slots
        ]
        assert kept == [number for number in numbers if number <= last]
        assert image.torn <= numbered.slots(last + 1)
        assert facts_after(numbers[-1]) == {
            state["page"]: (state["life"], state["state"], state["holder"]) for state in page_states(image)
        }


def facts_after(last: int) -> dict[int, tuple[int, str, str]]:
    """Life, state and last holder of every page after the numbered events up to `last`."""
    facts: dict[int, tuple[int, str, str]] = {}
    for number in range(1, last + 1):
        event = numbered.expected(number)
        for page, life in event.get("pages", ()):
            if event["kind"] == "alloc":
                facts[page] = (life, "held", event["holder"])
            else:
                life, _, holder = facts.get(page, (0, "", ""))
                facts[page] = (life, "free", holder)
    return {page: found for page, found in facts.items() if found[0]}


def test_the_ring_of_a_dead_process_becomes_a_dump(tmp_path: Path) -> None:
    """`write_dump` needs the file alone, and says why the dump exists."""
    path = tmp_path / "dead.ring"
    pid = numbered.child(lambda: write_for_ever(path, shared_word(), WRITERS[-1]))
    numbered.wait_for(path)
    time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    dump = write_dump(path, tmp_path / "dump.jsonl", error={"code": 9, "name": "SIGKILL"})
    lines = dump.path.read_bytes().splitlines()
    assert b'"reason":"killed"' in lines[0]
    assert b'"error":{"code":9,"name":"SIGKILL"}' in lines[0]
    assert lines[-1].startswith(b'{"kind":"end"')
    assert dump.events == sum(b'"actor":"host"' in line for line in lines)


@pytest.mark.parametrize("native", WRITERS)
def test_a_reader_of_a_live_ring_is_never_wrong(tmp_path: Path, native: bool) -> None:
    """The writer laps the ring while it is copied: what is accepted is right, without holes, and not
    called torn."""
    path = tmp_path / "live.ring"
    pid = numbered.child(lambda: write_for_ever(path, shared_word(), native, LAPPED))
    try:
        numbered.wait_for(path)
        accepted = 0
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            image = read(path)
            numbers = numbered.check(events_of(image))
            if numbers:
                assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            accepted += len(numbers)
            assert 0 == image.torn
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert accepted > 0


def test_a_forked_child_records_nothing(tmp_path: Path) -> None:
    """The ring is its parent's: the child's recorder is off and its methods return 0."""
    recorder = RingRecorder(Ring.create(tmp_path / "parent.ring", GEOMETRY, native=WRITERS[-1]))
    numbered.tell(recorder, 1)
    answers = mmap.mmap(-1, 8)

    def work() -> None:
        told = numbered.tell(recorder, 2) + recorder.error(1, "n", "m", None, "", {})
        answers[0] = 1 + told + recorder.enabled + recorder.keyframe_due()

    os.waitpid(numbered.child(work), 0)
    numbered.tell(recorder, 3)
    assert 1 == answers[0]
    assert [1, 3] == numbered.check(events_of(recorder))
    assert read(recorder.ring.path).error is None
