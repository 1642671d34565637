"""Where a dump comes from: a file, a compressed file, a ring, a directory of them, or standard input.

Gives one seekable file of JSON Lines, whatever the source was, and checks its frame: the header line, the
end line and the checksum. Knows nothing of what the events mean.
"""

import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import orjson
import zstandard

VERSION = 1
"""The format of dumps that this reader reads."""
LINE_BYTES_MAX = 16 << 20
"""A longer line is no event."""
STATES = ("stream_state", "page_state", "lane_state")

_RING_MAGIC = b"TRCRTRNG"
_BEGIN = b'{"kind":"header"'
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK_BYTES = 4 << 20
_TAIL_BYTES = 4096


class DumpError(Exception):
    """The dump can't be read. The message is one line: what, where, what to do."""


@dataclass(frozen=True)
class Source:
    """A dump as one seekable file of JSON Lines, which stays open as long as it is needed."""

    name: str
    file: IO[bytes]

    @property
    def path(self) -> str:
        """A path that opens this very file, and no other: names would be taken for patterns."""
        return f"/dev/fd/{self.file.fileno()}"


@dataclass(frozen=True)
class Frame:
    """What stands around the events."""

    header: dict[str, Any]
    states: dict[str, list[bytes]]
    """State lines by kind, as they stand in the file."""
    events: int | None
    """How many events the end line tells of; None when there is no end line."""
    intact: bool
    """The checksum of the end line is that of the lines before it; False without an end line."""
    cut_line: bool
    """The last line breaks off."""
    begin: int
    """The byte at which the events begin."""
    end: int
    """The byte behind them."""


def open_source(path: str) -> Source:
    """Open `path`, `-` for standard input. DumpError when there is nothing to read."""
    if path == "-":
        return _decoded("standard input", _spooled(sys.stdin.buffer))
    try:
        place = Path(path)
        if place.is_dir():
            place = _newest(place)
        file = place.open("rb")
        if not place.is_file():
            # A pipe can't be read twice.
            with file:
                return _decoded(str(place), _spooled(file))
        with file:
            if file.read(len(_RING_MAGIC)) == _RING_MAGIC:
                return _recovered(place)
        return _decoded(str(place), place.open("rb"))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise DumpError(f"cannot read {path}: {why}; give a dump, a ring or a directory of them") from None


def read_header(source: Source) -> dict[str, Any]:
    """The header of a dump, and nothing else. DumpError when it is none, or of another version."""
    source.file.seek(0)
    return _header(source.name, source.file.readline(LINE_BYTES_MAX))


def read_frame(source: Source) -> Frame:
    """The header, the states and the end of a dump. DumpError when it is none, or of another version."""
    header = read_header(source)
    file = source.file
    states: dict[str, list[bytes]] = {kind: [] for kind in STATES}
    begin = file.tell()
    for line in _lines(file):
        kind = _object(line).get("kind")
        if not isinstance(kind, str) or kind not in states:
            break
        states[kind].append(line)
        begin += len(line)
    end_at, end, cut_line = _end(file)
    checksum = _checksum(source, end_at)
    intact = end is not None and end.get("crc32") == checksum
    events = None if end is None else end.get("events")
    told = events if isinstance(events, int) else None
    return Frame(header, states, told, intact, cut_line, begin, end_at)


def _newest(folder: Path) -> Path:
    """The dump of a directory that was written last; a ring only where no dump stands beside it.

    A dump of an orderly end is passed over where another stands: after a crash and a restart, the server's
    stop is the newest of all, and nobody asks for that one.
    """
    for pattern in ("*.jsonl", "*.jsonl.zst"), ("*.ring",):
        found = [place for glob in pattern for place in folder.glob(glob) if place.is_file()]
        if found:
            return max(
                found,
                key=lambda place: ("-exit.jsonl" not in place.name, place.stat().st_mtime_ns, place.name),
            )
    raise DumpError(f"{folder} holds no dump: none of its files ends in .jsonl, .jsonl.zst or .ring")


