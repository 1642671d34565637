"""The recorder over a ring, and the one that is off."""

from pathlib import Path

import pytest

from tests.record.rings import WRITERS, events_of, new_recorder
from tests.record.telling import GEOMETRY
from tracert.record.access import Compute, Holder
from tracert.record.image import read
from tracert.record.recorder import Keyframe, NullRecorder, Recorder


def test_a_keyframe_is_due_every_quarter_of_the_ring(tmp_path: Path) -> None:
    """So that a ring that has wrapped always holds a whole set."""
    recorder = new_recorder(tmp_path, native=WRITERS[-1])
    due = []
    for number in range(1, 2 * GEOMETRY.slots):
        recorder.fence_record(number, 1, number)
        if recorder.keyframe_due():
            due.append(number)
            recorder.keyframe(Keyframe())
    assert [256 * times for times in range(1, 8)] == due
    ends = [event["set"] for event in events_of(recorder) if event["kind"] == "keyframe_end"]
    assert [5, 6, 7] == ends


def test_a_keyframe_of_many_holders_is_cut_into_events(tmp_path: Path) -> None:
    """None larger than a part of the ring; together they are the set."""
    recorder = new_recorder(tmp_path, native=WRITERS[-1])
    state = Keyframe()
    holders = [(Holder("request", number), "read") for number in range(30)]
    state.pages = [(page, 1, "held", list(holders)) for page in range(24)]  # type: ignore[arg-type]
    recorder.keyframe(state)
    events = events_of(recorder)
    parts = [event["pages"] for event in events if event["kind"] == "keyframe"]
    assert len(parts) > 1
    assert list(range(24)) == [page["page"] for part in parts for page in part]
    assert {tuple(f"request:{number}/read" for number in range(30))} == {
        tuple(page["holders"]) for part in parts for page in part
    }
    assert {"pages": 24, "rows": 0} == {name: events[-1][name] for name in ("pages", "rows")}


def test_what_is_no_access_is_refused(tmp_path: Path) -> None:
    """A launch without a declared access would be a hole in the history."""
    with pytest.raises(TypeError, match="no access"):
        new_recorder(tmp_path).launch(1, 1, 1, "forward", "read everything")  # type: ignore[arg-type]


def test_a_recorder_that_is_turned_off_says_nothing(tmp_path: Path) -> None:
    """Every method returns 0, and the ring stays as it was."""
    recorder = new_recorder(tmp_path, native=WRITERS[-1])
    recorder.alloc([1], [1], Holder("request", 1))
    recorder.turn_off()
    assert not recorder.enabled
    assert [0, 0, 0, 0] == [
        recorder.alloc([2], [1], Holder("request", 1)),
        recorder.launch(1, 1, 1, "forward", Compute("decode", 1)),
        recorder.error(1, "n", "m", None, "", {}),
        recorder.keyframe(Keyframe()),
    ]
    assert 1 == len(events_of(recorder))
    assert read(recorder.ring.path).error is None


def test_the_null_recorder_takes_every_call() -> None:
    """Whatever a recorder can be told; no call site branches."""
    off: Recorder = NullRecorder()
    methods = [name for name in vars(Recorder) if not name.startswith("_") and name not in ("events", "lost")]
    assert len(methods) > 25
    assert {0} == {getattr(off, name)(1, 2, pages=3) for name in methods}
    assert (False, 0, 0, False) == (off.enabled, off.events, off.lost, bool(off.keyframe_due()))
    with pytest.raises(AttributeError):
        _ = off._private  # type: ignore[attr-defined]
