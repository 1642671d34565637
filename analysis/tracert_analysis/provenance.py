"""Whose bytes a launch meets: who wrote each position of a page last, followed act by act.

Takes what wrote pages (in program order) and what read them, and gives where a read meets bytes that it
must not: an earlier life's (stale), nobody's (unwritten), or zeros over what this life had put there (wiped).
A copy passes on what it copies: a copy of stale bytes is stale, a copy of zeros is zeros, and of zeros over
something it has lost the same. Zeros that a clear of an earlier life left are clean.

Positions that somebody should have computed may have nothing but zeros (blank), or what no act
tells of (untold).

Knows nothing of order between streams, of holders or of requests. Works on the pages that it is given, and on
no more: a page that nothing can be wrong with need not be looked at.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Cells = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Class = Literal["kv", "rows", "zero", "copy", "host", "outside"]
Kind = Literal["stale", "mixed", "unwritten", "wiped", "blank", "untold"]

NEVER, UNKNOWN = -1, -2
"""In the place of an act: nothing ever wrote the position; what did lies before the history."""
_WRITER, _ORIGIN, _CARRIED, _WIPED, _BEFORE, _PLACE = range(6)
"""Of each position: who wrote it, whose it is, what is wrong with it; what wiped it, whom that wiped, and in
which position of the page that it cleared."""
_TAKEN = [_ORIGIN, _CARRIED, _WIPED, _BEFORE, _PLACE]
"""What a copy passes on."""
_CLEAN, _STALE, _UNWRITTEN, _UNTOLD = range(4)
KV, ROWS = 1, 2
"""Keys and values; state rows."""
_CONTENT = {"kv": KV, "rows": ROWS}


class Write(NamedTuple):
    """A launch writes positions `first` up to `end` of a page that it knows by this life."""

    seq: int
    page: int
    life: int
    first: int
    end: int
    content: Class


class Move(NamedTuple):
    """A launch copies so many `positions` from one page to another."""

    seq: int
    source: tuple[int, int, int]
    """Page, life and first position."""
    target: tuple[int, int, int]
    positions: int


class Offload(NamedTuple):
    """A launch copies a whole page to a slot of the host tier."""

    seq: int
    slot: int
    page: int
    life: int


class Load(NamedTuple):
    """A launch copies a slot of the host tier to a whole page."""

    seq: int
    slot: int
    page: int
    life: int


Act = Write | Move | Offload | Load


class Reads(NamedTuple):
    """Reads of a life of a page, by seq: positions `first` to `covered` are loaded, to `valid` are meant."""

    seq: Ints
    first: Ints
    covered: Ints
    valid: Ints
    content: Ints
    """What the reader takes them for: `KV`, `ROWS`, or 0 where that is not told."""
    before: Ints
    """1 where it meets what was there before it wrote there itself, 0 where it meets that, too."""


class Blemish(NamedTuple):
    """Positions `first` up to `end` of a life of a page that are not what the read at `seq` may meet."""

    kind: Kind
    page: int
    life: int
    first: int
    end: int
    seq: int
    origin: Write | None
    """Whose bytes they are, and of a wiped run whose they were: the last write among them. None: nobody's."""
    via_seq: int | None
    """The last copy or load that brought them here."""
    clear_seq: int | None
    """The clear that wiped them."""
    cleared: tuple[int, int, int] | None
    """Page, life and first position that it cleared: others than are read, where a copy took the zeros on."""
    zeros_seq: int | None
    """The copy or load that brought the zeros of that clear here; None where it cleared this page."""
    origins: int
    """How many acts put them there at first, of which `origin` is the last."""


class _Page(NamedTuple):
    """A page's bytes as they change: from `seq[i]` on they are as in `cells[i]`."""

    seq: list[int]
    cells: list[Cells]


