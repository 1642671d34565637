"""A dump as one seekable file of JSON Lines, and its frame: the header line, the end line and the checksum.

Knows nothing of what the events mean.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from tempfile import TemporaryFile
from typing import IO, Any

from tracert_analysis.columns import Column
from tracert_analysis.frame import LINE_BYTES_MAX, STATES, DumpError, Frame, header_of, object_of

Bytes = tuple[int, int]
"""Of a file: from, and the byte behind."""

PART_BYTES = 48 << 20
"""So much is read before its events go to the tables."""

LONG_LINE = (
    f"{{}} has a line of more than {LINE_BYTES_MAX >> 20} MiB: no event is that long, "
    "so this is not a tracert dump"
)
"""Where the name of the dump goes."""

_CHUNK_BYTES = 4 << 20
_TAIL_BYTES = 4096


def spool() -> IO[bytes]:
    """A file without a name, which goes when it is closed."""
    return TemporaryFile()


@dataclass(frozen=True)
class Lines:
    """A file that stays open as long as it is needed."""

    name: str
    file: IO[bytes]

    @property
    def path(self) -> str:
        """A path that opens this very file, and no other: names would be taken for patterns."""
        return f"/dev/fd/{self.file.fileno()}"

    def frame(self) -> Frame:
        """The header, the states and the end. DumpError when it is no dump, or of another version."""
        self.file.seek(0)
        header = header_of(self.name, self.file.readline(LINE_BYTES_MAX))
        states: dict[str, list[bytes]] = {kind: [] for kind in STATES}
        for kind, line in self._states():
            states[kind].append(line)
        end_at, end, cut_line = self._end()
        checksum = self._checksum(end_at)
        intact = end is not None and end.get("crc32") == checksum
        events = None if end is None else end.get("events")
        return Frame(header, states, events if isinstance(events, int) else None, intact, cut_line)

    def parts(self) -> list[Bytes]:
        """The events in parts of whole lines, an even number of them unless it is one."""
        self.file.seek(0)
        begin = len(self.file.readline(LINE_BYTES_MAX)) + sum(len(line) for _, line in self._states())
        size = self._end()[0] - begin
        count = 1 if size < PART_BYTES else 2 * -(-size // (2 * PART_BYTES))
        bounds = [begin]
        for number in range(1, count):
            self.file.seek(begin + number * size // count)
            self.file.readline()
            bounds.append(max(bounds[-1], min(self.file.tell(), begin + size)))
        return list(pairwise([*bounds, begin + size]))

    def reader(self, tables: Sequence[tuple[Column, ...]]) -> Callable[[Any, Bytes], None]:
        """Reads a part into the tables of a `tracert_analysis._events.Events`."""
        return lambda events, part: events.lines_of_file(self.file.fileno(), *part)

    def lines(self) -> "Lines":
        """Itself."""
        return self

    def _states(self) -> Iterator[tuple[str, bytes]]:
        """Kinds and lines behind the header, up to the first that is no state."""
        while line := self.file.readline(LINE_BYTES_MAX):
            kind = object_of(line).get("kind")
            if kind not in STATES:
                return
            yield kind, line

    def _end(self) -> tuple[int, dict[str, Any] | None, bool]:
        """Where the end line starts; the line, None when there is none; whether the last line breaks off."""
        size = self.file.seek(0, 2)
        self.file.seek(max(0, size - _TAIL_BYTES))
        tail = self.file.read(_TAIL_BYTES)
        if not tail.endswith(b"\n"):
            return size, None, True
        begins = tail.rfind(b"\n", 0, -1) + 1
        end = object_of(tail[begins:])
        if end.get("kind") != "end":
            return size, None, False
        return size - len(tail) + begins, end, False

    def _checksum(self, size: int) -> int:
        """CRC-32 of the first `size` bytes. DumpError at a line that is longer than any event."""
        self.file.seek(0)
        crc, left, open_line = 0, size, 0
        while left and (chunk := self.file.read(min(_CHUNK_BYTES, left))):
            crc = zlib.crc32(chunk, crc)
            left -= len(chunk)
            newline = chunk.find(b"\n")
            if open_line + (newline if newline >= 0 else len(chunk)) > LINE_BYTES_MAX:
                raise DumpError(LONG_LINE.format(self.name))
            open_line = len(chunk) - chunk.rfind(b"\n") - 1 if newline >= 0 else open_line + len(chunk)
        return crc
