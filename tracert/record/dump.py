"""Writes a dump, format 1, from a ring file. Never touches the device, nor any object of the engine.

The same code serves the dying engine, its parent and `tracert recover`: all they have is the file. A
dump appears under its name only when it is whole and on disk.
"""

import contextlib
import errno
import os
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson
import zstandard

from tracert.record.errors import NoRoomError, PathError
from tracert.record.image import Image, read
from tracert.record.layout import LANE, PAGE, PAGE_STATES, STREAM
from tracert.record.lines import lines
from tracert.record.owner import lives
from tracert.record.ring import NO_ROOM, sync_directory, unused

FORMAT = "tracert"
FORMAT_VERSION = 1
ZSTD_LEVEL = 1
NAMED_SECONDS = 3600.0
"""A dump that an answer may have named is kept for so long, however many came after it."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
_AUTOMATIC = re.compile(r"dump-\d{8}T\d{6}Z-(device-error|exception|killed|hang|exit)(-\d+)?\.jsonl")


@dataclass(frozen=True, slots=True)
class Dump:
    """What was written."""

    path: Path
    events: int
    lost: int
    torn: int
    nbytes: int


def dump_path(directory: Path, reason: str) -> Path:
    """A name for a dump that is written now: `dump-<time>-<reason>.jsonl`."""
    return unused(directory / f"dump-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{reason}.jsonl")


def keep_newest(directory: Path, count: int) -> None:
    """Remove the automatic dumps of a directory, those that nobody asked for, but the `count` newest of them.

    One of an orderly end goes at once; another, which an answer or the log named, not before it is an hour
    old. 0 keeps all. What cannot be removed stays.
    """
    if count < 1:
        return
    with contextlib.suppress(OSError):
        found = {path: _AUTOMATIC.fullmatch(path.name) for path in directory.glob("dump-*.jsonl")}
        written = {path: path.stat().st_mtime for path, name in found.items() if name is not None}
        for path in sorted(written, key=lambda path: (written[path], path.name))[:-count]:
            name = found[path]
            assert name is not None
            if name[1] == "exit" or time.time() - written[path] > NAMED_SECONDS:
                path.unlink(missing_ok=True)


def write_dump(
    ring: Path,
    output: Path,
    *,
    reason: str | None = None,
    error: dict[str, Any] | None = None,
) -> Dump:
    """The history in the ring file, as a dump at `output`; compressed when that ends with `.zst`.

    `reason` None is `request` for the ring of a process that lives, and `killed` otherwise. `error` None
    takes the last error that the recorder was told. An older file at `output` is replaced. Like a ring, it is
    readable to its user only.
    Errors as `image.read`; NoRoomError or PathError when the dump cannot be written.
    """
    image = read(ring)
    _refuse_to_replace(output, ring)
    partial = output.with_name(output.name + ".partial")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(partial, _NEW, 0o600), "wb") as file:
            if output.suffix == ".zst":
                compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
                with compressor.stream_writer(file, closefd=False) as stream:
                    nbytes = write_image(stream, image, reason, error)
            else:
                nbytes = write_image(file, image, reason, error)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(output)
        sync_directory(output.parent)
    except OSError as failure:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        if failure.errno in NO_ROOM:
            raise NoRoomError(output, image.slots.nbytes, failure.strerror or str(failure)) from None
        raise PathError(output, "write the dump", failure.strerror or os.strerror(errno.EIO)) from None
    return Dump(output, len(image.heads), image.lost, image.torn, nbytes)


def _refuse_to_replace(output: Path, ring: Path) -> None:
    """A dump takes the place of an older file: never of its own ring, nor of a device or a pipe."""
    if output.is_dir() or not output.exists():
        return
    if output.samefile(ring):
        raise PathError(output, "write the dump", "it is the ring that is read")
    if not output.is_file():
        raise PathError(output, "write the dump", "it is no regular file")


def write_image(
    file: IO[bytes], image: Image, reason: str | None = None, error: dict[str, Any] | None = None
) -> int:
    """The whole dump into an open file, as `write_dump`. Returns the number of bytes before compression."""
    checksum = nbytes = 0
    for chunk in _chunks(image, reason, error):
        checksum = zlib.crc32(chunk, checksum)
        nbytes += len(chunk)
        file.write(chunk)
    end = orjson.dumps({"kind": "end", "events": len(image.heads), "crc32": checksum}) + b"\n"
    file.write(end)
    return nbytes + len(end)


def _chunks(image: Image, reason: str | None, error: dict[str, Any] | None) -> Iterator[bytes]:
    yield from head(image, reason, error)
    yield from lines(image)


def head(image: Image, reason: str | None = None, error: dict[str, Any] | None = None) -> Iterator[bytes]:
    """The lines before the events: the header, and the states. `reason` and `error` as `write_dump`."""
    yield orjson.dumps(_header(image, reason, error), default=str) + b"\n"
    for state in (*stream_states(image), *page_states(image), *lane_states(image)):
        yield orjson.dumps(state) + b"\n"


def _header(image: Image, reason: str | None, error: dict[str, Any] | None) -> dict[str, Any]:
    if reason is None:
        reason = "request" if lives(image.header) else "killed"
    about = image.about
    device = {"name": "unknown", **about.get("device", {}), "state": image.device_state}
    ring: dict[str, Any] = {
        "capacity": image.header.geometry.slots,
        "first_seq": image.first_seq,
        "last_seq": image.last_seq,
        "lost": image.lost,
        "torn": image.torn,
        "pid": image.header.pid,
        "boot_id": image.header.boot_id,
    }
    if image.torn:
        ring["torn_seqs"] = image.torn_seqs
    if image.truncated:
        ring["truncated"] = True
    return {
        "kind": "header",
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "written_ns": time.time_ns(),
        "reason": reason,
        "error": image.error if error is None else error,
        "config": about.get("config", {}),
        "model": about.get("model", {}),
        "device": device,
        "clock": {"monotonic_ns": image.header.monotonic_ns, "unix_ns": image.header.unix_ns},
        "fault": about.get("fault"),
        "tool": {"name": "tracert", "version": _version(), **about.get("tool", {})},
        "ring": ring,
    }


def stream_states(image: Image) -> Iterator[dict[str, Any]]:
    """A line a stream, from the progress words."""
    table = _table(image, STREAM, image.header.regions.streams, image.header.geometry.streams)
    for index in np.flatnonzero(table["used"]).tolist():
        words = table[index]
        yield {
            "kind": "stream_state",
            "stream": index,
            "name": bytes(words["name"]).decode("utf-8", "replace") or f"stream {index}",
            "blocking": bool(words["blocking"]),
            "launched": int(words["launched"]),
            "started": int(words["started"]),
            "finished": int(words["finished"]),
        }


def page_states(image: Image) -> Iterator[dict[str, Any]]:
    """A line for every page that was ever granted: its last facts. What never happened is absent."""
    table = _table(image, PAGE, image.header.regions.pages, image.header.geometry.pages)
    for index in np.flatnonzero(table["state"]).tolist():
        facts = table[index]
        state: dict[str, Any] = {
            "kind": "page_state",
            "page": index,
            "life": int(facts["life"]),
            "state": PAGE_STATES[min(int(facts["state"]), 3)],
        }
        if facts["holder_kind"]:
            state["holder"] = _holder(image, facts["holder_kind"], facts["holder"])
        if facts["given_back"]:
            state["given_back"] = True
        if facts["previous_kind"]:
            state["previous_holder"] = _holder(image, facts["previous_kind"], facts["previous"])
        if facts["alloc_seq"]:
            state["alloc_seq"] = int(facts["alloc_seq"])
        if facts["writer_seq"]:
            launch = ("writer", "writer_stream") if facts["writer"] else ()
            for name in (*launch, "writer_seq", "writer_life"):
                state[name] = int(facts[name])
        if facts["fence"]:
            state["fence"] = int(facts["fence"]) - 1
        if facts["freed_seq"]:
            state["freed_seq"] = int(facts["freed_seq"])
        yield state


def lane_states(image: Image) -> Iterator[dict[str, Any]]:
    """A line for every row that was ever acquired: its request, frontier and open transaction."""
    table = _table(image, LANE, image.header.regions.lanes, image.header.geometry.rows)
    for index in np.flatnonzero((table["state"] != 0) | (table["publish_seq"] != 0)).tolist():
        facts = {name: int(table[name][index]) for name in LANE.names or ()}
        state: dict[str, Any] = {"kind": "lane_state", "row": index}
        if facts["state"]:
            state["state"] = "held" if facts["state"] == 1 else "released"
            for name in ("generation", "request", "frontier", "committed"):
                state[name] = facts[name]
        if facts["transaction"]:
            state |= {"provisional": facts["provisional"], "transaction": facts["transaction"] - 1}
        if facts["phase"]:
            state["phase"] = image.words[facts["phase"]] if facts["phase"] < len(image.words) else "unknown"
            for name, word in (
                ("step", "step"),
                ("scheduled_tokens", "scheduled"),
                ("computed_tokens", "computed"),
                ("pages", "pages"),
            ):
                state[name] = facts[word]
        if facts["publish_seq"]:
            for name in ("epoch", "publish_launch", "publish_stream", "publish_seq"):
                state[name] = facts[name]
        yield state


def _table(image: Image, kind: "np.dtype[Any]", at: int, count: int) -> Any:
    return np.frombuffer(image.fixed, kind, count, at)


def _holder(image: Image, kind: Any, number: Any) -> str:
    words = image.words
    return f"{words[kind] if kind < len(words) else 'unknown'}:{int(number)}"


def _version() -> str:
    try:
        return version("tracert")
    except PackageNotFoundError:
        return "0"
