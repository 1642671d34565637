"""A ring is read as the dump that `tracert recover` would write: every kind, in its own columns."""

import gc
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.load import Dump, DumpError, open_dump
from tracert_analysis.ring import Ring as Source

from tests.record.rings import disown
from tracert.record.access import (
    ByteRange,
    Clear,
    Compute,
    Copy,
    Extent,
    Holder,
    Load,
    Offload,
    Publish,
    RowUse,
)
from tracert.record.image import Image
from tracert.record.layout import Geometry
from tracert.record.lines import are_plain
from tracert.record.recorder import Keyframe
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder
from tracert.record.whole import Index

REQUEST = Holder("request", 1)


def recorded(folder: Path) -> tuple[Ring, RingRecorder]:
    """A ring of a small engine: two streams, four rows."""
    ring = Ring.create(folder / "1-1.ring", Geometry(slots=1024, pages=8, page_size=4, rows=4, row_width=8))
    ring.describe({"config": {"page_size": 4, "kv_pages": 8}, "device": {"name": "sim"}})
    for stream, name in enumerate(("legacy", "compute", "transfer")):
        ring.name_stream(stream, name, blocking=not stream)
    return ring, RingRecorder(ring)


def rows(dump: Dump, query: str) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    return dump.connection.execute(query).fetchall()


def test_every_kind_arrives_whole(tmp_path: Path) -> None:
    """What the recorder was told, read back from the file."""
    ring, recorder = recorded(tmp_path)
    recorder.launch(1, 1, 1, "clear_pages", Clear([Extent(page, 0, 0, 4) for page in range(8)]))
    recorder.fence_passed(device=True)
    recorder.arrive(1, "cmpl-1", 5, 16)
    recorder.match(1, 0, bytes(8), 77, 0, [], [], 1234)
    recorder.alloc([3, 4], [1, 1], REQUEST)
    recorder.row_acquire(2, 1, 1)
    recorder.map(2, 1, 0, [3, 4], [1, 1])
    recorder.stage(5, 8)
    recorder.launch(2, 2, 1, "copy_row", Publish(2, 1, 1, 0, [3, 4], [1, 1], 5))
    fence = recorder.fence_record(1, 2, 1)
    recorder.fence_wait(1, 1, fence)
    recorder.schedule(1, 2, "prefill", 1, 5, 0, 2)
    recorder.launch(
        3, 1, 2, "forward", Compute("prefill", 1, [RowUse(2, 1, 0, 5, 2)], resources=["write:logits"])
    )
    recorder.transaction("begin", 3, 2, 1, 5)
    recorder.launch(4, 1, 3, "copy_pages", Copy([Extent(3, 1, 0, 4)], [Extent(4, 1, 0, 4)]))
    recorder.guard(3, 2, 1, 2, [])
    recorder.guard(3, 2, 1, 3, [(1, 7), (2, -2)], 7, 8)
    recorder.nonfinite(3, 1, 2, 4, [3, 4], [1, 1], 5, "keys")
    recorder.error(719, "LAUNCH_FAILURE", "unspecified launch failure", 1, "sync", {"x": 1})
    dump = open_dump(str(ring.path))

    assert (19, 0, 0, False, False) == (
        dump.evidence.events,
        dump.evidence.lost,
        dump.evidence.bad_lines,
        dump.evidence.truncated,
        dump.evidence.damaged,
    )
    assert [(True, 8)] == rows(dump, "SELECT \"all\", page_count FROM event WHERE kind = 'clear'")
    assert [("cmpl-1", 5, 16)] == rows(
        dump, "SELECT id, prompt_tokens, max_tokens FROM event WHERE kind = 'arrive'"
    )
    assert [("0" * 16, 77, 1234)] == rows(
        dump, "SELECT digest, identity, lookup_ns FROM event WHERE kind = 'match'"
    )
    assert [(3, 1, "request:1"), (4, 1, "request:1")] == rows(dump, "SELECT page, life, owner FROM page_life")
    assert [(0, 3, 2, 2), (1, 4, 2, 2)] == rows(dump, "SELECT index, page, launch, stream FROM row_content")
    assert [(2, 5)] == rows(dump, "SELECT page_count, scheduled_tokens FROM event WHERE kind = 'schedule'")
    assert [("begin", 5)] == rows(dump, "SELECT op, frontier FROM event WHERE kind = 'transaction'")
    assert [(3, ["write:logits"])] == rows(dump, "SELECT launch, resources FROM event WHERE kind = 'launch'")
    assert [([[3, 1], [4, 1]], 5, "keys")] == rows(
        dump, "SELECT pages, layer, class FROM event WHERE kind = 'nonfinite'"
    )
    assert [(2, None, None, []), (3, 7, 8, [[1, 7], [2, 2**32 - 2]])] == rows(
        dump, "SELECT walked, page, position, entries FROM event WHERE kind = 'guard' ORDER BY seq"
    )
    assert [(1, 7, 4, True), (2, -2, None, True)] == rows(
        dump, "SELECT index, page, published_page, differs FROM guard_entry ORDER BY index"
    )
    assert [(719, "LAUNCH_FAILURE", 1, "sync")] == rows(
        dump, "SELECT code, name, stream, observed_at FROM event WHERE kind = 'error'"
    )
    assert [(True,)] == rows(dump, "SELECT happens_before(2, 3)")
    assert [("read", 3), ("read", 4), ("write", 3), ("write", 4)] == rows(
        dump, "SELECT mode, page FROM access WHERE launch = 3 ORDER BY ALL"
    )
    assert [("TR402",), ("TR403",), ("TR902",)] == rows(dump, "SELECT code FROM finding ORDER BY finding")
    ring.close()


