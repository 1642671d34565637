"""Which launches touch what a row's entries name, as spans instead of one row a launch and page.

A content of an entry (a page, from its publish to the next one) is touched by launches that use the row
while it stands, whoever published it. A span is the first and the last of those launches on one stream, in
one mode: enough for every rule about order, for launches of one stream are ordered among themselves. A
history of a million events has ten million page reads, and some ten thousand spans.

Modes: `walk` (the entry is followed), `read` and `write` (positions of its page are). Knows nothing of
order between streams, lives or holders.
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Mode = Literal["walk", "read", "write"]

FOREVER = 1 << 62
"""The seq at which a content ends that nothing overwrote."""
_AT_ONCE = 1 << 22
"""Uses looked at together where they must be looked at one by one."""


class Uses(NamedTuple):
    """Uses of rows, sorted by row, generation, stream and seq."""

    seq: Ints
    row: Ints
    generation: Ints
    stream: Ints
    start: Ints
    end: Ints
    walked: Ints
    depth: Ints
    """Entries whose pages are read: see `_use`."""
    whole: Ints
    """1 where whole pages are loaded, 0 where only valid positions are."""


class Contents(NamedTuple):
    """What stands in an entry of a row from `seq` until `until` (FOREVER: nothing overwrote it). By seq."""

    row: Ints
    generation: Ints
    entry: Ints
    seq: Ints
    until: Ints


class Pairs(NamedTuple):
    """Contents beside groups of uses that may touch them."""

    content: Ints
    group: Ints


class Spans(NamedTuple):
    """Positions: the pair, and the first and the last of the uses that touch it."""

    pair: Ints
    first: Ints
    last: Ints


class Own(NamedTuple):
    """How much of a page a group of uses reads that it wrote itself, beside each span of its reads."""

    front: Ints
    """Positions below this are not its own: 0 when all are, a whole page when none is known to be."""
    valid: Ints
    """Positions that were meant, and by then written, at the first read."""
    whole: Ints
    """1 where some use loads the whole page."""
    full: Ints
    """Seq by which it has written the whole page; FOREVER when it never did."""


class Missing(NamedTuple):
    """An entry that a group follows at `seq`, and then until `before`, though nothing was published in it."""

    group: Ints
    entry: Ints
    seq: Ints
    before: Ints


class Touches:
    """The uses by group (row, generation and stream) beside the contents of their rows."""

    def __init__(self, uses: Uses, contents: Contents) -> None:
        self._uses = uses
        self._contents = contents
        fresh = _changes(uses.row, uses.generation, uses.stream)
        self._group = np.cumsum(fresh) - 1
        self.heads = np.flatnonzero(fresh)
        """Position of each group's first use."""
        self._seqs = np.unique(uses.seq)
        self._by_seq = _key(self._group, np.searchsorted(self._seqs, uses.seq), len(self._seqs))
        self._limit = min(int(contents.entry.max(initial=0)), len(contents.entry)) + 2
        """Rows have no more entries than were published."""
        self._steady = np.ones(len(self.heads), bool)
        """Groups whose uses only ever reach further: there the uses that touch an entry are neighbours."""
        for values in (uses.start, uses.end, uses.walked, uses.depth):
            self._steady[self._group[1:][~fresh[1:] & (values[1:] < values[:-1])]] = False
        self._steady[self._group[uses.end <= uses.start]] = False
        self._gapless = self._steady.copy()
        """Steady groups that leave no position between one use and the next."""
        self._gapless[self._group[1:][~fresh[1:] & (uses.start[1:] > uses.end[:-1])]] = False

    def pairs(self) -> tuple[Pairs, Missing]:
        """Each content beside the groups that may touch it, and what is followed without any content."""
        own = self._own()
        others, missing = self._others()
        return Pairs(*(np.concatenate(parts) for parts in zip(own, others, strict=True))), missing

    def spans(self, pairs: Pairs, mode: Mode, page_size: int) -> Spans:
        """The first and the last use that touches each pair in `mode`, for pairs that have one."""
        contents = self._contents
        index = contents.entry[pairs.content]
        since, until = contents.seq[pairs.content], contents.until[pairs.content]
        low = np.searchsorted(self._by_seq, self._seq_key(pairs.group, since, after=True))
        high = np.searchsorted(self._by_seq, self._seq_key(pairs.group, until, after=False))
        if mode == "write":
            first = np.maximum(low, self._reach(self._uses.end, pairs.group, index * page_size))
            last = (
                np.minimum(high, self._reach(self._uses.start, pairs.group, (index + 1) * page_size - 1)) - 1
            )
        else:
            first = np.maximum(low, self._reach(self._reached(mode), pairs.group, index))
            last = high - 1
        unsteady = ~self._steady[pairs.group]
        first[unsteady], last[unsteady] = 1, 0
        for part in _portions(np.flatnonzero(unsteady & (low < high)), high - low):
            size = high[part] - low[part]
            pair = np.repeat(part, size)
            use = _counting(size) + np.repeat(low[part], size)
            hit = self._touched(use, index[pair], mode, page_size)
            pair, use = pair[hit], use[hit]
            heads = np.flatnonzero(_changes(pair))
            first[pair[heads]] = use[heads]
            last[pair[heads]] = use[np.r_[heads[1:], len(pair)] - 1] if len(pair) else use[heads]
        found = np.flatnonzero(first <= last)
        return Spans(found, first[found], last[found])

    def own(self, pairs: Pairs, reads: Spans, page_size: int) -> Own:
        """What each span of reads owes to writes of its own group."""
        uses, pair = self._uses, reads.pair
        group, content = pairs.group[pair], pairs.content[pair]
        base = self._contents.entry[content] * page_size
        low = np.searchsorted(self._by_seq, self._seq_key(group, self._contents.seq[content], after=True))
        high = np.searchsorted(self._by_seq, self._seq_key(group, self._contents.until[content], after=False))
        # What it wrote before this content was published went to another page.
        known = self._gapless[group] & (low <= self._reach(uses.end, group, base))
        front = np.where(known, np.clip(uses.start[self.heads[group]] - base, 0, page_size), page_size)
        filled = self._reach(uses.end, group, base + page_size - 1)
        full = np.full(len(pair), FOREVER, np.int64)
        written = (front == 0) & (filled < high)
        full[written] = uses.seq[filled[written]]
        whole = np.maximum.reduceat(uses.whole, self.heads)[group]
        return Own(front, np.clip(uses.end[reads.first] - base, 0, page_size), whole, full)

    def _own(self) -> Pairs:
        """Each content beside the groups of its own row and generation."""
        contents, uses = self._contents, self._uses
        tenancies = _tenancy(uses.row[self.heads], uses.generation[self.heads])
        wanted = _tenancy(contents.row, contents.generation)
        low = np.searchsorted(tenancies, wanted, side="left")
        size = np.searchsorted(tenancies, wanted, side="right") - low
        return Pairs(np.repeat(np.arange(len(wanted)), size), _counting(size) + np.repeat(low, size))

    def _others(self) -> tuple[Pairs, Missing]:
        """Each group beside what other generations put in its entries, and entries in which nothing stood.

        An earlier tenant left it, or somebody else wrote to the row meanwhile. Sound histories have neither.
        """
        uses = self._uses
        reach = np.maximum.accumulate(_key(self._group, np.minimum(uses.walked, self._limit), self._limit))
        ends = np.r_[self.heads[1:], len(uses.seq)] - 1
        size = reach[ends] % (self._limit + 1)
        group, index = np.repeat(np.arange(len(size)), size), _counting(size)
        walk = uses.seq[np.searchsorted(reach, _key(group, index, self._limit), side="right")]
        standing = _Standing(self._contents, self._limit)
        place = standing.place(uses.row[self.heads[group]], index)
        first = standing.first(place)
        low = standing.behind(place, walk) - 1
        high = standing.behind(place, uses.seq[ends[group]])
        nothing = low < first
        missing = Missing(group[nothing], index[nothing], walk[nothing], standing.since(first[nothing]))
        low = np.maximum(low, first)
        content = standing.content(_counting(high - low) + np.repeat(low, high - low))
        group = np.repeat(group, high - low)
        other = self._contents.generation[content] != uses.generation[self.heads[group]]
        return Pairs(content[other], group[other]), missing

    def _reached(self, mode: Mode) -> Ints:
        return self._uses.walked if mode == "walk" else self._uses.depth

    def _touched(self, use: Ints, index: Ints, mode: Mode, page_size: int) -> Flags:
        uses = self._uses
        if mode != "write":
            return self._reached(mode)[use] > index
        reached = (uses.end[use] > index * page_size) & (uses.start[use] < (index + 1) * page_size)
        return reached & (uses.end[use] > uses.start[use])

    def _reach(self, reached: Ints, group: Ints, wanted: Ints) -> Ints:
        """Position of the group's first use with `reached > wanted`; right for steady groups only."""
        limit = int(reached.max(initial=0)) + 1
        key = np.maximum.accumulate(_key(self._group, reached, limit))
        return np.searchsorted(key, _key(group, np.minimum(wanted, limit), limit), side="right")

    def _seq_key(self, group: Ints, seq: Ints, *, after: bool) -> Ints:
        """The key of the group's first use behind `seq`, or of the first that is not before it."""
        rank = np.searchsorted(self._seqs, seq, side="right" if after else "left")
        return _key(group, rank, len(self._seqs))


