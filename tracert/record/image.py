"""A consistent copy of a ring file: of a process that lives, died, or was killed in the middle of a store.

Every record is accepted or refused by itself: its seq must belong to its slot and to the window that the
ring still holds, it must have been stable while it was copied, its payload must be complete, and its
checksum right. What is refused is counted as torn; nothing is guessed. Knows no kind of event.
"""

import mmap
import os
import stat
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracert.record.errors import NotARingError, PathError, RingVersionError, TruncatedRingError
from tracert.record.facts import Facts, Told
from tracert.record.layout import (
    ABOUT_SIZE,
    CHECKSUM_NONE,
    COUNTERS_AT,
    CURSOR,
    ERROR_SIZE,
    FACTS_SEQ,
    HEADER_SIZE,
    LOST,
    MAGIC,
    NOTE,
    SCHEMA_SIZE,
    SLOT,
    SLOT_SIZE,
    STATE_SIZE,
    WORDS_SIZE,
    Header,
)
from tracert.record.schema import (
    BYTES_A_SLOT,
    FORM_JSON,
    FORM_WORDS,
    PAYLOAD_BIT,
    SCHEMA,
    VERSION,
    WORDS_A_SLOT,
    Schema,
)
from tracert.record.whole import Index, ragged, whole

SECOND_LOOK_SECONDS = 0.3
"""How long a record of a live process may take to be finished before it counts as torn."""
TORN_LISTED = 64
"""Torn slots that an image names."""


