"""Events of a ring: read from its records, they are the rows that the lines of its dump give."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracert_analysis import library
from tracert_analysis.events import load_events
from tracert_analysis.families import TABLES
from tracert_analysis.ring import Ring

from tests.record.rings import disown, new_recorder
from tests.record.telling import Telling, tellings
from tracert.record.access import Holder
from tracert.record.recorder import Keyframe
from tracert.record.ring_recorder import RingRecorder
from tracert.record.schema import ABSENT32, CODE

pytest.importorskip("tracert_analysis._events")

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """One database for all of them."""
    connection = duckdb.connect()
    library.create_tables(connection)
    yield connection
    connection.close()


def both(connection: duckdb.DuckDBPyConnection, recorder: RingRecorder) -> list[list[tuple[Any, ...]]]:
    """All events of the ring, from its records and from its lines; the same from those of a dead process."""
    ring = Ring(recorder.ring.path)
    disown(recorder.ring.path)
    found = []
    for source in (ring, ring.lines(), Ring(recorder.ring.path)):
        assert load_events(connection, source).lines == 0
        found.append(connection.execute("FROM event ORDER BY seq").fetchall())
        for table in TABLES:
            connection.execute(f"DELETE FROM {table}")
    recorder.ring.path.unlink()
    assert found.pop() == found[0]
    return found


@quick
@given(told=st.lists(tellings, max_size=60))
def test_records_are_the_lines(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, told: list[Telling]
) -> None:
    """Every kind, single pages and lists, texts of any kind, JSON payload, keyframes."""
    recorder = new_recorder(tmp_path)
    for telling in told:
        telling.tell(recorder)
    state = Keyframe()
    state.pages = [(1, 2, "held", [(Holder("request", 1), "write")])]
    state.rows = [(2, 1, 1, 1, [(3, 1), (4, 1)])]
    recorder.keyframe(state)
    records, lines = both(connection, recorder)
    assert len(records) >= len(told)
    assert [] == [pair for pair in zip(lines, records, strict=True) if pair[0] != pair[1]]


@quick
@given(
    kind=st.sampled_from(sorted(set(CODE.values()) - {CODE["launch"]})),
    slots=st.lists(st.one_of(st.integers(0, 40), st.just(ABSENT32)), min_size=7, max_size=7),
    words=st.lists(st.one_of(st.integers(0, 40), st.just(ABSENT32)), max_size=40),
)
def test_records_that_no_recorder_writes(
    tmp_path: Path,
    connection: duckdb.DuckDBPyConnection,
    kind: int,
    slots: list[int],
    words: list[int],
) -> None:
    """Counts that exceed the payload, absent fields, unknown words: as a ring without checksums may have.

    Of a launch the rows that it uses come out otherwise where a word of one is absent: a line is refused.
    """
    recorder = new_recorder(tmp_path)
    recorder.row_acquire(1, 1, 1)
    recorder._emit_words(CODE["evict"], *slots, words)
    ring = recorder.ring
    at = ring.header.regions.records + 64
    ring.buffer[at + 8 : at + 10] = kind.to_bytes(2, "little")
    ring.counters[3] = 2
    records, lines = both(connection, recorder)
    assert lines == records


def test_many_events_are_read_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts, by two readers: each event once."""
    monkeypatch.setattr("tracert_analysis.ring.PART_EVENTS", 100)
    monkeypatch.setattr("tracert_analysis.lines.PART_BYTES", 4000)
    connection = duckdb.connect()
    library.create_tables(connection)
    recorder = new_recorder(tmp_path)
    for number in range(900):
        recorder.fence_passed(fence=number)
    records, lines = both(connection, recorder)
    assert list(range(900)) == [row for (row,) in connection.execute("SELECT unnest(range(900))").fetchall()]
    assert (900, True) == (len(records), records == lines)


def test_a_schema_that_does_not_fit_is_read_by_the_lines(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    """As of a later version, in which a holder is a number: only that value is left out."""
    recorder = new_recorder(tmp_path)
    recorder.alloc([3], [1], Holder("request", 1))
    recorder.free([3], [1])
    ring = Ring(recorder.ring.path)
    kinds = tuple(
        replace(kind, fields=tuple(replace(one, type="int") for one in kind.fields))
        if kind.name == "alloc"
        else kind
        for kind in ring._image.schema.kinds
    )
    ring._image.schema = replace(ring._image.schema, kinds=kinds)
    assert load_events(connection, ring) == (0, 1)
    told = connection.execute("SELECT kind, page, holder FROM _told_page ORDER BY seq").fetchall()
    assert [("alloc", 3, None), ("free", 3, None)] == told
    connection.execute("DELETE FROM _told_page")
