"""What recording costs: nanoseconds a record and a page, and the dump of a full ring.

Thread CPU time, medians, so that a busy machine disturbs little; the loop itself is subtracted.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tracert.record.access import Compute, Holder, Publish, RowUse
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring, native_writer
from tracert.record.ring_recorder import RingRecorder

GEOMETRY = Geometry(slots=1 << 16, pages=4096, page_size=16, rows=64, row_width=512)
SPAN = 64
REPEATS = 9
EVENTS = 1_000_000

Call = Callable[[RingRecorder, int], None]


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return the figures."""
    figures: dict[str, Any] = {"ns": {}}
    with tempfile.TemporaryDirectory() as folder:
        for native in [True, False] if native_writer() else [False]:
            recorder = RingRecorder(Ring.create(Path(folder) / f"{native}.ring", GEOMETRY, native=native))
            repeats = 20_000 if native else 5_000
            empty = _cost(_nothing, recorder, repeats)
            figures["ns"]["C" if native else "Python"] = {
                name: round(_cost(call, recorder, repeats) - empty, 1) for name, call in CALLS.items()
            }
        figures["dump"] = _dump(Path(folder))
    _print(console, figures)
    return figures


def _cost(call: Call, recorder: RingRecorder, repeats: int) -> float:
    """CPU nanoseconds a call, the median."""
    costs = []
    for _ in range(REPEATS):
        start = time.thread_time_ns()
        call(recorder, repeats)
        costs.append((time.thread_time_ns() - start) / repeats)
    return statistics.median(costs)


def _nothing(recorder: RingRecorder, repeats: int) -> None:
    for _ in range(repeats):
        pass


def _fence(recorder: RingRecorder, repeats: int) -> None:
    told = recorder.fence_record
    for _ in range(repeats):
        told(7, 1, 9)


def _schedule(recorder: RingRecorder, repeats: int) -> None:
    told = recorder.schedule
    for _ in range(repeats):
        told(17, 3, "decode", 9, 1, 100, 7)


def _transaction(recorder: RingRecorder, repeats: int) -> None:
    told = recorder.transaction
    for _ in range(repeats):
        told("begin", 9, 3, 17, 101)


def _alloc(recorder: RingRecorder, repeats: int) -> None:
    told, pages, lives, holder = recorder.alloc, [5], [2], Holder("request", 17)
    for _ in range(repeats):
        told(pages, lives, holder)


def _map_span(recorder: RingRecorder, repeats: int) -> None:
    told, pages, lives = recorder.map, list(range(SPAN)), [2] * SPAN
    for _ in range(repeats):
        told(3, 1, 0, pages, lives)


def _alloc_span(recorder: RingRecorder, repeats: int) -> None:
    told, pages, lives, holder = recorder.alloc, list(range(SPAN)), [2] * SPAN, Holder("request", 17)
    for _ in range(repeats):
        told(pages, lives, holder)


def _launch(lanes: int) -> Call:
    uses = [RowUse(row, 1, 100, 101, 7) for row in range(lanes)]
    access = Compute("decode", 9, uses, resources=("read:tokens", "write:logits"))

    def call(recorder: RingRecorder, repeats: int) -> None:
        told = recorder.launch
        for _ in range(repeats):
            told(9, 1, 9, "forward", access)

    return call


def _publish(recorder: RingRecorder, repeats: int) -> None:
    told, access = recorder.launch, Publish(3, 1, 4, 6, [5], [2], 1)
    for _ in range(repeats):
        told(9, 2, 9, "copy_row", access)


CALLS: dict[str, Call] = {
    "fence_record": _fence,
    "schedule": _schedule,
    "transaction": _transaction,
    "alloc, 1 page": _alloc,
    f"map, {SPAN} pages": _map_span,
    f"alloc, {SPAN} pages": _alloc_span,
    "launch, 1 lane": _launch(1),
    "launch, 8 lanes": _launch(8),
    "publish, 1 entry": _publish,
}


def tell_steps(recorder: RingRecorder, events: int, lanes: int = 8) -> None:
    """The history of a plain engine, step by step, until it has `events` events."""
    resources = ("read:tokens", "write:logits")
    step = launch = 0
    pages = recorder.ring.header.geometry.pages
    while recorder.events < events:
        step += 1
        computed = 16 + step % 2000
        row = step % lanes
        if step % 4 == 0:
            page, life = step % pages, 1 + step // pages
            recorder.alloc([page], [life], Holder("request", 17 + row))
            recorder.map(row, 1, computed // 16, [page], [life])
            recorder.stage(row, 4)
            launch += 1
            recorder.launch(launch, 2, step, "copy_row", Publish(row, 1, step, 3, [page], [life], row))
            seq = recorder.fence_record(step, 2, step)
            recorder.fence_wait(step, 1, seq)
        for lane in range(lanes):
            recorder.schedule(17 + lane, lane, "decode", step, 1, computed, 1 + computed // 16)
            recorder.transaction("begin", step, lane, 17 + lane, computed + 1)
        uses = [RowUse(lane, 1, computed, computed + 1, 1 + computed // 16) for lane in range(lanes)]
        launch += 2
        recorder.launch(
            launch - 1, 1, 2 * step, "forward", Compute("decode", step, uses, resources=resources)
        )
        recorder.launch(launch, 1, 2 * step + 1, "sample", Compute("sample", step, resources=resources))
        recorder.fence_passed(stream=1)
        for lane in range(lanes):
            recorder.transaction("commit", step, lane, 17 + lane, computed + 1)


def _dump(folder: Path) -> dict[str, Any]:
    """A ring of a million events to a dump on disk, three times."""
    geometry = Geometry(slots=1 << 21, pages=4096, page_size=16, rows=64, row_width=512)
    ring = Ring.create(folder / "full.ring", geometry)
    tell_steps(RingRecorder(ring), EVENTS)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        dump = write_dump(ring.path, folder / "dump.jsonl", reason="request")
        seconds.append(time.perf_counter() - start)
    return {"events": dump.events, "seconds": round(min(seconds), 2), "MB": round(dump.nbytes / 1e6)}


def _print(console: Console, figures: dict[str, Any]) -> None:
    writers = list(figures["ns"])
    table = Table("event", *(f"{name}, ns" for name in writers), *(f"{name}, ns a page" for name in writers))
    for name in CALLS:
        costs = [figures["ns"][writer][name] for writer in writers]
        span = f", {SPAN} pages" in name
        table.add_row(
            name,
            *(f"{cost:.0f}" for cost in costs),
            *(f"{cost / SPAN:.1f}" if span else "" for cost in costs),
        )
    console.print(table)
    dump = figures["dump"]
    console.print(f"dump of {dump['events']} events: {dump['seconds']} s, {dump['MB']} MB")
