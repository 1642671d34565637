"""Which dumps of a folder are read: those that tell of what failed first, then the newest.

Only the first line of each is read for that.
"""

from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

from tracert_analysis.frame import LINE_BYTES_MAX, DumpError, header_of

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
FAILED = ("device-error", "exception", "killed", "hang")
"""Reasons of dumps that were written because something had failed."""
NAMED = 3
"""So many of the others are named."""


class Candidate(NamedTuple):
    """A dump, or a ring, by what its name and its first line say."""

    place: Path
    header: dict[str, Any]
    """Empty for a ring, and for a dump whose header can't be read: to read it says why."""

    @property
    def failed(self) -> bool:
        """It tells of an error, or was written because something had failed."""
        return bool(self.header.get("error")) or self.header.get("reason") in FAILED

    @property
    def orderly(self) -> bool:
        """It was written at an orderly end: after a crash and a restart that is the newest of all, and nobody
        asks for it."""
        return self.header.get("reason") == "exit" or "-exit.jsonl" in self.place.name

    @property
    def preference(self) -> tuple[Any, ...]:
        """The largest is read."""
        written = self.header.get("written_ns")
        try:
            changed = self.place.stat().st_mtime_ns
        except OSError:
            changed = 0
        return (
            bool(self.header),
            bool(self.header.get("error")),
            self.failed,
            not self.orderly,
            written if isinstance(written, int) else 0,
            changed,
            self.place.name,
        )


def header_in(place: Path) -> dict[str, Any]:
    """The header of the dump in a file, and no more of it is read. DumpError when it is none."""
    try:
        with place.open("rb") as file:
            magic = file.read(len(ZSTD_MAGIC))
            file.seek(0)
            if magic != ZSTD_MAGIC:
                return header_of(str(place), file.readline(LINE_BYTES_MAX))
            with BufferedReader(zstandard.ZstdDecompressor().stream_reader(file)) as stream:
                return header_of(str(place), stream.readline(LINE_BYTES_MAX))
    except (OSError, zstandard.ZstdError) as error:
        raise DumpError(f"cannot read {place}: {error}") from None


def candidates(folder: Path) -> list[Candidate]:
    """The dumps of a folder, those to be read first first; its rings only where no dump stands beside them.

    What ends like a dump and is none comes last. DumpError when there is neither.
    """
    for pattern in ("*.jsonl", "*.jsonl.zst"), ("*.ring",):
        found = list(_found(folder, pattern))
        if found:
            return sorted(found, key=lambda one: one.preference, reverse=True)
    raise DumpError(f"{folder} holds no dump: none of its files ends in .jsonl, .jsonl.zst or .ring")


def remark(folder: Path, read: list[Candidate], others: list[Candidate]) -> str | None:
    """A line that says which dumps of a folder are read, and of which others the reader may want to know.

    None where it has no others.
    """
    if not others:
        return None
    total = len(read) + len(others)
    if len(read) > 1:
        names = ", ".join(one.place.name for one in read)
        return f"of {total} dumps in {folder} these are read, the newest of each rank: {names}"
    chosen = read[0]
    if chosen.place.suffix == ".ring":
        return f"of {total} rings in {folder} the newest is read: {chosen.place.name}"
    failed = [one for one in others if one.failed]
    if not chosen.failed:
        why = "the newest; none tells of an error"
        if not chosen.orderly and any(one.orderly for one in others):
            why = "the newest but for those of an orderly end; none tells of an error"
    elif failed:
        more = len(failed) - NAMED
        names = ", ".join(one.place.name for one in failed[:NAMED]) + (
            f" and {more} more" if more > 0 else ""
        )
        verb = "does" if len(failed) == 1 else "do"
        why = f"the newest of those that tell of an error; so {verb} {names}"
    else:
        why = "the only one that tells of an error"
    return f"of {total} dumps in {folder} one is read: {chosen.place.name}, {why}"


def _found(folder: Path, patterns: tuple[str, ...]) -> Iterator[Candidate]:
    for pattern in patterns:
        for place in folder.glob(pattern):
            if place.is_file():
                yield Candidate(place, {} if place.suffix == ".ring" else _header(place))


def _header(place: Path) -> dict[str, Any]:
    try:
        return header_in(place)
    except DumpError:
        return {}