class Image:
    """What a ring held at one moment. `read` makes one.

    `slots` is the records region ([slots], dtype `layout.SLOT`), `heads` the slot numbers of the
    accepted records in seq order. `torn` counts slots of the window without a readable record, `lost`
    events that were overwritten.
    """

    def __init__(self, path: Path, descriptor: int, size: int, *, copy: bool) -> None:
        mapped = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        self.header = header = _header(path, mapped[:HEADER_SIZE])
        regions = header.regions
        if size < regions.records:
            raise TruncatedRingError(path, size, regions.end)
        facts_seq = _counters(mapped)[FACTS_SEQ]
        self.fixed = bytearray(mapped[: regions.records])
        """Everything before the records; the fact regions are brought up to date."""
        before = _counters(mapped)[CURSOR]
        count = header.geometry.slots
        live = np.frombuffer(mapped, SLOT, min(count, (size - regions.records) // SLOT_SIZE), regions.records)
        self._checked = header.checksum != CHECKSUM_NONE
        alive = _alive(header.pid)
        seqs, held = None, len(live)
        self._kept = None if copy or alive or held < count else mapped
        if self._kept is None:
            # What nobody writes to is the same before and in the copy; and a mixture has no right checksum.
            if alive or not self._checked:
                seqs = np.zeros(count, np.uint64)
                seqs[: len(live)] = live["seq"]
            self.slots, held = _copied(descriptor, regions.records, count)
        else:
            self.slots = live
        self.truncated = held < count
        """The file ends early; the slots that it lacks count as torn."""
        counters = _counters(mapped)
        self.lost, self._cursor = counters[LOST], counters[CURSOR]
        self._judge(seqs, before, self._cursor)
        if self.torn and alive and seqs is not None:
            self._look_again(mapped, live, seqs, before)
        self._read_notes()
        self._fold_again(facts_seq)

    @property
    def has_moved(self) -> bool:
        """Are the slots no copy, and was something written since? Then they hold what was not judged."""
        return self._kept is not None and _counters(self._kept)[CURSOR] != self._cursor

    def _judge(self, seqs: NDArray[np.uint64] | None, before: int, after: int) -> None:
        """Accept or refuse every slot. `seqs` and the cursor `before` are of before the copying."""
        count, mask = self.header.geometry.slots, self.header.geometry.mask
        first, last = whole(self.slots, seqs, checked=self._checked)
        newest = int(last.max()) if len(last) else 0
        if before != after:
            start, end = min(max(after - count, 0), before), before
        else:
            end = self._end(after, newest, int((last > after).sum()), len(last))
            start = max(end - count, 0)
        within = np.flatnonzero((first > start) & (last <= end))
        within = within[np.argsort(first[within], kind="stable")]
        first, last = first[within], last[within]
        self.heads: Index = (first - 1) & mask
        self.first_seq = int(first[0]) if len(first) else 0
        self.last_seq = end
        ends = np.concatenate([[start], last])
        bad = ragged(ends + 1, np.concatenate([first, [end + 1]]) - ends - 1)
        # After a lap, the payload of an event whose head was overwritten: nothing is torn there.
        leading = bad[: (int(first[0]) - 1 - start if len(first) else len(bad)) if start else 0]
        kept = self.slots["seq"][(leading - 1) & mask] == (leading.astype(np.uint64) | np.uint64(PAYLOAD_BIT))
        bad = bad[len(leading) if kept.all() else int(np.argmin(kept)) :]
        self._bad = (bad - 1) & mask
        self.torn = len(bad)
        self.torn_seqs: list[int] = bad[:TORN_LISTED].tolist()
        """The first of them: they say whether something is missing between events or only behind the last."""

    def _end(self, cursor: int, newest: int, above: int, records: int) -> int:
        """Where a history that stands still ends: at the cursor, unless the records prove it damaged.

        With checksums one record above the cursor is proof; without, most of them must be above it.
        """
        damaged = above > 0 if self._checked else 2 * above > records
        return newest if damaged or cursor > newest + self.header.geometry.slots else cursor

    def _look_again(self, mapped: Any, live: NDArray[np.void], seqs: NDArray[np.uint64], before: int) -> None:
        """Records of a live process that were being written: give it a moment, then judge again."""
        deadline = time.monotonic() + SECOND_LOOK_SECONDS
        while self.torn and time.monotonic() < deadline:
            time.sleep(0.002)
            bad = self._bad[self._bad < len(live)]
            seqs[bad] = live["seq"][bad]
            self.slots[bad] = live[bad]
            self._judge(seqs, before, _counters(mapped)[CURSOR])

    def _read_notes(self) -> None:
        regions = self.header.regions
        self.about: dict[str, Any] = _note(self.fixed, regions.about, ABOUT_SIZE) or {}
        """`config`, `model`, `device`, `fault`, `tool`, as far as they were told."""
        self.error: dict[str, Any] | None = _note(self.fixed, regions.error, ERROR_SIZE)
        state = _note(self.fixed, regions.state, STATE_SIZE) or {}
        self.device_state: str = state.get("device_state", "ok")
        schema = _note(self.fixed, regions.schema, SCHEMA_SIZE)
        try:
            self.schema = Schema.from_json(schema) if schema else SCHEMA
        except (KeyError, TypeError):
            self.schema = SCHEMA
        self.words = _words(self.fixed, regions.words)

    def _fold_again(self, facts_seq: int) -> None:
        """Events that the facts may not hold, or hold in part, because the copy or the end came between."""
        folds = Facts(self.fixed, self.header).folds
        seqs = self.slots["seq"][self.heads]
        for place in self.heads[int(np.searchsorted(seqs, facts_seq, "right")) :].tolist():
            fold = folds.get(int(self.slots["kind"][place]))
            if fold is not None:
                fold(self.told(place))

    def told(self, place: int) -> Told:
        """The record in slot `place` and its payload words."""
        record = self.slots[place]
        slots = {name: int(record[name]) for name in ("seq", "a", "b", "c", "d", "e", "x", "y")}
        return Told(**slots, words=self.payload_words(place))

    def payload_words(self, place: int) -> list[int]:
        """The payload words of the record in slot `place`."""
        record = self.slots[place]
        if int(record["flags"]) & 3 != FORM_WORDS:
            return []
        count = int(record["count"])
        follow = (place + 1 + np.arange(-(-count // WORDS_A_SLOT))) & self.header.geometry.mask
        words = self.slots.view(np.uint32).reshape(-1, 16)[follow, :WORDS_A_SLOT]
        return words.reshape(-1)[:count].tolist()  # type: ignore[no-any-return]

    def payload_bytes(self, place: int) -> bytes:
        """The payload text of the record in slot `place`."""
        record = self.slots[place]
        if int(record["flags"]) & 3 != FORM_JSON:
            return b""
        count = int(record["count"])
        follow = (place + 1 + np.arange(-(-count // BYTES_A_SLOT))) & self.header.geometry.mask
        text = self.slots.view(np.uint8).reshape(-1, SLOT_SIZE)[follow, :BYTES_A_SLOT]
        return text.tobytes()[:count]


def read(path: Path, *, copy: bool = True) -> Image:
    """What is in the ring in the file at `path`, whose writer may be alive.

    Without `copy` the records of a writer that is not found stay where they are: see `Image.has_moved`.
    NotARingError, RingVersionError or TruncatedRingError (it ends before the records begin) when it
    cannot be read; PathError when it cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise PathError(path, "read the ring", error.strerror or str(error)) from None
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise NotARingError(path, "a folder")
        size = os.fstat(descriptor).st_size
        if size < HEADER_SIZE:
            raise NotARingError(path, "empty" if not size else f"{size} bytes are shorter than a header")
        return Image(path, descriptor, size, copy=copy)
    except OSError as error:
        raise PathError(path, "read the ring", error.strerror or str(error)) from None
    finally:
        os.close(descriptor)


def _copied(descriptor: int, at: int, count: int) -> tuple[NDArray[np.void], int]:
    """The slots of a file from byte `at` on, and how many it had: the others are zero."""
    # Read, not mapped: that takes half the memory, and a file that is cut off meanwhile kills nobody.
    words = np.empty(count * SLOT_SIZE // 8, np.uint64)
    target, read = words.data.cast("B"), 0
    while more := os.preadv(descriptor, [target[read:]], at + read):
        read += more
    held = read // SLOT_SIZE
    words[held * SLOT_SIZE // 8 :] = 0
    return words.view(SLOT), held


def _header(path: Path, page: bytes) -> Header:
    version = int.from_bytes(page[8:12], "little")
    if page[:8] == MAGIC and version > VERSION:
        raise RingVersionError(path, version, VERSION)
    try:
        return Header.unpack(page)
    except ValueError as error:
        raise NotARingError(path, str(error)) from None


def _counters(mapped: Any) -> list[int]:
    return np.frombuffer(mapped, np.uint64, 4, COUNTERS_AT).tolist()  # type: ignore[no-any-return]


def _note(fixed: bytearray, at: int, room: int) -> Any:
    """The JSON of a note; None when there is none, or it was cut off while it was written."""
    length, checksum = NOTE.unpack_from(fixed, at)
    text = bytes(fixed[at + NOTE.size : at + NOTE.size + length])
    if not length or length > room - NOTE.size or zlib.crc32(text) != checksum:
        return None
    return orjson.loads(text)


def _words(fixed: bytearray, start: int) -> list[str]:
    count = int.from_bytes(fixed[start : start + 4], "little")
    words, at = [], start + 4
    for _ in range(min(count, WORDS_SIZE // 2)):
        length = int.from_bytes(fixed[at : at + 2], "little")
        words.append(bytes(fixed[at + 2 : at + 2 + length]).decode("utf-8", "replace"))
        at += 2 + length
    return words


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