def test_the_kinds_of_copies_snapshots_and_workspace_arrive_whole(tmp_path: Path) -> None:
    """Plans and ends of copies, the host tier, what a snapshot borrows, and blocks of the workspace."""
    ring, recorder = recorded(tmp_path)
    ranges = [ByteRange(3, 0, 512), ByteRange(4, 256, 512)]
    recorder.alloc([3, 4], [1, 1], Holder("snapshot", 5))
    recorder.snapshot_alias(5, ranges, [3, 4], [1, 1])
    rows_of = [Extent(3, 1, 0, 4), Extent(4, 1, 2, 4)]
    recorder.launch(1, 1, 1, "store_row", Compute("save", 1, writes=rows_of, content="rows"))
    recorder.snapshot_save(5, 1, 1, 6, ranges, [3, 4], [1, 1])
    recorder.launch(2, 1, 2, "load_row", Compute("restore", 2, reads=rows_of))
    recorder.snapshot_restore(5, 2, 2, 6, ranges, [3, 4], [1, 1])
    recorder.alloc([6], [1], REQUEST)
    source, target = [Extent(3, 1, 0, 2)], [Extent(6, 1, 0, 2)]
    recorder.copy_plan(7, source, target)
    recorder.launch(3, 1, 3, "copy_pages", Copy(source, target))
    recorder.copy_done(7, source, target)
    recorder.launch(4, 2, 1, "offload_pages", Offload([3, 4], [1, 1], [0, 9]))
    recorder.launch(5, 2, 2, "load_pages", Load([6], [1], [9]))
    recorder.workspace_plan(6, 1, 300, 1000, 900)
    recorder.workspace_alloc(6, 1, 100, 300, 1000, 600)
    recorder.launch(6, 1, 4, "forward", Compute("prefill", 3))
    recorder.workspace_free(6, 1, 100, 300, 1000, 900)
    recorder.snapshot_release(5, ranges, [3, 4], [1, 1])
    dump = open_dump(str(ring.path))

    assert (0, 0) == (dump.evidence.lost, dump.evidence.bad_lines)
    pages, told = [[3, 1], [4, 1]], [[3, 0, 512], [4, 256, 512]]
    assert [
        ("snapshot_alias", 5, None, None, None, told, pages),
        ("snapshot_save", 5, 1, 1, 6, told, pages),
        ("snapshot_restore", 5, 2, 2, 6, told, pages),
        ("snapshot_release", 5, None, None, None, told, pages),
    ] == rows(
        dump,
        "SELECT kind, snapshot, request, launch, positions, ranges, pages FROM event "
        "WHERE snapshot IS NOT NULL ORDER BY seq",
    )
    assert [
        ("copy_plan", 7, [[3, 1, 0, 2]], [[6, 1, 0, 2]]),
        ("copy_done", 7, [[3, 1, 0, 2]], [[6, 1, 0, 2]]),
    ] == rows(dump, "SELECT kind, transaction, source, target FROM event WHERE transaction = 7 ORDER BY seq")
    assert [("offload", [[0, 3, 1], [9, 4, 1]]), ("load", [[9, 6, 1]])] == rows(
        dump, "SELECT kind, entries FROM event WHERE kind IN ('offload', 'load') ORDER BY seq"
    )
    assert [("offload", "read", 3), ("offload", "read", 4), ("load", "write", 6)] == rows(
        dump, "SELECT source, mode, page FROM access WHERE launch IN (4, 5) ORDER BY seq, page"
    )
    assert [("store_row", "rows"), ("load_row", None)] == rows(
        dump, "SELECT kernel, class FROM launch WHERE launch < 3 ORDER BY seq"
    )
    assert [("rows", 0, 4), ("copy", 0, 2)] == rows(
        dump, 'SELECT class, first, "end" FROM byte_write WHERE launch IN (1, 3) AND page IN (3, 6)'
    )
    assert [(6, 1, 100, 300, 1000, 600, 300)] == rows(
        dump, 'SELECT launch, stream, "offset", bytes, capacity, room, planned_bytes FROM workspace'
    )
    assert [(1,)] == rows(dump, "SELECT count(*) FROM workspace WHERE free_seq > alloc_seq")
    ring.close()


