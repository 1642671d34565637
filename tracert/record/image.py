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

from tracert.record.checksum import fold, slot_hashes
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

Index = NDArray[np.int64]
SECOND_LOOK_SECONDS = 0.3
"""How long a record of a live process may take to be finished before it counts as torn."""
TORN_LISTED = 64
"""Torn slots that an image names."""


class Image:
    """What a ring held at one moment. `read` makes one.

    `slots` is the copied records region ([slots], dtype `layout.SLOT`), `heads` the slot numbers of the
    accepted records in seq order. `torn` counts slots of the window without a readable record, `lost`
    events that were overwritten.
    """

    def __init__(self, path: Path, mapped: Any, size: int) -> None:
        self.header = header = _header(path, mapped[:HEADER_SIZE])
        regions = header.regions
        if size < regions.records:
            raise TruncatedRingError(path, size, regions.end)
        self.truncated = size < regions.end
        """The file ends early; the slots that it lacks count as torn."""
        facts_seq = _counters(mapped)[FACTS_SEQ]
        self.fixed = bytearray(mapped[: regions.records])
        """Everything before the records; the fact regions are brought up to date."""
        before = _counters(mapped)[CURSOR]
        whole = min(header.geometry.slots, (size - regions.records) // SLOT_SIZE)
        live = np.frombuffer(mapped, SLOT, whole, regions.records)
        if self.truncated:
            live = np.concatenate([live, np.zeros(header.geometry.slots - whole, SLOT)])
        seqs = live["seq"].copy()
        # As numbers: field by field it takes five times as long.
        self.slots = live.view(np.uint64).copy().view(SLOT)
        counters = _counters(mapped)
        self.lost = counters[LOST]
        self._judge(seqs, before, counters[CURSOR])
        if self.torn and _alive(header.pid):
            self._look_again(mapped, live, seqs, before)
        self._read_notes()
        self._fold_again(facts_seq)

    def _judge(self, seqs: NDArray[np.uint64], before: int, after: int) -> None:
        """Accept or refuse every slot; `before` and `after` are the cursor around the copying."""
        count = self.header.geometry.slots
        mask = np.int64(count - 1)
        places = np.arange(count, dtype=np.int64)
        is_payload = (seqs & np.uint64(PAYLOAD_BIT)) != 0
        number = (seqs & np.uint64(PAYLOAD_BIT - 1)).astype(np.int64)
        stable = (number > 0) & (((number - 1) & mask) == places) & (self.slots["seq"] == seqs)
        heads = np.flatnonzero(stable & ~is_payload)
        more = self._payload_slots(heads)
        last = number[heads] + more
        whole = more <= count // 2
        heads, more, last = heads[whole], more[whole], last[whole]
        tail = (heads + more) & mask
        whole = (more == 0) | (stable[tail] & is_payload[tail] & (number[tail] == last))
        heads, more, last = heads[whole], more[whole], last[whole]
        follow = (ragged(heads + 1, more)) & mask
        expected = ragged(number[heads] + 1, more)
        right = stable[follow] & is_payload[follow] & (number[follow] == expected)
        whole = _sums(right.astype(np.uint64), more) == more.astype(np.uint64)
        if self.header.checksum != CHECKSUM_NONE:
            hashes = slot_hashes(self.slots.view(np.uint64).reshape(-1, 8), ~is_payload)
            sums = hashes[heads] + _sums(hashes[follow], more)
            whole &= fold(sums) == self.slots["sum"][heads]
        heads, more, last = heads[whole], more[whole], last[whole]
        newest = int(last.max()) if len(last) else 0
        if before != after:
            start, end = min(max(after - count, 0), before), before
        else:
            end = self._end(after, newest, int((last > after).sum()), len(last))
            start = max(end - count, 0)
        within = (number[heads] > start) & (last <= end)
        heads, more = heads[within], more[within]
        order = np.argsort(number[heads], kind="stable")
        self.heads: Index = heads[order]
        self.first_seq = int(number[self.heads[0]]) if len(heads) else 0
        self.last_seq = end
        used = np.zeros(count, np.bool_)
        used[heads] = True
        used[ragged(heads + 1, more) & mask] = True
        window = (start + np.arange(end - start, dtype=np.int64)) & mask
        orphan = is_payload[window] & (number[window] == start + 1 + np.arange(end - start)) & ~used[window]
        leading = len(orphan) if orphan.all() else int(np.argmin(orphan))
        bad = ~used[window]
        bad[:leading] = False
        self._bad = window[bad]
        self.torn = int(bad.sum())
        self.torn_seqs: list[int] = (start + 1 + np.flatnonzero(bad)[:TORN_LISTED]).tolist()
        """The first of them: they say whether something is missing between events or only behind the last."""

    def _end(self, cursor: int, newest: int, above: int, records: int) -> int:
        """Where a history that stands still ends: at the cursor, unless the records prove it damaged.

        With checksums one record above the cursor is proof; without, most of them must be above it.
        """
        checked = self.header.checksum != CHECKSUM_NONE
        damaged = above > 0 if checked else 2 * above > records
        return newest if damaged or cursor > newest + self.header.geometry.slots else cursor

    def _payload_slots(self, heads: Index) -> Index:
        """How many slots of payload follow each head."""
        form = self.slots["flags"][heads] & 3
        amount = self.slots["count"][heads].astype(np.int64)
        words = -(-amount // WORDS_A_SLOT)
        text = -(-amount // BYTES_A_SLOT)
        return np.where(form == FORM_WORDS, words, np.where(form == FORM_JSON, text, 0)).astype(np.int64)

    def _look_again(self, mapped: Any, live: NDArray[np.void], seqs: NDArray[np.uint64], before: int) -> None:
        """Records of a live process that were being written: give it a moment, then judge again."""
        deadline = time.monotonic() + SECOND_LOOK_SECONDS
        while self.torn and time.monotonic() < deadline:
            time.sleep(0.002)
            bad = self._bad
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


def read(path: Path) -> Image:
    """A copy of the ring in the file at `path`, whose writer may be alive.

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
        mapped = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    except OSError as error:
        raise PathError(path, "read the ring", error.strerror or str(error)) from None
    finally:
        os.close(descriptor)
    return Image(path, mapped, size)


def ragged(starts: Index, lengths: Index) -> Index:
    """`starts[i], starts[i] + 1, ...`, `lengths[i]` numbers each, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=np.int64)


def _sums(values: NDArray[np.uint64], lengths: Index) -> NDArray[np.uint64]:
    """Sums of consecutive runs of `lengths` values, 0 for an empty run; modulo 2**64."""
    running = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=running[1:])
    ends = np.cumsum(lengths)
    sums: NDArray[np.uint64] = running[ends] - running[ends - lengths]
    return sums


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
