"""The file: allocated at once, described, and with room for words, notes and progress."""

import errno
import os
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.record import numbered
from tests.record.rings import WRITERS, events_of, new_recorder
from tests.record.telling import GEOMETRY
from tracert.record import ring as ring_module
from tracert.record.dump import stream_states
from tracert.record.errors import NoRoomError, PathError
from tracert.record.image import read
from tracert.record.layout import ERROR_SIZE, WORDS_SIZE
from tracert.record.ring import Ring, cut_error, ring_path
from tracert.record.schema import SCHEMA, VERSION, Kind, Schema


def test_a_ring_describes_itself(tmp_path: Path) -> None:
    """Version, process, boot, clocks, geometry, schema and what was told about the process."""
    before = time.monotonic_ns()
    recorder = new_recorder(tmp_path, config={"page_size": 4}, fault="none")
    image = read(recorder.ring.path)
    header = image.header
    assert (VERSION, os.getpid(), GEOMETRY) == (header.version, header.pid, header.geometry)
    assert before <= header.monotonic_ns <= time.monotonic_ns()
    assert abs(header.unix_ns - time.time_ns()) < 60e9
    boot = Path("/proc/sys/kernel/random/boot_id")
    assert (boot.read_text().strip() if boot.exists() else "") == header.boot_id
    assert SCHEMA == image.schema
    assert {"config": {"page_size": 4}, "fault": "none"} == image.about
    assert (None, "ok") == (image.error, image.device_state)


