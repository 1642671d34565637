"""Whose bytes a read meets, position by position, slowly, straight from the events of one history.

Program order only; a history that starts with its first event. `met` gives, by (kind, page, life), the first
event that meets something wrong, and the positions where it does, each with the seq of who wrote it.
"""

from typing import Any, NamedTuple

from tests.analysis.history import History

Met = dict[tuple[str, int, int], tuple[int, dict[int, int | None]]]


class Byte(NamedTuple):
    """What stands in a position: who put it there, in which life, and whose it was at first."""

    life: int
    origin: int | None
    zero: bool = False
    content: str | None = None
    """kv or rows; empty where that is not told."""
    wrong: str | None = None
    """What was wrong with it when it was copied here."""
    wiped: int | None = None
    """Whose it was before a clear of the life, here or where it was copied from; 0 when nobody knows."""
    clear: tuple[int, int, int, int] | None = None
    """That clear, with the page, life and position that it cleared."""


NOBODY = Byte(-1, None, wrong="unwritten")


class ByteOracle:
    """Replays a history."""

    def __init__(self, history: History) -> None:
        self.size: int = history.header["config"]["page_size"]
        self.pages = [[NOBODY] * self.size for _ in range(history.header["config"]["kv_pages"])]
        self.slots: dict[int, list[Byte]] = {}
        self.rows: dict[tuple[int, int], tuple[int, int]] = {}
        self.owners: dict[tuple[int, int], str] = {}
        """Who was granted which life of a page; nobody gives one back."""
        self.reserved: set[int] = set()
        self.met: Met = {}
        self.clears: dict[tuple[int, int], dict[int, tuple[int, int, int, int] | None]] = {}
        """By page and life the clears that wiped what the first launch meets that meets such, by position."""
        restores = [event for event in history.events if event["kind"] == "snapshot_restore"]
        self.restores = {event["launch"] for event in restores}
        for event in history.events:
            self._event(event)

    def _event(self, event: dict[str, Any]) -> None:
        kind, seq = event["kind"], event["seq"]
        if kind == "alloc":
            for page, life in event.get("pages", [(event.get("page"), event.get("life"))]):
                self.owners[page, life] = event["holder"]
                if event["holder"].startswith("reserved"):
                    self.reserved.add(page)
        elif kind == "publish":
            for index, page, life in event["entries"]:
                self.rows[event["row"], index] = (page, life)
        elif kind == "clear":
            target = event.get("target") or [[page, 0, 0, self.size] for page in range(event["pages"])]
            for page, life, first, end in target:
                for at in range(first, end):
                    self.pages[page][at] = self._cleared(self.pages[page][at], (seq, page, life, at))
        elif kind == "copy":
            for source, target in zip(event["source"], event["target"], strict=True):
                taken = self._taken(source[0], source[1], source[2], source[3])
                self.pages[target[0]][target[2] : target[3]] = [
                    byte._replace(life=target[1]) for byte in taken
                ]
        elif kind == "offload":
            for slot, page, life in event["entries"]:
                self.slots[slot] = self._taken(page, life, 0, self.size)
        elif kind == "load":
            empty = [NOBODY] * self.size
            for slot, page, life in event["entries"]:
                self.pages[page] = [byte._replace(life=life) for byte in self.slots.get(slot, empty)]
        elif kind in ("launch", "external_begin"):
            self._launch(event)

    def _cleared(self, byte: Byte, clear: tuple[int, int, int, int]) -> Byte:
        """Zeros, over what this life had put there unless that was zeros, or wrong, too."""
        seq, _, life, _ = clear
        own = life > 0 and byte.life == life
        if own and byte.wiped is not None:
            return Byte(life, seq, zero=True, wiped=byte.wiped, clear=byte.clear)
        if own and not byte.zero and byte.wrong in (None, "unknown"):
            return Byte(life, seq, zero=True, wiped=byte.origin or 0, clear=clear)
        return Byte(life, seq, zero=True)

    def _taken(self, page: int, life: int, first: int, end: int) -> list[Byte]:
        """A copy of zeros over something has lost the same, to whoever means the life that lost it."""
        return [
            byte._replace(wrong=self._wrong(byte, life), wiped=byte.wiped if byte.life == life else None)
            for byte in self.pages[page][first:end]
        ]

    def _wrong(self, byte: Byte, life: int) -> str | None:
        if byte.wrong:
            return byte.wrong
        return "stale" if byte.life < life and not byte.zero else None

    def _launch(self, event: dict[str, Any]) -> None:
        seq, size = event["seq"], self.size
        before = [list(page) for page in self.pages]
        reads: list[tuple[int, int, int, int, int, str | None]] = []
        # What a writer without a stream puts there is of no class that it tells.
        content = event.get("class", "kv") if event["kind"] == "launch" else ""
        writes = [(page, life, first, end, content) for page, life, first, end in event.get("writes", [])]
        for one in event.get("uses", []):
            for index in range(one["walked"]):
                page, life = self.rows.get((one["row"], index), (-1, -1))
                low = index * size
                if not 0 <= page < len(self.pages):
                    continue
                first, end = max(one["start"] - low, 0), min(one["end"] - low, size)
                writes += [(page, life, first, end, "kv")] if first < end else []
                valid = max(0, min(one["end"] - low, size))
                reads.append((page, life, 0, size if one["covers"] == "page" else valid, valid, "kv"))
        # Of a page that it writes in two lives the later one counts.
        for page, life, first, end, content in sorted(writes):
            self.pages[page][first:end] = [Byte(life, seq, content=content)] * (end - first)
        # The class tells what is written; of what is read only where nothing is.
        silent = event.get("class") if not event.get("writes") else None
        taken = "rows" if event.get("launch") in self.restores else silent
        there = self.pages
        explicit = [(page, life, first, end, end, taken) for page, life, first, end in event.get("reads", [])]
        for page, life, first, end, valid, meant in reads + explicit:
            if page not in self.reserved and life > 0:
                read, zeros = [page, life, first, end], range(first, valid)
                self.pages = there
                if (page, life, first, end, valid, meant) in explicit and self._in_place(event, read):
                    self.pages = before
                    if event["kind"] == "launch":
                        # A state that is cleared begins anew.
                        zeros = range(0)
                self._read(seq, page, life, range(first, end), zeros)
                if meant:
                    self._read_as(meant, seq, page, life, range(first, end))
        self.pages = there

    def _in_place(self, event: dict[str, Any], read: list[int]) -> bool:
        """Does the read meet what was there before: state rows, or a writer without a stream, in place?

        Not where what it reads may be made of something else that it reads for the same holder.
        """
        if event["kind"] == "launch" and event.get("class") != "rows":
            return False
        written = {(page, at) for page, _, first, end in event.get("writes", []) for at in range(first, end)}
        if not written & {(read[0], at) for at in range(*read[2:])}:
            return False
        for page, life, first, end in event["reads"]:
            whole = any(x[0] == page and x[2] <= first and x[3] >= end for x in event["writes"])
            if not whole and self.owners.get((page, life)) in (None, self.owners.get((read[0], read[1]))):
                return False
        return True

    def _read(self, seq: int, page: int, life: int, covered: range, valid: range) -> None:
        for kind, span in (("stale", covered), ("unwritten", covered), ("wiped", valid)):
            found: dict[int, int | None] = {}
            for at in span:
                byte = self.pages[page][at]
                if kind == "wiped" and byte.wiped is not None and byte.life == life:
                    found[at] = byte.wiped
                elif kind != "wiped" and self._wrong(byte, life) == kind:
                    found[at] = byte.origin
            self._meet(kind, seq, page, life, found)
            if kind == "wiped" and found and self.met[kind, page, life][0] == seq:
                known = self.clears.setdefault((page, life), {})
                known.update({at: self.pages[page][at].clear for at in found})

    def _read_as(self, meant: str, seq: int, page: int, life: int, covered: range) -> None:
        """The life's own bytes are what they are read for."""
        own = {at: byte for at in covered if (byte := self.pages[page][at]).life == life and not byte.wrong}
        found = {at: byte.origin for at, byte in own.items() if byte.content not in (None, "", meant)}
        self._meet("mixed", seq, page, life, found)

    def _meet(self, kind: str, seq: int, page: int, life: int, found: dict[int, int | None]) -> None:
        known = self.met.get((kind, page, life))
        if found and known is None:
            self.met[kind, page, life] = (seq, found)
        elif found and known is not None and known[0] == seq:
            known[1].update(found)