def _spooled(stream: IO[bytes]) -> IO[bytes]:
    """A copy that can be read twice."""
    spool = _spool()
    while chunk := stream.read(_CHUNK_BYTES):
        spool.write(chunk)
    spool.flush()
    return spool


def _decoded(name: str, file: IO[bytes]) -> Source:
    file.seek(0)
    magic = file.read(len(_ZSTD_MAGIC))
    file.seek(0)
    if not magic:
        raise DumpError(f"{name} is empty: nothing was written to it; look for another dump or the ring")
    if magic.startswith(_ZSTD_MAGIC):
        return _decompressed(name, file)
    return Source(name, file)


def _decompressed(name: str, file: IO[bytes]) -> Source:
    spool = _spool()
    # A stream that breaks off is a dump that is cut short: what came before is read.
    try:
        with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                spool.write(chunk)
    except zstandard.ZstdError:
        pass
    spool.flush()
    if not spool.tell():
        raise DumpError(
            f"{name} is not a tracert dump, or cut short: nothing of its compressed stream can be read; copy "
            "the whole file again, or look for the ring"
        )
    return Source(name, spool)


def _spool() -> IO[bytes]:
    return TemporaryFile()


def _recovered(place: Path) -> Source:
    """A ring, as the dump that `tracert recover` would write."""
    # Only here does the reader need the recorder's half of the package.
    from tracert.record.dump import write_image
    from tracert.record.errors import RecordError
    from tracert.record.image import read

    spool = _spool()
    try:
        write_image(spool, read(place))
    except RecordError as error:
        raise DumpError(str(error)) from None
    spool.flush()
    return Source(str(place), spool)


def _header(name: str, line: bytes) -> dict[str, Any]:
    header = _object(line)
    begun = line.startswith(_BEGIN) or bool(line and _BEGIN.startswith(line))
    if not header and begun and not line.endswith(b"\n") and len(line) < LINE_BYTES_MAX:
        raise DumpError(
            f"{name} is cut short: it ends within its first line; copy the whole file again, or look for the "
            "ring"
        )
    if header.get("kind") != "header" or header.get("format") != "tracert":
        raise DumpError(f"{name} is not a tracert dump: it does not start with a header line")
    version = header.get("version")
    if version != VERSION:
        raise DumpError(
            f"{name} is a dump of format {version}, and this tracert reads format {VERSION}: "
            "read it with the version that wrote it"
        )
    return header


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES_MAX):
        yield line


def _end(file: IO[bytes]) -> tuple[int, dict[str, Any] | None, bool]:
    """Where the end line starts; the line, None when there is none; whether the last line breaks off."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL_BYTES))
    tail = file.read(_TAIL_BYTES)
    if not tail.endswith(b"\n"):
        return size, None, True
    begins = tail.rfind(b"\n", 0, -1) + 1
    end = _object(tail[begins:])
    if end.get("kind") != "end":
        return size, None, False
    return size - len(tail) + begins, end, False


def _checksum(source: Source, size: int) -> int:
    """CRC-32 of the first `size` bytes. DumpError at a line that is longer than any event."""
    source.file.seek(0)
    crc, left, open_line = 0, size, 0
    while left and (chunk := source.file.read(min(_CHUNK_BYTES, left))):
        crc = zlib.crc32(chunk, crc)
        left -= len(chunk)
        newline = chunk.find(b"\n")
        if open_line + (newline if newline >= 0 else len(chunk)) > LINE_BYTES_MAX:
            raise DumpError(
                f"{source.name} has a line of more than {LINE_BYTES_MAX >> 20} MiB: no event is that long, "
                "so this is not a tracert dump"
            )
        open_line = len(chunk) - chunk.rfind(b"\n") - 1 if newline >= 0 else open_line + len(chunk)
    return crc