def test_a_ring_that_wrapped(tmp_path: Path) -> None:
    """Its keyframe stands in for what was overwritten."""
    ring, recorder = recorded(tmp_path)
    recorder.alloc([3, 4], [1, 1], REQUEST)
    recorder.row_acquire(2, 1, 1)
    recorder.launch(1, 2, 1, "copy_row", Publish(2, 1, 1, 0, [3, 4], [1, 1], 5))
    for number in range(2000):
        recorder.fence_passed(fence=number)
    frame = Keyframe()
    frame.pages.append((3, 1, "held", [(REQUEST, "write"), (Holder("prefix", 2), "read")]))
    frame.pages.append((4, 1, "free", []))
    frame.rows.append((2, 1, 1, 1, [(3, 1), (4, 1)]))
    recorder.keyframe(frame)
    recorder.launch(2, 1, 1, "forward", Compute("decode", 2, [RowUse(2, 1, 3, 4, 1)]))
    dump = open_dump(str(ring.path))

    assert dump.evidence.lost > 0
    assert [(3, "request:1", "write"), (3, "prefix:2", "read")] == rows(
        dump, "SELECT page, holder, mode FROM holding ORDER BY holder DESC"
    )
    assert [(3, None), (4, None)] == rows(dump, "SELECT page, launch FROM row_content ORDER BY index")
    assert [("write", 3, 1)] == rows(dump, "SELECT mode, page, request FROM launch_writes(2)")
    assert [(4, None)] == rows(dump, "SELECT page, owner FROM page_life WHERE unheld_seq IS NOT NULL")
    assert [] == rows(dump, "FROM finding")
    ring.close()


@pytest.mark.parametrize("torn", ["last", "between"])
def test_a_torn_last_record_takes_nothing_from_a_proof(tmp_path: Path, torn: str) -> None:
    """Killed between taking a seq and storing the record; a record torn between others could be anything."""
    ring, recorder = recorded(tmp_path)
    recorder.alloc([3], [1], REQUEST)
    if torn == "between":
        ring.counters[0] += 1
    recorder.drop([3], [1], Holder("request", 2), "write")
    if torn == "last":
        ring.counters[0] += 1
    dump = open_dump(str(ring.path))
    assert 1 == dump.evidence.torn
    confidence = "proven" if torn == "last" else "suspected"
    assert [("TR203", confidence)] == rows(dump, "SELECT code, confidence FROM finding")
    ring.close()


def test_a_directory_with_a_ring_only(tmp_path: Path) -> None:
    """Nobody has written its dump yet."""
    ring, recorder = recorded(tmp_path)
    recorder.fence_passed(device=True)
    assert 1 == open_dump(str(tmp_path)).evidence.events
    ring.close()


def test_a_broken_ring_is_refused_in_one_line(tmp_path: Path) -> None:
    """With the recorder's own words."""
    path = tmp_path / "1-1.ring"
    path.write_bytes(b"TRCRTRNG" + bytes(100))
    with pytest.raises(DumpError, match=r"1-1\.ring") as refused:
        open_dump(str(path))
    assert "\n" not in str(refused.value)


def test_a_writer_that_is_not_seen_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lives in another container: what is not copied changes while it is read, and is not believed."""
    ring, recorder = recorded(tmp_path)
    recorder.fence_passed(device=True)
    disown(ring.path)
    assert 1 == open_dump(str(ring.path)).evidence.events

    def tell(image: Image, heads: Index) -> Any:
        recorder.fence_passed(device=True)
        return are_plain(image, heads)

    monkeypatch.setattr("tracert_analysis.ring.are_plain", tell)
    with pytest.raises(
        DumpError, match=r"is being written by a process that can.t be seen .*tracert recover"
    ):
        open_dump(str(ring.path))
    # As lines, which a ring of another version is read by, the same.
    source = Source(ring.path)
    recorder.fence_passed(device=True)
    with pytest.raises(DumpError, match="is being written"):
        source.lines()
    ring.close()


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dump of a ring is written aside, and gone once it is open; the database's folder goes with it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    rings = tmp_path / "rings"
    rings.mkdir()
    ring, recorder = recorded(rings)
    recorder.fence_passed(device=True)
    dump = open_dump(str(ring.path))
    beside = [place for place in tmp_path.rglob("*") if place.is_file() and rings not in place.parents]
    assert (1, []) == (dump.evidence.events, beside)
    del dump
    gc.collect()
    assert [rings] == list(tmp_path.iterdir())
    assert [ring.path] == list(rings.iterdir())
    ring.close()
