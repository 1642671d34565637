"""Folds events into the last facts of pages and rows: who held, who wrote, how far a row got.

The facts lie in fixed regions of the ring file, so they answer when the ring has wrapped long ago, and
survive the process. Folding an event twice gives what folding it once gives, in whatever step the first
time was cut off: recovery folds the last events again. `_ring.c` does the same in C, byte for byte.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tracert.record.layout import LANE_SIZE, PAGE_SIZE, Header
from tracert.record.schema import ABSENT64, CODE, SCHEMA, WORD

_LEAD = next(kind.lead_words for kind in SCHEMA.kinds if kind.name == "launch")
"""Words of a launch's payload before its uses."""

HELD, RETIRED, FREE = 1, 2, 3
"""Indices into `layout.PAGE_STATES`."""


class Told(NamedTuple):
    """An event as it stands in its record: slots and payload words."""

    seq: int
    a: int
    b: int
    c: int
    d: int
    e: int
    x: int
    y: int
    words: Sequence[int]


Fold = Callable[[Told], None]


class Facts:
    """The fact regions of a ring in `buffer`, which begins with the header."""

    def __init__(self, buffer: Any, header: Header) -> None:
        whole = memoryview(buffer)[: header.regions.records].cast("B")
        self._bytes, self._u32, self._u64 = whole, whole.cast("I"), whole.cast("Q")
        geometry, regions = header.geometry, header.regions
        self._pages, self._pages_at = geometry.pages, regions.pages
        self._page_size = geometry.page_size
        self._rows, self._lanes_at = geometry.rows, regions.lanes // 8
        self._width, self._mirror_at = geometry.row_width, regions.mirror // 4
        self.folds: dict[int, Fold] = {
            CODE["alloc"]: self._alloc,
            CODE["hold"]: self._hold,
            CODE["drop"]: self._drop,
            CODE["retire"]: self._retire,
            CODE["free"]: self._free,
            CODE["row_acquire"]: self._row_acquire,
            CODE["row_release"]: self._row_release,
            CODE["launch"]: self._launch,
            CODE["publish"]: self._publish,
            CODE["copy"]: self._copy,
            CODE["clear"]: self._clear,
            CODE["load"]: self._load,
            # Without a launch: stream absent, launch 0.
            CODE["host_write"]: self._copy,
            CODE["external_begin"]: self._copy,
            CODE["schedule"]: self._schedule,
            CODE["transaction"]: self._transaction,
        }
        """By the code of the kind; other kinds leave no facts."""

    def _known(self, told: Told) -> list[tuple[int, int]]:
        """(page, life) of the pages that exist: the single one, or those of the payload."""
        words = told.words
        pairs = zip(words[::2], words[1::2], strict=True) if words else [(told.a, told.b)]
        return [(page, life) for page, life in pairs if page < self._pages]

    def _alloc(self, told: Told) -> None:
        u8, u32, u64 = self._bytes, self._u32, self._u64
        for page, life in self._known(told):
            at = self._pages_at + PAGE_SIZE * page
            word = at >> 2
            if u32[word] != life:
                u8[at + 7] = u8[at + 6]
                u32[word + 3] = u32[word + 2]
                u32[word] = life
            u8[at + 6] = told.c & 0xFF
            u32[word + 2] = told.x & 0xFFFFFFFF
            u8[at + 5] = 0
            u8[at + 4] = HELD
            u64[(at >> 3) + 3] = told.seq

    def _hold(self, told: Told) -> None:
        for page, _ in self._known(told):
            at = self._pages_at + PAGE_SIZE * page
            self._bytes[at + 6] = told.c & 0xFF
            self._u32[(at >> 2) + 2] = told.x & 0xFFFFFFFF
            self._bytes[at + 5] = 0

    def _drop(self, told: Told) -> None:
        for page, _ in self._known(told):
            at = self._pages_at + PAGE_SIZE * page
            if self._bytes[at + 6] == told.c & 0xFF and self._u32[(at >> 2) + 2] == told.x & 0xFFFFFFFF:
                self._bytes[at + 5] = 1

    def _retire(self, told: Told) -> None:
        for page, _ in self._known(told):
            at = self._pages_at + PAGE_SIZE * page
            self._bytes[at + 4] = RETIRED
            self._u64[(at >> 3) + 6] = (told.x + 1) & ABSENT64

    def _free(self, told: Told) -> None:
        for page, _ in self._known(told):
            at = self._pages_at + PAGE_SIZE * page
            self._bytes[at + 4] = FREE
            self._u64[(at >> 3) + 7] = told.seq

    def _wrote(self, page: int, life: int, launch: int, stream: int, seq: int) -> None:
        if page < self._pages:
            at = self._pages_at + PAGE_SIZE * page
            self._u32[(at >> 2) + 4] = life
            self._u32[(at >> 2) + 5] = stream
            self._u64[(at >> 3) + 4] = launch
            self._u64[(at >> 3) + 5] = seq

    def _wrote_extents(self, words: Sequence[int], launch: int, stream: int, seq: int) -> None:
        for page, life in zip(words[::4], words[1::4], strict=True):
            self._wrote(page, life, launch, stream, seq)

    def _launch(self, told: Told) -> None:
        u32, width = self._u32, self._width
        for at in range(_LEAD, _LEAD + 6 * told.e, 6):
            row, start, end = told.words[at], told.words[at + 2], told.words[at + 3]
            if start >= end or row >= self._rows:
                continue
            stop = min((end - 1) // self._page_size + 1, width)
            for index in range(start // self._page_size, stop):
                entry = self._mirror_at + 2 * (row * width + index)
                self._wrote(u32[entry], u32[entry + 1], told.x, told.a, told.seq)
        first = _LEAD + 6 * told.e + 4 * told.words[0]
        self._wrote_extents(told.words[first : first + 4 * told.words[1]], told.x, told.a, told.seq)

    def _publish(self, told: Told) -> None:
        if told.c >= self._rows:
            return
        u32, row = self._u32, self._mirror_at + 2 * told.c * self._width
        for at in range(1, len(told.words), 3):
            index = told.words[at]
            if index < self._width:
                u32[row + 2 * index] = told.words[at + 1]
                u32[row + 2 * index + 1] = told.words[at + 2]
        lane = self._lanes_at + told.c * (LANE_SIZE // 8)
        self._u64[lane + 12] = told.e
        self._u64[lane + 13] = told.x
        self._u64[lane + 14] = told.a
        self._u64[lane + 15] = told.seq

    def _copy(self, told: Told) -> None:
        self._wrote_extents(told.words[4 * told.c :], told.x, told.a, told.seq)

    def _clear(self, told: Told) -> None:
        if told.c == 1:
            for page in range(min(told.d, self._pages)):
                self._wrote(page, 0, told.x, told.a, told.seq)
        else:
            self._wrote_extents(told.words, told.x, told.a, told.seq)

    def _load(self, told: Told) -> None:
        for page, life in zip(told.words[1::3], told.words[2::3], strict=True):
            self._wrote(page, life, told.x, told.a, told.seq)

    def _row_acquire(self, told: Told) -> None:
        if told.a < self._rows:
            lane, u64 = self._lanes_at + told.a * (LANE_SIZE // 8), self._u64
            u64[lane] = told.b
            u64[lane + 1] = HELD
            u64[lane + 2] = told.x
            for word in range(3, 12):
                u64[lane + word] = 0

    def _row_release(self, told: Told) -> None:
        if told.a < self._rows:
            self._u64[self._lanes_at + told.a * (LANE_SIZE // 8) + 1] = FREE

    def _schedule(self, told: Told) -> None:
        if told.a < self._rows:
            lane, u64 = self._lanes_at + told.a * (LANE_SIZE // 8), self._u64
            u64[lane + 7] = told.b
            u64[lane + 8] = told.c
            u64[lane + 9] = told.d
            u64[lane + 10] = told.e
            u64[lane + 11] = told.y
            # What a prefix hit or an earlier step has computed is committed, unless that step is in flight.
            if u64[lane + 6] == 0:
                u64[lane + 3] = u64[lane + 4] = told.e

    def _transaction(self, told: Told) -> None:
        if told.a >= self._rows:
            return
        lane, u64 = self._lanes_at + told.a * (LANE_SIZE // 8), self._u64
        if told.b == WORD["begin"]:
            u64[lane + 3] = told.c
            u64[lane + 5] = (told.c - u64[lane + 4]) & ABSENT64
            u64[lane + 6] = (told.y + 1) & ABSENT64
        else:
            if told.b == WORD["commit"]:
                u64[lane + 4] = told.c
            # With a step in flight, what ends may be the transaction before the one that is open.
            if u64[lane + 6] == (told.y + 1) & ABSENT64:
                u64[lane + 3] = u64[lane + 4]
                u64[lane + 5] = u64[lane + 6] = 0
            else:
                u64[lane + 5] = (u64[lane + 3] - u64[lane + 4]) & ABSENT64