class _Standing:
    """Contents by row and entry, in the order in which they stood there: each has a position in that list."""

    def __init__(self, contents: Contents, limit: int) -> None:
        self._width = max(int(contents.entry.max(initial=0)), limit)
        entry = _key(contents.row, contents.entry, self._width)
        self._order = np.argsort(entry, kind="stable")
        entry = entry[self._order]
        self._heads = np.flatnonzero(_changes(entry))
        self._entries = entry[self._heads]
        self._seq = np.append(contents.seq[self._order], FOREVER)
        self._ranked = np.unique(contents.seq)
        place = np.searchsorted(self._entries, entry)
        self._by_seq = _key(place, np.searchsorted(self._ranked, self._seq[:-1]), len(self._ranked))

    def place(self, row: Ints, entry: Ints) -> Ints:
        """The number of an entry of a row; one past all others where nothing was ever published."""
        wanted = _key(row, entry, self._width)
        place = np.searchsorted(self._entries, wanted)
        known = np.append(self._entries, -1)[place] == wanted
        return np.where(known, place, len(self._entries))

    def first(self, place: Ints) -> Ints:
        """Position of the first content that ever stood there."""
        return np.append(self._heads, len(self._order))[place]

    def behind(self, place: Ints, seq: Ints) -> Ints:
        """Position behind the last content that was published there before `seq`."""
        return np.searchsorted(
            self._by_seq, _key(place, np.searchsorted(self._ranked, seq), len(self._ranked))
        )

    def since(self, position: Ints) -> Ints:
        """When a content was published; FOREVER where there is none."""
        return self._seq[position]

    def content(self, position: Ints) -> Ints:
        """The content at a position."""
        return self._order[position]


def _key(group: Ints, value: Ints, limit: int) -> Ints:
    """One number for each pair, which sorts as the pair does; `value` is at most `limit`."""
    return group * np.int64(limit + 1) + value


def _tenancy(row: Ints, generation: Ints) -> Ints:
    return (row << np.int64(32)) | generation


def _changes(*columns: Ints) -> Flags:
    """Where a row of the columns differs from the one before; the first one does."""
    changed = np.ones(len(columns[0]), bool)
    changed[1:] = False
    for values in columns:
        changed[1:] |= values[1:] != values[:-1]
    return changed


def _counting(size: Ints) -> Ints:
    """0, 1, ... for each size, one after the other."""
    return np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)


def _portions(chosen: Ints, size: Ints) -> list[Ints]:
    """`chosen` in portions whose sizes add up to about `_AT_ONCE`."""
    if not len(chosen):
        return []
    return np.split(chosen, np.flatnonzero(np.diff(np.cumsum(size[chosen]) // _AT_ONCE)) + 1)
