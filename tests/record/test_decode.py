"""What was told is what a ring says."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.record.rings import WRITERS, events_of, new_recorder
from tests.record.telling import Telling, tellings
from tracert.record.access import Holder
from tracert.record.decode import decode_columns, events
from tracert.record.image import read
from tracert.record.lines import lines
from tracert.record.recorder import Keyframe

quickly = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("native", WRITERS)
@quickly
@given(told=st.lists(tellings, max_size=40))
def test_every_kind_comes_back_as_it_was_told(tmp_path: Path, native: bool, told: list[Telling]) -> None:
    """Encoding into the ring and decoding by the ring's own schema is the identity on events."""
    recorder = new_recorder(tmp_path, native=native)
    expected = []
    for telling in told:
        seq = telling.tell(recorder)
        expected.append({"seq": seq, "actor": "host", **telling.event})
    assert expected == events_of(recorder)
    assert len(told) == recorder.events
    recorder.ring.path.unlink()


@pytest.mark.parametrize("native", WRITERS)
def test_a_keyframe_set_comes_back(tmp_path: Path, native: bool) -> None:
    """Pages with their holders, rows with their entries, and the end that makes the set complete."""
    recorder = new_recorder(tmp_path, native=native)
    state = Keyframe()
    state.pages = [
        (3, 1, "held", [(Holder("request", 17), "write"), (Holder("prefix", 9), "read")]),
        (4, 1, "free", []),
        (5, 2, "retired", []),
    ]
    state.rows = [(2, 1, 17, 6, [(3, 1), (4, 1)]), (3, 0, 0, 0, [])]
    recorder.keyframe(state)
    expected = [
        {
            "kind": "keyframe",
            "set": 1,
            "pages": [
                {"page": 3, "life": 1, "state": "held", "holders": ["request:17/write", "prefix:9/read"]},
                {"page": 4, "life": 1, "state": "free", "holders": []},
                {"page": 5, "life": 2, "state": "retired", "holders": []},
            ],
        },
        {
            "kind": "keyframe_row",
            "set": 1,
            "row": 2,
            "generation": 1,
            "request": 17,
            "epoch": 6,
            "entries": [[0, 3, 1], [1, 4, 1]],
        },
        {
            "kind": "keyframe_row",
            "set": 1,
            "row": 3,
            "generation": 0,
            "request": 0,
            "epoch": 0,
            "entries": [],
        },
        {"kind": "keyframe_end", "set": 1, "pages": 3, "rows": 2},
    ]
    found = [
        {name: value for name, value in event.items() if name not in ("seq", "actor")}
        for event in events_of(recorder)
    ]
    assert expected == found


def test_columns_hold_the_same_as_events(tmp_path: Path) -> None:
    """The fast path for tables: arrays a field, offsets and rows a section."""
    recorder = new_recorder(tmp_path)
    recorder.alloc([4], [1], Holder("request", 300))
    recorder.alloc([5, 6], [2, 3], Holder("prefix", 2))
    recorder.free([4], [1])
    image = read(recorder.ring.path)
    columns = decode_columns(image)
    assert ["alloc", "free"] == sorted(columns)
    alloc = columns["alloc"]
    assert [1, 2] == alloc.seq.tolist()
    assert [True, False] == np.asarray(alloc.fields["page"].present).tolist()
    assert [0, 0, 2] == alloc.sections["pages"].offsets.tolist()
    assert [[5, 2], [6, 3]] == alloc.sections["pages"].items.tolist()
    assert [300, 2] == [value >> 8 for value in alloc.fields["holder"].values.tolist()]


def test_lines_are_the_events_in_seq_order(tmp_path: Path) -> None:
    """Kinds are decoded apart and merged."""
    recorder = new_recorder(tmp_path)
    for number in range(50):
        recorder.row_acquire(1, number, 3)
        recorder.alloc([1, 2], [number, number], Holder("request", 3))
        recorder.stage(1, 4)
    image = read(recorder.ring.path)
    text = b"".join(lines(image))
    assert 150 == text.count(b"\n")
    assert [event["seq"] for event in events(image)] == sorted(event["seq"] for event in events(image))
