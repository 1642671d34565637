"""A small hand: writes histories act by act, as the dump that a recorder would have left.

Every method is one act of the host and gives what a test needs to refer to it. Numbers (seq, launches,
ordinals, fences, lives) count by themselves. A page is written `(page, life)`.
"""

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from tracert_analysis.load import Dump, open_dump

Page = tuple[int, int]


class Launched(NamedTuple):
    """A launch as it was recorded."""

    launch: int
    stream: int
    ordinal: int
    seq: int


class Recorded(NamedTuple):
    """A fence as it was recorded."""

    fence: int
    seq: int


class History:
    """A recorder's history: streams 0 legacy (blocking), 1 compute and 2 transfer (both non-blocking)."""

    def __init__(self, *, page_size: int = 4, kv_pages: int = 32, first_seq: int = 1) -> None:
        self.header: dict[str, Any] = {
            "kind": "header",
            "format": "tracert",
            "version": 1,
            "written_ns": 1,
            "reason": "request",
            "error": None,
            "config": {"page_size": page_size, "kv_pages": kv_pages},
            "model": {"name": "tiny-random"},
            "device": {"name": "sim", "state": "ok"},
            "clock": {"monotonic_ns": 0, "unix_ns": 0},
            "fault": None,
            "tool": {"name": "tracert"},
            "ring": {
                "capacity": 1024,
                "first_seq": first_seq,
                "last_seq": 0,
                "lost": first_seq - 1,
                "torn": 0,
            },
        }
        self.events: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []
        self.names = {0: "legacy", 1: "compute", 2: "transfer"}
        self.blocking = {0}
        self.progress: dict[int, tuple[int, int]] = {}
        """Ordinals (started, finished) by stream, where not everything has finished."""
        self.seq = first_seq - 1
        self._launches = 0
        self._fences = 0
        self._transactions = 0
        self._ordinals: dict[int, int] = {}
        self._lives: dict[int, int] = {}
        self._sets = 0

    def event(self, kind: str, **fields: Any) -> int:
        """Any event; returns its seq. Fields that are None are left out."""
        self.seq += 1
        told = {name: value for name, value in fields.items() if value is not None}
        self.events.append({"seq": self.seq, "t": self.seq * 1000, "kind": kind, "actor": "host", **told})
        return self.seq

    def alloc(self, pages: Iterable[int], holder: str) -> list[Page]:
        """Pages leave the free list, each in a new life."""
        granted = []
        for page in pages:
            self._lives[page] = self._lives.get(page, 0) + 1
            granted.append((page, self._lives[page]))
        self.event("alloc", holder=holder, pool=0, **_pages(granted))
        return granted

    def hold(self, pages: Sequence[Page], holder: str, mode: str = "read") -> int:
        """One more holder."""
        return self.event("hold", holder=holder, mode=mode, **_pages(pages))

    def drop(self, pages: Sequence[Page], holder: str, mode: str = "write") -> int:
        """A holder gives pages back."""
        return self.event("drop", holder=holder, mode=mode, **_pages(pages))

    def retire(self, pages: Sequence[Page], fence: Recorded) -> int:
        """Nobody holds them, a fence guards them."""
        return self.event("retire", fence=fence.fence, **_pages(pages))

    def free(self, pages: Sequence[Page]) -> int:
        """They return to the free list."""
        return self.event("free", **_pages(pages))

    def give_back(self, pages: Sequence[Page], holder: str) -> int:
        """Drop and free, with no fence in between."""
        self.drop(pages, holder)
        return self.free(pages)

    def acquire(self, row: int, generation: int, request: int) -> int:
        """A request gets a row."""
        return self.event("row_acquire", row=row, generation=generation, request=request)

    def release(self, row: int, generation: int, request: int) -> int:
        """It gives the row back."""
        return self.event("row_release", row=row, generation=generation, request=request)

    def publish(
        self,
        stream: int,
        row: int,
        generation: int,
        pages: Sequence[Page],
        *,
        first: int = 0,
        staging: int | None = None,
    ) -> Launched:
        """The device's row names these pages from entry `first` on."""
        entries = [[first + place, page, life] for place, (page, life) in enumerate(pages)]
        return self._launch(
            "publish",
            stream,
            "copy_row",
            row=row,
            generation=generation,
            epoch=1,
            staging=row if staging is None else staging,
            entries=entries,
        )

    def forward(self, stream: int, *uses: dict[str, Any], **fields: Any) -> Launched:
        """A launch that uses rows; see `use`."""
        return self._launch(
            "launch",
            stream,
            fields.pop("kernel", "forward"),
            **{"phase": "decode", "uses": list(uses), **fields},
        )

    def fill(self, stream: int, pages: Sequence[Page]) -> Launched:
        """A launch computes all positions of these pages, through no row."""
        size = self.header["config"]["page_size"]
        return self.forward(stream, writes=[[page, life, 0, size] for page, life in pages])

    def copy(self, stream: int, source: Sequence[list[int]], target: Sequence[list[int]]) -> Launched:
        """Extents copied: [page, life, first, end]."""
        return self._launch("copy", stream, "copy_pages", source=source, target=target)

    def clear(self, stream: int, target: Sequence[list[int]] | None = None) -> Launched:
        """Extents set to zero; without any, the whole arena."""
        if target is not None:
            return self._launch("clear", stream, "clear_pages", target=target)
        return self._launch("clear", stream, "clear_pages", all=True, pages=self.header["config"]["kv_pages"])

    def moved(self, kind: str, stream: int, entries: Sequence[tuple[int, int, int]]) -> Launched:
        """An `offload` or a `load` of whole pages: (slot, page, life)."""
        return self._launch(kind, stream, f"{kind}_pages", entries=[list(entry) for entry in entries])

    def host_write(self, writes: Sequence[list[int]]) -> int:
        """The host writes extents of pages itself: [page, life, first, end]."""
        return self.event("host_write", writes=writes)

    def begin(
        self,
        name: str,
        *,
        reads: Sequence[list[int]] = (),
        writes: Sequence[list[int]] = (),
        transaction: int | None = None,
    ) -> int:
        """The external writer `name` is asked to read and write extents; gives the transaction's number."""
        self._transactions += 1
        number = self._transactions if transaction is None else transaction
        self.event("external_begin", actor=f"external:{name}", transaction=number, reads=reads, writes=writes)
        return number

    def end(self, name: str, transaction: int) -> int:
        """The host learned that the external writer has done it."""
        return self.event("external_done", actor=f"external:{name}", transaction=transaction)

    def record(self, stream: int, again: Recorded | None = None) -> Recorded:
        """A fence, new or recorded `again`, behind everything launched on the stream."""
        self._fences += again is None
        fence = self._fences if again is None else again.fence
        ordinal = self._ordinals.get(stream, 0)
        return Recorded(fence, self.event("fence_record", fence=fence, stream=stream, ordinal=ordinal))

    def wait(self, stream: int, fence: Recorded | None) -> int:
        """The stream waits for the fence; None for one that was never recorded."""
        number, seq = fence or (self._fences + 1, 0)
        return self.event("fence_wait", fence=number, stream=stream, record_seq=seq)

    def order(self, earlier: int, later: int) -> None:
        """Record on one stream, wait on the other."""
        self.wait(later, self.record(earlier))

    def passed(self, fence: Recorded) -> int:
        """The host learned that the fence has passed."""
        return self.event("fence_passed", fence=fence.fence)

    def sync(self, stream: int | None = None) -> int:
        """The host waited for the stream, or for the device."""
        if stream is None:
            return self.event("fence_passed", device=True)
        return self.event("fence_passed", stream=stream)

    def keyframe(self, pages: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]] = ()) -> int:
        """A whole set: `page life state holders` of pages, `row generation request epoch entries` of rows."""
        self._sets += 1
        if pages:
            self.event("keyframe", set=self._sets, pages=list(pages))
        for row in rows:
            self.event("keyframe_row", set=self._sets, **row)
        return self.event("keyframe_end", set=self._sets, pages=len(pages), rows=len(rows))

    def error(self, stream: int | None = None) -> None:
        """The device failed, and the host learned it."""
        failure = {"code": 719, "name": "LAUNCH_FAILURE", "message": "unspecified launch failure"}
        self.header["error"] = {**failure, "stream": stream, "observed_at": "sync"}
        self.header["reason"] = "device-error"
        self.event("error", **failure, stream=stream, observed_at="sync")

    def lines(self) -> list[bytes]:
        """The dump, line by line, without the end."""
        self.header["ring"]["last_seq"] = self.seq
        return [
            orjson.dumps(part) + b"\n" for part in (self.header, *self._streams(), *self.states, *self.events)
        ]

    def to_bytes(self) -> bytes:
        """The whole dump."""
        body = b"".join(self.lines())
        end = {"kind": "end", "events": len(self.events), "crc32": zlib.crc32(body)}
        return body + orjson.dumps(end) + b"\n"

    def write(self, folder: Path, name: str = "dump.jsonl") -> Path:
        """The dump as a file."""
        path = folder / name
        path.write_bytes(self.to_bytes())
        return path

    def read(self, folder: Path, *, macros: bool = True) -> Dump:
        """What the reader makes of it."""
        return open_dump(str(self.write(folder)), macros=macros)

    def _launch(self, kind: str, stream: int, kernel: str, **fields: Any) -> Launched:
        self._launches += 1
        ordinal = self._ordinals[stream] = self._ordinals.get(stream, 0) + 1
        seq = self.event(kind, launch=self._launches, stream=stream, ordinal=ordinal, kernel=kernel, **fields)
        return Launched(self._launches, stream, ordinal, seq)

    def _streams(self) -> list[dict[str, Any]]:
        states = []
        for stream, name in self.names.items():
            told = (event.get("ordinal") for event in self.events if event.get("stream") == stream)
            numbers = (ordinal for ordinal in told if isinstance(ordinal, int))
            launched = max(self._ordinals.get(stream, 0), *numbers, 0)
            started, finished = self.progress.get(stream, (launched, launched))
            states.append(
                {
                    "kind": "stream_state",
                    "stream": stream,
                    "name": name,
                    "blocking": stream in self.blocking,
                    "launched": launched,
                    "started": started,
                    "finished": finished,
                }
            )
        return states


def use(
    row: int,
    generation: int,
    start: int,
    end: int,
    *,
    page_size: int = 4,
    walked: int | None = None,
    covers: str = "valid",
) -> dict[str, Any]:
    """A row use: writes positions start..end, reads 0..end, follows as many entries as that takes."""
    return {
        "row": row,
        "generation": generation,
        "start": start,
        "end": end,
        "walked": -(-end // page_size) if walked is None else walked,
        "covers": covers,
    }


def _pages(pages: Sequence[Page]) -> dict[str, Any]:
    if len(pages) == 1:
        return {"page": pages[0][0], "life": pages[0][1]}
    return {"pages": [list(page) for page in pages]}