def test_a_ring_is_decoded_by_the_schema_that_it_carries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version may know other kinds."""
    kinds = tuple(
        Kind("row_taken", kind.code, kind.fields) if kind.name == "row_acquire" else kind
        for kind in SCHEMA.kinds
    )
    monkeypatch.setattr(ring_module, "SCHEMA", Schema(kinds, SCHEMA.shapes))
    recorder = new_recorder(tmp_path)
    monkeypatch.undo()
    recorder.row_acquire(1, 2, 3)
    assert ["row_taken"] == [event["kind"] for event in events_of(recorder)]


def test_the_whole_file_is_allocated_and_private(tmp_path: Path) -> None:
    """A sparse file would kill the process when the disk is full; a history is for its owner."""
    path = new_recorder(tmp_path).ring.path
    status = path.stat()
    assert status.st_blocks * 512 >= status.st_size
    assert 0o600 == status.st_mode & 0o777
    assert [path.name] == [each.name for each in tmp_path.iterdir()]


def test_no_room_is_an_error_at_the_start_and_leaves_no_file(tmp_path: Path) -> None:
    """Not a bus error at the first record that does not fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(NoRoomError, match="no room for 64 MiB") as raised:
            Ring.create(tmp_path / "large.ring", replace(GEOMETRY, slots=1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert "--ring-events" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert [] == list(tmp_path.iterdir())


def test_a_full_file_system_is_an_error_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENOSPC as the kernel gives it."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(NoRoomError, match="No space left on device"):
        Ring.create(tmp_path / "full.ring", GEOMETRY)
    assert [] == list(tmp_path.iterdir())


def test_a_ring_is_never_overwritten(tmp_path: Path) -> None:
    """The file may be the memory of a process that lives."""
    ring = new_recorder(tmp_path).ring
    with pytest.raises(PathError, match="File exists"):
        Ring.create(ring.path, GEOMETRY)
    (tmp_path / "file").write_text("")
    with pytest.raises(PathError, match="cannot create the ring"):
        Ring.create(tmp_path / "file" / "x.ring", GEOMETRY)


def test_a_ring_is_named_after_its_process(tmp_path: Path) -> None:
    """So that the parent of the engine finds it."""
    name = ring_path(tmp_path).name
    assert name.startswith(f"{os.getpid()}-")
    assert name.endswith(".ring")
    (tmp_path / name).touch()
    assert name != ring_path(tmp_path).name


def test_progress_words_outlive_their_writer(tmp_path: Path) -> None:
    """The device stores into the file; a dump says launched, started, finished."""
    recorder = new_recorder(tmp_path)
    ring = recorder.ring
    for stream, name in ((0, "legacy"), (1, "compute")):
        ring.name_stream(stream, name, blocking=stream == 0)
    words = ring.progress(1)
    assert ("Q", 3) == (words.format, len(words))
    words[0], words[1], words[2] = 9, 8, 2**63
    ring.progress(3)[0] = 1
    expected = [
        (0, "legacy", True, 0, 0, 0),
        (1, "compute", False, 9, 8, 2**63),
        (3, "stream 3", False, 1, 0, 0),
    ]
    names = ("stream", "name", "blocking", "launched", "started", "finished")
    found = [tuple(state[name] for name in names) for state in stream_states(read(ring.path))]
    assert expected == found
    with pytest.raises(ValueError, match="room for 4 streams"):
        ring.progress(4)


def test_words_are_written_once_and_a_full_table_gives_the_empty_one(tmp_path: Path) -> None:
    """Known words stay right when there is no room for new ones."""
    recorder = new_recorder(tmp_path)
    ring = recorder.ring
    first = ring.word("forward")
    assert first == ring.word("forward")
    fit = [ring.word(f"{number}") for number in range(WORDS_SIZE // 4)]
    assert 0 == fit[-1] == ring.word("one too many")
    recorder.preempt(1, 2, 3, "one too many")
    recorder.preempt(1, 2, 3, "forward")
    assert ["", "forward"] == [event["reason"] for event in events_of(recorder)]
    assert "forward" == read(ring.path).words[first]


def test_an_error_is_kept_and_a_long_one_is_cut(tmp_path: Path) -> None:
    """In the event and for the dump's header; code and name are never cut away."""
    recorder = new_recorder(tmp_path)
    recorder.error(719, "LAUNCH_FAILURE", "unspecified", 1, "sync", {"check": 3})
    error = {
        "code": 719,
        "name": "LAUNCH_FAILURE",
        "message": "unspecified",
        "stream": 1,
        "observed_at": "sync",
    }
    assert {**error, "detail": {"check": 3}} == read(recorder.ring.path).error
    recorder.error(
        -1, "ValueError", "\x00" * 100_000, None, "engine", {"big": ["x"] * 50_000, "odd": object()}
    )
    kept = read(recorder.ring.path).error
    assert kept is not None
    assert (-1, "ValueError", {"cut": True}) == (kept["code"], kept["name"], kept["detail"])
    assert len(kept["message"]) > 500
    event = events_of(recorder)[-1]
    assert (-1, "ValueError", {"cut": True}) == (event["code"], event["name"], event["detail"])
    assert 512 >= len(cut_error({"code": 1, "name": "n" * 9000, "message": "é" * 9000, "detail": {}}, 512))


def test_a_note_that_was_being_written_is_not_read(tmp_path: Path) -> None:
    """Killed while it told its error: no error, rather than half of one."""
    recorder = new_recorder(tmp_path)
    recorder.ring.error({"code": 1})
    at = recorder.ring.header.regions.error
    recorder.ring.buffer[at + 8 : at + 10] = b"XX"
    assert read(recorder.ring.path).error is None
    with pytest.raises(ValueError, match="do not fit"):
        recorder.ring.describe({"config": "x" * ERROR_SIZE * 8})


def test_the_state_of_the_device_is_kept(tmp_path: Path) -> None:
    """Drained or unusable: the dump says which."""
    ring = new_recorder(tmp_path).ring
    ring.device_state("unusable")
    assert "unusable" == read(ring.path).device_state


def test_syncing_goes_on_until_the_ring_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By fdatasync in a thread of its own."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    recorder = new_recorder(tmp_path, native=WRITERS[-1])
    recorder.ring.sync_every(0.005)
    deadline = time.monotonic() + 10
    while len(synced) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    assert len(synced) >= 3
    recorder.ring.close()
    recorder.ring.close()
    numbered.tell(recorder, 1)
    assert [1] == numbered.check(events_of(recorder))
