"""The ring file as the process that writes it sees it: creation, words, notes, streams, syncing.

The file is the memory that the recorder writes to, so what it holds survives `kill -9`. Records go
through a writer (`writer.py`, `_ring.c`); reading is `image.py`'s. A ring belongs to one process.
"""

import errno
import mmap
import os
import threading
import time
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from tracert.record.errors import NoRoomError, PathError
from tracert.record.layout import (
    ABOUT_SIZE,
    CHECKSUM_MULTIPLY_XOR,
    CHECKSUM_NONE,
    COUNTERS_AT,
    ERROR_SIZE,
    NOTE,
    SCHEMA_SIZE,
    STATE_SIZE,
    STREAM_SIZE,
    WORDS_SIZE,
    Geometry,
    Header,
    Regions,
)
from tracert.record.schema import FIXED_WORDS, SCHEMA, VERSION, WORD

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WORD_BYTES_MAX = 512


def native_writer() -> bool:
    """Was the C writer built?"""
    try:
        from tracert.record import _ring  # noqa: F401
    except ImportError:
        return False
    return True


def ring_path(directory: Path) -> Path:
    """Where a ring of this process goes: `<pid>-<unix time>.ring`."""
    return unused(directory / f"{os.getpid()}-{int(time.time())}.ring")


class Words(dict[str, int]):
    """Indices by text; for a text that is missing `enter` is called."""

    def __init__(self, enter: Callable[[str], int]) -> None:
        super().__init__(WORD)
        self._enter = enter

    def __missing__(self, text: str) -> int:
        return self._enter(text)


