"""Writes records into a ring in plain Python: the fallback where the C writer was not built.

Same methods and same bytes as `_ring.Writer`, but for the checksum, which it leaves 0 (the header says
so). Order of stores is the contract with readers: the cursor names what is being overwritten, then
payload, then the record, whose `seq` is stored last. Knows how records are laid out, not what they mean.
"""

import struct
from collections.abc import Sequence
from time import monotonic_ns
from typing import Any, Protocol

from tracert.record.errors import GeometryError
from tracert.record.facts import Facts, Told
from tracert.record.layout import CHECKSUM_NONE, CURSOR, FACTS_SEQ, LOST, PAYLOADS, SLOT_FORMAT
from tracert.record.ring import Ring
from tracert.record.schema import (
    ABSENT32,
    ABSENT64,
    BYTES_A_SLOT,
    FORM_JSON,
    FORM_NONE,
    FORM_WORDS,
    PAYLOAD_BIT,
)

pack_into = SLOT_FORMAT.pack_into
"""Clears the record first and stores its fields in order: the seq last."""

Slot = int | None
"""A value of a slot: None or negative is absent."""


class Writer(Protocol):
    """What a recorder needs of a writer. Every method returns the event's seq."""

    def emit(self, kind: int, a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot) -> int:
        """A record without payload."""

    def emit_pages(
        self,
        kind: int,
        c: Slot,
        d: Slot,
        e: Slot,
        x: Slot,
        y: Slot,
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        """One page goes to the slots `a` and `b`; several are payload; for none there is no event (0)."""

    def emit_pairs(
        self,
        kind: int,
        a: Slot,
        b: Slot,
        c: Slot,
        d: Slot,
        e: Slot,
        x: Slot,
        y: Slot,
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        """A record with (page, life) pairs as payload, one or none included."""

    def emit_words(
        self, kind: int, a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot, *parts: Any
    ) -> int:
        """A record with words as payload: the numbers and texts of the parts in order, however nested."""

    def emit_json(
        self, kind: int, a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot, text: bytes
    ) -> int:
        """A record with the UTF-8 JSON of an object as payload."""


class PythonWriter:
    """A `Writer` for one ring.

    It takes no lock, which would cost a third more: seqs are given out by a read and a store of the cursor
    between which CPython, with its global lock, does not switch threads. So threads never share a slot; but
    facts are for one thread at a time.
    """

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._buffer = ring.buffer
        self._counters = ring.counters
        self._records = ring.header.regions.records
        self._slots = ring.header.geometry.slots
        self._mask = ring.header.geometry.mask
        self._seqs = memoryview(ring.buffer)[self._records : ring.header.regions.end].cast("Q")[7::8]
        self._folds = Facts(ring.buffer, ring.header).folds

    def emit(self, kind: int, a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot) -> int:
        """See `Writer.emit`."""
        counters, buffer = self._counters, self._buffer
        before = counters[CURSOR]
        counters[CURSOR] = seq = before + 1
        at = self._records + ((before & self._mask) << 6)
        if before >= self._slots and buffer[at + 63] < 0x80:
            counters[LOST] += 1
        now = monotonic_ns()
        try:
            pack_into(buffer, at, now, kind, 0, 0, a, b, c, d, x, y, e, 0, seq)
        except struct.error:
            a, b, c, d, e, x, y = _slots(a, b, c, d, e, x, y)
            pack_into(buffer, at, now, kind, 0, 0, a, b, c, d, x, y, e, 0, seq)
        if kind in self._folds:
            self._folds[kind](Told(seq, a, b, c, d, e, x, y, ()))  # type: ignore[arg-type]
            counters[FACTS_SEQ] = seq
        return seq

    def emit_pages(
        self,
        kind: int,
        c: Slot,
        d: Slot,
        e: Slot,
        x: Slot,
        y: Slot,
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        """See `Writer.emit_pages`."""
        if len(pages) == 1 and len(lives) == 1:
            return self.emit(kind, pages[0], lives[0], c, d, e, x, y)
        if not len(pages) and not len(lives):
            return 0
        return self.emit_pairs(kind, None, None, c, d, e, x, y, pages, lives)

    def emit_pairs(
        self,
        kind: int,
        a: Slot,
        b: Slot,
        c: Slot,
        d: Slot,
        e: Slot,
        x: Slot,
        y: Slot,
        pages: Sequence[int],
        lives: Sequence[int],
    ) -> int:
        """See `Writer.emit_pairs`. ValueError when the sequences differ in length."""
        words = [0] * (2 * len(pages))
        words[::2] = pages
        words[1::2] = lives
        return self._emit_words(kind, _slots(a, b, c, d, e, x, y), [_word(word) for word in words])

    def emit_words(
        self, kind: int, a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot, *parts: Any
    ) -> int:
        """See `Writer.emit_words`."""
        words: list[int] = []
        self._flatten(parts, words)
        return self._emit_words(kind, _slots(a, b, c, d, e, x, y), words)

    def emit_json(
        self, kind: int, a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot, text: bytes
    ) -> int:
        """See `Writer.emit_json`."""
        return self._commit(kind, FORM_JSON, len(text), _slots(a, b, c, d, e, x, y), text, ())

    def _flatten(self, parts: Any, words: list[int]) -> None:
        for part in parts:
            if isinstance(part, str):
                words.append(self._ring.word(part))
            elif hasattr(part, "__len__"):
                self._flatten(part, words)
            else:
                words.append(_word(part))

    def _emit_words(self, kind: int, slots: tuple[int, ...], words: list[int]) -> int:
        payload = struct.pack(f"<{len(words)}I", *words)
        return self._commit(kind, FORM_WORDS if words else FORM_NONE, len(words), slots, payload, words)

    def _commit(
        self, kind: int, form: int, count: int, slots: tuple[int, ...], payload: bytes, words: Sequence[int]
    ) -> int:
        a, b, c, d, e, x, y = slots
        more = -(-len(payload) // BYTES_A_SLOT)
        if 2 * (1 + more) > self._slots:
            raise GeometryError(
                f"an event of {1 + more} records does not fit a ring of {self._slots}: "
                "give a larger --ring-events"
            )
        buffer, counters, seqs = self._buffer, self._counters, self._seqs
        first = counters[CURSOR]
        counters[CURSOR] = first + 1 + more
        for number in range(first, first + 1 + more):
            counters[LOST] += 0 < seqs[number & self._mask] < PAYLOAD_BIT
        for index in range(more):
            slot = (first + 1 + index) & self._mask
            at = self._records + (slot << 6)
            part = payload[BYTES_A_SLOT * index : BYTES_A_SLOT * (index + 1)]
            buffer[at : at + BYTES_A_SLOT] = part.ljust(BYTES_A_SLOT, b"\0")
            seqs[slot] = (first + 2 + index) | PAYLOAD_BIT
        at = self._records + ((first & self._mask) << 6)
        pack_into(buffer, at, monotonic_ns(), kind, form, count, a, b, c, d, x, y, e, 0, first + 1)
        counters[PAYLOADS] += more
        fold = self._folds.get(kind)
        if fold is not None:
            fold(Told(first + 1, a, b, c, d, e, x, y, words))
            counters[FACTS_SEQ] = first + 1
        return first + 1


def writer_of(ring: Ring) -> Writer:
    """The writer that the ring's header promises."""
    if ring.header.checksum == CHECKSUM_NONE:
        return PythonWriter(ring)
    from tracert.record._ring import Writer as NativeWriter

    return NativeWriter(ring)


def _slots(a: Slot, b: Slot, c: Slot, d: Slot, e: Slot, x: Slot, y: Slot) -> tuple[int, ...]:
    """The slots' bits. OverflowError when a number has more than its slot."""
    narrow = tuple(_word(value) for value in (a, b, c, d, e))
    wide = tuple(ABSENT64 if value is None or value < 0 else value for value in (x, y))
    if max(wide) > ABSENT64:
        raise OverflowError(f"{max(wide)} does not fit 64 bits of a record")
    return narrow + wide


def _word(value: Slot) -> int:
    if value is None or value < 0:
        return ABSENT32
    if value > ABSENT32:
        raise OverflowError(f"{value} does not fit 32 bits of a record")
    return value
