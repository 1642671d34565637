"""Where a dump comes from: a file, a compressed file, a ring, a directory of them, or standard input."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import zstandard

from tracert_analysis.columns import Column
from tracert_analysis.folder import ZSTD_MAGIC, candidates
from tracert_analysis.frame import LINE_BYTES_MAX, DumpError, Frame
from tracert_analysis.lines import LONG_LINE, Lines, spool

_RING_MAGIC = b"TRCRTRNG"
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 4 << 20


class Source(Protocol):
    """A dump, whatever it is read from."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    def frame(self) -> Frame:
        """What stands around the events. DumpError when it is no dump, or of another version."""

    def parts(self) -> list[Any]:
        """The events in parts that are read one after the other; an even number of them, unless it is one."""

    def reader(self, tables: Sequence[tuple[Column, ...]]) -> Callable[[Any, Any], None]:
        """Reads a part into the tables of a `tracert_analysis._events.Events`, which have these columns."""

    def lines(self) -> Lines:
        """The same as lines."""


def open_source(path: str) -> Source:
    """Open `path`, `-` for standard input. DumpError when there is nothing to read."""
    if path == "-":
        return _decoded("standard input", _spooled(sys.stdin.buffer))
    try:
        place = Path(path)
        if place.is_dir():
            place = candidates(place)[0].place
        file = place.open("rb")
        if not place.is_file():
            # A pipe can't be read twice.
            with file:
                return _decoded(str(place), _spooled(file))
        with file:
            # What is called a ring and is none, its own reader says best.
            if file.read(len(_RING_MAGIC)) == _RING_MAGIC or place.suffix == ".ring":
                return _ring(place)
        return _decoded(str(place), place.open("rb"))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DumpError(f"cannot read {path}: {why}; give a dump, a ring or a directory of them") from None


def _spooled(stream: IO[bytes]) -> IO[bytes]:
    """A copy that can be read twice."""
    copy = spool()
    while chunk := stream.read(_CHUNK_BYTES):
        copy.write(chunk)
    copy.flush()
    return copy


def _decoded(name: str, file: IO[bytes]) -> Lines:
    file.seek(0)
    magic = file.read(len(ZSTD_MAGIC))
    file.seek(0)
    if not magic:
        raise DumpError(f"{name} is empty: nothing was written to it; look for another dump or the ring")
    if magic.startswith(_GZIP_MAGIC):
        raise DumpError(
            f"{name} is compressed with gzip, and dumps are with zstd, if at all: gunzip it first"
        )
    if magic.startswith(ZSTD_MAGIC):
        return _decompressed(name, file)
    return Lines(name, file)


def _decompressed(name: str, file: IO[bytes]) -> Lines:
    copy = spool()
    # A stream that breaks off is a dump that is cut short: what came before is read.
    try:
        with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
            written = lines = 0
            while chunk := stream.read(_CHUNK_BYTES):
                copy.write(chunk)
                written += len(chunk)
                lines += chunk.count(b"\n")
                # A little file can unpack to more than any disk has: what is no dump is not unpacked whole.
                if written > LINE_BYTES_MAX * (lines + 1):
                    raise DumpError(LONG_LINE.format(name))
    except zstandard.ZstdError:
        pass
    copy.flush()
    if not copy.tell():
        raise DumpError(
            f"{name} is not a tracert dump, or cut short: nothing of its compressed stream can be read; copy "
            "the whole file again, or look for the ring"
        )
    return Lines(name, copy)


def _ring(place: Path) -> Source:
    # Only here does the reader need the recorder's half of the package.
    from tracert_analysis.ring import Ring

    return Ring(place)