class Provenance:
    """Follows the acts through the pages; `complete`: nothing happened before the first of them."""

    def __init__(self, page_size: int, watched: Iterable[int], *, complete: bool) -> None:
        blank = np.full((_PLACE + 1, page_size), NEVER, np.int32)
        blank[_CARRIED] = _CLEAN
        if not complete:
            blank[_WRITER] = blank[_ORIGIN] = UNKNOWN
        self._complete = complete
        self._blank = blank
        self._size = page_size
        self._cells: dict[int, Cells] = {}
        self._watched = {page: _Page([-1], [blank]) for page in watched}
        self._slots: dict[int, Cells] = {}
        self._writes: list[Write] = []
        """Every act that wrote, by number; a copy by what it wrote."""
        self._life = np.zeros(0, np.int64)
        self._zero = np.zeros(0, bool)
        self._content = np.zeros(0, np.int64)

    def run(self, acts: Sequence[Act]) -> None:
        """Follow the acts, which are sorted by `seq`. Once: they are all there is."""
        self._life, self._zero = np.zeros(len(acts), np.int64), np.zeros(len(acts), bool)
        self._content = np.zeros(len(acts), np.int64)
        for act in acts:
            if isinstance(act, Write):
                self._write(act)
            elif isinstance(act, Move):
                source, count = act.source, act.positions
                moved = self._carried(source[0], source[1], source[2], source[2] + count)
                page, life, first = act.target
                self._put(Write(act.seq, page, life, first, first + count, "copy"), moved)
            elif isinstance(act, Offload):
                self._slots[act.slot] = self._carried(act.page, act.life, 0, self._size)
            else:
                # Of a slot that nothing was offloaded to: nobody's bytes, or what was before the history.
                origin, status = (NEVER, _UNWRITTEN) if self._complete else (UNKNOWN, _UNTOLD)
                empty = np.full((len(_TAKEN), self._size), NEVER, np.int32)
                empty[0], empty[1] = origin, status
                moved = self._slots.get(act.slot, empty)
                self._put(Write(act.seq, act.page, act.life, 0, self._size, "host"), moved)

    def blemishes(self, page: int, life: int, reads: Reads) -> list[Blemish]:
        """The first read of this life of a page that meets something wrong, one of each kind."""
        history = self._watched[page]
        since = np.array(history.seq, np.int64)
        low = int(np.searchsorted(since, reads.seq.min() - 1, side="right")) - 1
        high = int(np.searchsorted(since, reads.seq.max(), side="right"))
        cells = np.stack(history.cells[low:high])
        place = np.searchsorted(since[low:high], reads.seq - reads.before, side="right") - 1
        status = self._status(cells, life)
        # What a later life wiped of its own is no loss to those who still read this one.
        lives = np.append(self._life, 0)[np.maximum(cells[:, _WRITER], -1)]
        wiped = (cells[:, _WIPED] >= 0) & (lives == life)
        wrong: list[tuple[Kind, Flags, Ints]] = [
            ("stale", status == _STALE, reads.covered),
            *self._mixed(cells, (status == _CLEAN) & (cells[:, _WIPED] < 0) & (lives == life), reads),
            ("unwritten", status == _UNWRITTEN, reads.covered),
            ("wiped", wiped, reads.valid),
        ]
        found = []
        for kind, flags, end in wrong:
            at = _first_read(flags, place, reads.first, end)
            if at is not None:
                moment = cells[place[at]]
                met = flags[place[at]].copy()
                met[: reads.first[at]] = False
                met[end[at] :] = False
                found.append(self._blemish(kind, page, life, int(reads.seq[at]), moment, met))
        mixed = [mark for mark in found if mark.kind == "mixed"]
        return [mark for mark in found if mark not in mixed or mark is min(mixed, key=lambda mark: mark.seq)]

    def _mixed(self, cells: Cells, own: Flags, reads: Reads) -> list[tuple[Kind, Flags, Ints]]:
        """Rows that are read as keys and values, and the reverse, among what is the life's own."""
        if not ((self._content == ROWS).any() or (reads.content == ROWS).any()):
            return []
        content = np.append(self._content, 0)[np.maximum(cells[:, _ORIGIN], -1)]
        return [
            ("mixed", own & (content == there), np.where(reads.content == meant, reads.covered, reads.first))
            for meant, there in ((KV, ROWS), (ROWS, KV))
        ]

    def uncomputed(self, page: int, life: int, seq: int, first: int, end: int) -> list[Blemish]:
        """What the read at `seq` meets in positions of which a launch should have put something into each."""
        history = self._watched[page]
        moment = history.cells[int(np.searchsorted(history.seq, seq, side="right")) - 1]
        status = self._status(moment[None], life)[0]
        origin = moment[_ORIGIN]
        zero = np.append(self._zero, False)[np.maximum(origin, -1)] & (moment[_WIPED] < 0)
        wrong: list[tuple[Kind, Flags]] = [
            ("stale", status == _STALE),
            ("unwritten", status == _UNWRITTEN),
            ("blank", (status == _CLEAN) & zero),
            ("untold", moment[_WRITER] == UNKNOWN),
        ]
        found = []
        for kind, met in wrong:
            met[:first] = False
            met[end:] = False
            if met.any():
                found.append(self._blemish(kind, page, life, seq, moment, met))
        return found

    def _write(self, act: Write) -> None:
        number = self._number(act)
        cells = self._of(act.page)
        span = slice(act.first, act.end)
        if act.content == "zero" and act.life:
            # What this life had put there is wiped, but for what was worth nothing: zeros, or wrong bytes.
            status = self._status(cells[None, :, span], act.life)[0]
            writer, origin, wiped = cells[_WRITER, span], cells[_ORIGIN, span], cells[_WIPED, span]
            own = (writer >= 0) & (self._life[np.maximum(writer, 0)] == act.life)
            zero = (origin >= 0) & self._zero[np.maximum(origin, 0)]
            worth = (status == _UNTOLD) | ((status == _CLEAN) & ~zero)
            again = own & (wiped >= 0)
            fresh = own & worth & ~again
            cells[_ORIGIN, span] = np.where(again | fresh, origin, number)
            cells[_WIPED, span] = np.where(again, wiped, np.where(fresh, number, NEVER))
            cells[_BEFORE, span] = np.where(again, cells[_BEFORE, span], writer)
            cells[_PLACE, span] = np.where(again, cells[_PLACE, span], np.arange(act.first, act.end))
        else:
            cells[_ORIGIN, span] = number
            cells[_WIPED, span] = NEVER
        cells[_WRITER, span] = number
        cells[_CARRIED, span] = _CLEAN
        self._keep(act)

    def _put(self, act: Write, taken: Cells) -> None:
        cells = self._of(act.page)
        span = slice(act.first, act.end)
        cells[_WRITER, span] = self._number(act)
        cells[_TAKEN, span] = taken
        self._keep(act)

    def _carried(self, page: int, life: int, first: int, end: int) -> Cells:
        """What a copy of these positions passes on: whose they are, what is wrong, and what wiped them."""
        cells = self._of(page)[:, first:end]
        taken = cells[_TAKEN]
        writer, wiped = cells[_WRITER], cells[_WIPED]
        # What was wiped is lost to whoever means the same life; to others its zeros are zeros.
        others = (wiped >= 0) & (np.append(self._life, 0)[np.maximum(writer, -1)] != life)
        clear = np.where(np.append(self._zero, False)[np.maximum(writer, -1)], writer, wiped)
        taken[0] = np.where(others, clear, cells[_ORIGIN])
        taken[1] = self._status(cells[None], life)[0]
        taken[2] = np.where(others, NEVER, wiped)
        return taken

    def _status(self, cells: Cells, life: int) -> Cells:
        """What the positions are to somebody who means `life`: [n, 6, positions] becomes [n, positions]."""
        writer, origin = cells[:, _WRITER], cells[:, _ORIGIN]
        status = cells[:, _CARRIED].copy()
        status[writer == NEVER] = _UNWRITTEN
        status[writer == UNKNOWN] = _UNTOLD
        asked = (status == _CLEAN) & (origin >= 0)
        stale = np.zeros_like(asked)
        stale[asked] = (
            (self._life[writer[asked]] < life) & ~self._zero[origin[asked]] & (cells[:, _WIPED][asked] < 0)
        )
        status[stale] = _STALE
        return status

    def _blemish(self, kind: Kind, page: int, life: int, seq: int, cells: Cells, met: Flags) -> Blemish:
        """The longest run of positions that are wrong in the same way, the first of several."""
        owners = [self._owner(cells[:, at], kind, at) if met[at] else None for at in range(self._size)]
        best, first = (0, 0), 0
        for at in range(1, self._size + 1):
            if at == self._size or owners[at] != owners[first]:
                if owners[first] is not None and at - first > best[1] - best[0]:
                    best = first, at
                first = at
        run = cells[:, best[0] : best[1]]
        origins = [self._writes[at] for at in run[_ORIGIN].tolist() if at >= 0]
        writers = run[_BEFORE if kind == "wiped" else _WRITER]
        via = [self._writes[at] for at in writers.tolist() if at >= 0]
        brought = [write.seq for write in via if write.content in ("copy", "host")]
        clear = self._writes[int(run[_WIPED, 0])] if kind == "wiped" else None
        last = self._writes[int(run[_WRITER, 0])] if kind == "wiped" else None
        return Blemish(
            kind, page, life, best[0], best[1], seq,
            None if kind == "unwritten" else max(origins, default=None, key=lambda write: write.seq),
            max(brought, default=None),
            clear.seq if clear else None,
            (clear.page, clear.life, int(run[_PLACE, 0])) if clear else None,
            last.seq if last and last.content in ("copy", "host") else None,
            0 if kind == "unwritten" else len({write.seq for write in origins}),
        )  # fmt: skip

    def _owner(self, cell: Cells, kind: Kind, at: int) -> tuple[object, ...]:
        """What makes neighbours one run: whose bytes, of which class, brought by the same copy."""
        origin, writer = int(cell[_ORIGIN]), int(cell[_BEFORE if kind == "wiped" else _WRITER])
        whose = self._writes[origin] if origin >= 0 else None
        via = self._writes[writer] if writer >= 0 else None
        copied = via is not None and via.content in ("copy", "host")
        return (
            kind,
            (whose.page, whose.life, whose.content) if whose else None,
            (via.seq if copied and via else None),
            (int(cell[_WIPED]), int(cell[_WRITER]), int(cell[_PLACE]) - at) if kind == "wiped" else None,
        )

    def _number(self, act: Write) -> int:
        number = len(self._writes)
        self._writes.append(act)
        self._life[number], self._zero[number] = act.life, act.content == "zero"
        self._content[number] = _CONTENT.get(act.content, 0)
        return number

    def _of(self, page: int) -> Cells:
        cells = self._cells.get(page)
        if cells is None:
            cells = self._cells[page] = self._blank.copy()
        return cells

    def _keep(self, act: Write) -> None:
        watched = self._watched.get(act.page)
        if watched is None:
            return
        cells = self._cells[act.page].copy()
        if watched.seq[-1] == act.seq:
            watched.cells[-1] = cells
        else:
            watched.seq.append(act.seq)
            watched.cells.append(cells)


def _first_read(flags: Flags, place: Ints, first: Ints, end: Ints) -> int | None:
    """The first of the reads, sorted by seq, that meets a flag; `flags` are [moments, positions]."""
    counted = np.zeros((flags.shape[0], flags.shape[1] + 1), np.int32)
    np.cumsum(flags, axis=1, out=counted[:, 1:])
    hit = np.flatnonzero((end > first) & (counted[place, end] > counted[place, first]))
    return int(hit[0]) if len(hit) else None
