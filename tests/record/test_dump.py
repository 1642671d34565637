"""A dump: format 1, whole or absent."""

import errno
import io
import os
import time
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from tests.record import numbered
from tests.record.rings import WRITERS, events_of, new_recorder
from tracert.record import dump as dump_module
from tracert.record.access import Holder
from tracert.record.dump import dump_path, keep_newest, write_dump
from tracert.record.errors import NoRoomError, NotARingError, PathError
from tracert.record.lines import lines
from tracert.record.ring_recorder import RingRecorder


def told(folder: Path, count: int = 40) -> RingRecorder:
    """A recorder that was told numbered events and an error."""
    recorder = new_recorder(
        folder,
        native=WRITERS[-1],
        config={"page_size": 4},
        model={"name": "tiny"},
        device={"name": "sim", "state": "told at the start"},
        fault="some-fault",
        tool={"command": "serve"},
    )
    recorder.ring.name_stream(1, "compute", blocking=False)
    recorder.ring.device_state("unusable")
    for number in range(1, count + 1):
        numbered.tell(recorder, number)
    recorder.error(719, "LAUNCH_FAILURE", "unspecified launch failure", 1, "sync_stream", {})
    return recorder


def parse(data: bytes) -> list[dict[str, Any]]:
    """The lines of a dump."""
    return [orjson.loads(line) for line in data.splitlines()]


def test_a_dump_has_header_states_events_and_end(tmp_path: Path) -> None:
    """In this order, with the fields of the contract."""
    recorder = told(tmp_path)
    ring = recorder.ring.header
    written = write_dump(recorder.ring.path, tmp_path / "dump.jsonl", reason="device-error")
    data = written.path.read_bytes()
    assert len(data) == written.nbytes
    header, *middle, end = parse(data)
    assert header.pop("written_ns") > ring.unix_ns
    tool = header.pop("tool")
    assert ("tracert", "serve") == (tool["name"], tool["command"])
    error = {"code": 719, "name": "LAUNCH_FAILURE", "message": "unspecified launch failure", "stream": 1}
    slots = sum(map(numbered.slots, range(1, 41))) + 4
    expected = {
        "kind": "header",
        "format": "tracert",
        "version": 1,
        "reason": "device-error",
        "error": {**error, "observed_at": "sync_stream", "detail": {}},
        "config": {"page_size": 4},
        "model": {"name": "tiny"},
        "device": {"name": "sim", "state": "unusable"},
        "clock": {"monotonic_ns": ring.monotonic_ns, "unix_ns": ring.unix_ns},
        "fault": "some-fault",
        "ring": {
            "capacity": 1024,
            "first_seq": 1,
            "last_seq": slots,
            "lost": 0,
            "torn": 0,
            "pid": os.getpid(),
            "boot_id": ring.boot_id,
        },
    }
    assert expected == header
    kinds = [line["kind"] for line in middle]
    states = [kind for kind in kinds if kind.endswith("_state")]
    assert kinds[: len(states)] == states
    assert ["stream_state", "page_state", "lane_state"] == sorted(set(states), key=states.index)
    events = middle[len(states) :]
    assert list(range(1, 41)) == numbered.check(events[:-1])
    assert all({"seq", "t", "kind", "actor"} <= set(event) for event in events)
    assert [event["seq"] for event in events] == sorted(event["seq"] for event in events)
    assert (41, 41) == (written.events, len(events))
    last_line = data.rindex(b'{"kind":"end"')
    assert {"kind": "end", "events": 41, "crc32": zlib.crc32(data[:last_line])} == end


def test_a_dump_may_be_compressed(tmp_path: Path) -> None:
    """By its name; the content is the same, checksum included."""
    recorder = told(tmp_path)
    plain = write_dump(recorder.ring.path, tmp_path / "a.jsonl", reason="request")
    small = write_dump(recorder.ring.path, tmp_path / "a.jsonl.zst", reason="request")
    data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(small.path.read_bytes())).read()
    assert len(data) == small.nbytes
    assert parse(plain.path.read_bytes())[1:-1] == parse(data)[1:-1]
    assert zlib.crc32(data[: data.rindex(b'{"kind":"end"')]) == parse(data)[-1]["crc32"]
    assert small.path.stat().st_size < plain.path.stat().st_size / 2


def test_an_error_given_replaces_the_rings(tmp_path: Path) -> None:
    """Whoever dumps for a dead process knows what the process could not say."""
    recorder = told(tmp_path)
    error = {"code": -9, "name": "SIGKILL", "message": "killed", "observed_at": "supervisor", "detail": {}}
    dump = write_dump(recorder.ring.path, tmp_path / "dump.jsonl", reason="killed", error=error)
    header = parse(dump.path.read_bytes())[0]
    assert ("killed", error) == (header["reason"], header["error"])


def test_a_ring_without_anything_gives_a_dump_without_events(tmp_path: Path) -> None:
    """Nothing was told about the process either."""
    recorder = new_recorder(tmp_path)
    dump = write_dump(recorder.ring.path, tmp_path / "new" / "dump.jsonl")
    header, end = parse(dump.path.read_bytes())
    assert (None, {}, {}, {"name": "unknown", "state": "ok"}, None) == tuple(
        header[name] for name in ("error", "config", "model", "device", "fault")
    )
    assert 0 == end["events"]