class Ring:
    """An open ring. Make one with `create`."""

    def __init__(self, path: Path, header: Header, descriptor: int) -> None:
        self.path = path
        self.header = header
        self._descriptor = descriptor
        self.buffer = mmap.mmap(descriptor, header.regions.end)
        whole = memoryview(self.buffer)
        self.counters = whole[COUNTERS_AT : COUNTERS_AT + 32].cast("Q")
        """See `layout.COUNTERS_AT`."""
        self.words = Words(self.word)
        """Text to its index in the table of words, which a new text enters."""
        self._words_used = 4
        self._words_lock = threading.Lock()
        self._stop = threading.Event()
        self._close = weakref.finalize(self, os.close, descriptor)

    @classmethod
    def create(
        cls,
        path: Path,
        geometry: Geometry,
        about: dict[str, Any] | None = None,
        *,
        native: bool | None = None,
    ) -> "Ring":
        """A new ring file, all of it allocated, in memory and on disk; it appears when it can be read.

        `about` holds what a dump's header says of the process: `config`, `model`, `device`, `fault`, `tool`.
        `native` None takes the C writer if it was built. The file must not exist.

        NoRoomError when the file system is full (a sparse file would kill the process at a later
        write instead); PathError when the path cannot be written.
        """
        regions = Regions.of(geometry)
        if native is None:
            native = native_writer()
        header = Header(
            version=VERSION,
            checksum=CHECKSUM_MULTIPLY_XOR if native else CHECKSUM_NONE,
            pid=os.getpid(),
            boot_id=_boot_id(),
            monotonic_ns=time.monotonic_ns(),
            unix_ns=time.time_ns(),
            geometry=geometry,
            regions=regions,
        )
        partial = path.with_name(path.name + ".partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise PathError(path, "create the ring", error.strerror or str(error)) from None
        ring = None
        try:
            os.posix_fallocate(descriptor, 0, regions.end)
            ring = cls(path, header, descriptor)
            ring._fill(about or {})
            os.fsync(descriptor)
            partial.rename(path)
            sync_directory(path.parent)
        except OSError as error:
            if ring is None:
                os.close(descriptor)
            else:
                ring.close()
            partial.unlink(missing_ok=True)
            if error.errno in NO_ROOM:
                raise NoRoomError(path, regions.end, error.strerror or str(error)) from None
            raise PathError(path, "create the ring", error.strerror or str(error)) from None
        return ring

    def _fill(self, about: dict[str, Any]) -> None:
        """Touch every page, then write what describes the file, the header last."""
        np.frombuffer(self.buffer, np.uint8)[::4096] = 0
        regions = self.header.regions
        self._note(regions.schema, SCHEMA_SIZE, orjson.dumps(SCHEMA.to_json()))
        self.describe(about)
        for text in FIXED_WORDS:
            self._append_word(text)
        page = self.header.pack()
        self.buffer[:COUNTERS_AT] = page[:COUNTERS_AT]

    def describe(self, about: dict[str, Any]) -> None:
        """Replace what a dump's header says of the process. ValueError when it exceeds 64 KiB of JSON."""
        self._note(self.header.regions.about, ABOUT_SIZE, orjson.dumps(about))

    def error(self, error: dict[str, Any]) -> None:
        """Keep the last error; a long message or detail is cut."""
        self._note(self.header.regions.error, ERROR_SIZE, cut_error(error, ERROR_SIZE - NOTE.size))

    def device_state(self, state: str) -> None:
        """What the device came to: `ok`, `drained` or `unusable`."""
        self._note(self.header.regions.state, STATE_SIZE, orjson.dumps({"device_state": state}))

    def _note(self, at: int, room: int, text: bytes) -> None:
        if len(text) > room - NOTE.size:
            raise ValueError(f"{len(text)} bytes do not fit the {room} of this part of the ring")
        self.buffer[at + NOTE.size : at + NOTE.size + len(text)] = text
        NOTE.pack_into(self.buffer, at, len(text), zlib.crc32(text))

    def word(self, text: str) -> int:
        """The index of a text in the table of words, which it enters when it is new.

        For the few words that repeat: names of kernels, phases, reasons. When the table is full, a
        new word becomes the empty one.
        """
        found = self.words.get(text)
        if found is None:
            with self._words_lock:
                found = self.words.get(text)
                if found is None:
                    found = self.words[text] = self._append_word(text)
        return found

    def _append_word(self, text: str) -> int:
        raw = text.encode("utf-8", "replace")[:WORD_BYTES_MAX]
        if self._words_used + 2 + len(raw) > WORDS_SIZE:
            return WORD[""]
        start = self.header.regions.words
        at = start + self._words_used
        self.buffer[at : at + 2] = len(raw).to_bytes(2, "little")
        self.buffer[at + 2 : at + 2 + len(raw)] = raw
        self._words_used += 2 + len(raw)
        index = int.from_bytes(self.buffer[start : start + 4], "little")
        self.buffer[start : start + 4] = (index + 1).to_bytes(4, "little")
        return index

    def progress(self, stream: int) -> memoryview:
        """The three progress words of a stream: launched, started, finished.

        Unsigned 64-bit, to be written by the device (`words[2] = ordinal`); they outlive the process.
        ValueError when the ring has no room for the stream.
        """
        at = self._stream(stream)
        self.buffer[at + 64] = 1
        return memoryview(self.buffer)[at : at + 24].cast("Q")

    def name_stream(self, stream: int, name: str, *, blocking: bool) -> None:
        """What a dump calls a stream (62 bytes of UTF-8 at most)."""
        at = self._stream(stream)
        raw = name.encode()[:62]
        self.buffer[at + 66 : at + 128] = raw.ljust(62, b"\0")
        self.buffer[at + 65] = blocking
        self.buffer[at + 64] = 1

    def _stream(self, stream: int) -> int:
        if not 0 <= stream < self.header.geometry.streams:
            raise ValueError(f"stream {stream}: the ring has room for {self.header.geometry.streams} streams")
        return self.header.regions.streams + STREAM_SIZE * stream

    def sync(self) -> None:
        """Bring the file to disk. For a power failure only: what is written survives the process anyway."""
        os.fdatasync(self._descriptor)

    def sync_every(self, seconds: float) -> None:
        """Sync from a thread of its own (not `mmap.flush`, which would hold the interpreter's lock)."""

        def run() -> None:
            while not self._stop.wait(seconds):
                self.sync()

        threading.Thread(target=run, name="tracert-sync", daemon=True).start()

    def close(self) -> None:
        """Stop syncing and close the file. The memory stays mapped while somebody holds a part of it."""
        self._stop.set()
        self._close()


def cut_error(error: dict[str, Any], room: int) -> bytes:
    """The error as JSON of at most `room` bytes (512 or more): detail and texts give way."""
    text = orjson.dumps(error, default=str)
    length = room // 2
    while len(text) > room:
        short = {name: value[:length] if isinstance(value, str) else value for name, value in error.items()}
        text = orjson.dumps({**short, "detail": {"cut": True}}, default=str)
        length //= 2
    return text


def unused(path: Path) -> Path:
    """The path, or `NAME-2.SUFFIX`, `NAME-3.SUFFIX`, ... when that is there already."""
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def sync_directory(directory: Path) -> None:
    """Make a new or renamed file in the directory survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _boot_id() -> str:
    """Tells whether the monotonic clock of a ring is this boot's; empty where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
