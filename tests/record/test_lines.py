"""JSON lines from C and from Python are the same bytes."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.record.rings import WRITERS, new_recorder
from tests.record.telling import Telling, tellings
from tracert.record.access import Holder
from tracert.record.image import read
from tracert.record.lines import lines
from tracert.record.recorder import Keyframe
from tracert.record.schema import ABSENT32, CODE

needs_both = pytest.mark.skipif(len(WRITERS) < 2, reason="the C writer was not built")


@needs_both
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(tellings, max_size=60))
def test_both_give_the_same_bytes(tmp_path: Path, told: list[Telling]) -> None:
    """Every kind, single pages and lists, texts that need escapes, JSON payload."""
    recorder = new_recorder(tmp_path, native=True)
    for telling in told:
        telling.tell(recorder)
    state = Keyframe()
    state.pages = [(1, 2, "held", [(Holder("request", 1), "write")])]
    recorder.keyframe(state)
    image = read(recorder.ring.path)
    assert b"".join(lines(image, native=False)) == b"".join(lines(image, native=True))
    recorder.ring.path.unlink()


@needs_both
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(CODE.values())),
    slots=st.lists(st.one_of(st.integers(0, 40), st.just(ABSENT32)), min_size=7, max_size=7),
    words=st.lists(st.one_of(st.integers(0, 40), st.just(ABSENT32)), max_size=40),
)
def test_both_agree_on_records_that_no_recorder_writes(
    tmp_path: Path, kind: int, slots: list[int], words: list[int]
) -> None:
    """Counts that exceed the payload, absent fields, unknown words: as a ring without checksums may have."""
    recorder = new_recorder(tmp_path, native=False)
    writer = recorder._emit_words
    recorder.row_acquire(1, 1, 1)
    writer(CODE["evict"], *slots, words)
    ring = recorder.ring
    at = ring.header.regions.records + 64
    ring.buffer[at + 8 : at + 10] = kind.to_bytes(2, "little")
    ring.counters[3] = 2
    image = read(ring.path)
    assert b"".join(lines(image, native=False)) == b"".join(lines(image, native=True))
    ring.path.unlink()


@needs_both
def test_c_refuses_what_it_was_not_given_a_plan_for() -> None:
    """An event of a kind that is neither planned nor given is an error, not a line."""
    from tracert.record._ring import lines as format_lines

    slots = np.zeros(1, "V64")
    nothing = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="no kind in the plan"):
        format_lines(slots, np.zeros(1, np.int64), [], [], nothing, [])
    with pytest.raises(ValueError, match="power of two"):
        format_lines(np.zeros(3, "V64"), nothing, [], [], nothing, [])
    with pytest.raises(TypeError):
        format_lines(slots, nothing, (), [], nothing, [])  # type: ignore[arg-type]