def test_a_wrapped_ring_says_what_is_lost(tmp_path: Path) -> None:
    """Events, not bytes; the first that is left is named."""
    recorder = told(tmp_path, 3000)
    dump = write_dump(recorder.ring.path, tmp_path / "dump.jsonl")
    header = parse(dump.path.read_bytes())[0]
    kept = events_of(recorder)
    assert 3001 - len(kept) == header["ring"]["lost"] == dump.lost
    assert kept[0]["seq"] == header["ring"]["first_seq"]


def test_a_failed_dump_leaves_nothing_and_keeps_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never half a dump under a dump's name."""
    recorder = told(tmp_path)
    output = tmp_path / "out" / "dump.jsonl"
    output.parent.mkdir()
    output.write_text("an older dump")

    def full(*_: object) -> Any:
        yield from lines(*_)  # type: ignore[arg-type]
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(dump_module, "lines", full)
    for name in ("dump.jsonl", "dump.jsonl.zst"):
        with pytest.raises(NoRoomError, match="No space left"):
            write_dump(recorder.ring.path, output.with_name(name), reason="request")
    assert [output] == list(output.parent.iterdir())
    assert "an older dump" == output.read_text()


def test_the_name_appears_only_when_the_dump_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written as `.partial`, synced, then renamed, then the directory synced."""
    recorder = told(tmp_path)
    output = tmp_path / "dump.jsonl"
    seen = []
    fsync = os.fsync

    def watch(descriptor: int) -> None:
        seen.append((output.exists(), output.with_name("dump.jsonl.partial").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    write_dump(recorder.ring.path, output, reason="request")
    assert [(False, True), (True, False)] == seen


def test_what_cannot_be_dumped_is_one_line(tmp_path: Path) -> None:
    """The ring is none, or the place cannot be written."""
    recorder = told(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(NotARingError):
        write_dump(tmp_path / "file", tmp_path / "dump.jsonl")
    with pytest.raises(PathError, match="cannot write the dump") as raised:
        write_dump(recorder.ring.path, tmp_path / "file" / "dump.jsonl")
    assert "\n" not in str(raised.value)
    with pytest.raises(PathError, match="Is a directory"):
        write_dump(recorder.ring.path, tmp_path)
    assert not list(tmp_path.glob("*.partial"))


def test_a_dump_replaces_neither_its_ring_nor_a_pipe(tmp_path: Path) -> None:
    """Both are still what they were."""
    ring = told(tmp_path).ring.path
    before = ring.read_bytes()
    with pytest.raises(PathError, match="it is the ring that is read"):
        write_dump(ring, ring.parent / "." / ring.name)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(PathError, match="it is no regular file"):
        write_dump(ring, pipe)
    assert ring.read_bytes() == before
    assert pipe.is_fifo()


def test_a_dump_is_named_after_time_and_reason(tmp_path: Path) -> None:
    """Names sort by time, and no dump replaces another."""
    first, second = dump_path(tmp_path, "request"), dump_path(tmp_path, "request")
    first.touch()
    second.touch()
    third = dump_path(tmp_path, "request")
    assert third not in (first, second)
    assert third.suffix == ".jsonl"
    assert dump_path(tmp_path, "killed").match("dump-2*T*Z-killed.jsonl")


def test_page_zero_is_reserved_from_the_start(tmp_path: Path) -> None:
    """A page that was granted is in the dump although nothing else ever happened to it."""
    recorder = new_recorder(tmp_path)
    recorder.alloc([0], [1], Holder("reserved", 0))
    found = parse(write_dump(recorder.ring.path, tmp_path / "dump.jsonl").path.read_bytes())
    expected = {"kind": "page_state", "page": 0, "life": 1, "state": "held", "holder": "reserved:0"}
    assert {**expected, "alloc_seq": 1} == found[1]


def test_a_dump_is_its_user_s_alone(tmp_path: Path) -> None:
    """As the ring is: what users asked is in neither, but how long and when is."""
    recorder = new_recorder(tmp_path)
    written = write_dump(recorder.ring.path, tmp_path / "dump.jsonl")
    assert 0o600 == written.path.stat().st_mode & 0o777


def test_the_newest_automatic_dumps_are_kept(tmp_path: Path) -> None:
    """Of an orderly end at once, of a failure after an hour; what was asked for, or named by hand, stays."""
    now = time.time()
    ages = {
        "dump-20260101T000000Z-exit.jsonl": 60,
        "dump-20260101T000001Z-killed.jsonl": 50,
        "dump-20260101T000002Z-killed-2.jsonl": 7200,
        "dump-20260101T000003Z-request.jsonl": 7200,
        "dump-mine.jsonl": 7200,
        "dump-20260101T000004Z-exit.jsonl": 2,
        "dump-20260101T000005Z-device-error.jsonl": 1,
    }
    for name, age in ages.items():
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - age, now - age))
    keep_newest(tmp_path, 0)
    assert set(ages) == {path.name for path in tmp_path.iterdir()}
    keep_newest(tmp_path, 2)
    gone = {"dump-20260101T000000Z-exit.jsonl", "dump-20260101T000002Z-killed-2.jsonl"}
    assert set(ages) - gone == {path.name for path in tmp_path.iterdir()}
