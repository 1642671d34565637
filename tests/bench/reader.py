"""What reading costs: histories of a million and of ten million events, from the file to the verdict.

Each measurement is a process of its own, imports included; wall time, processor time and the most memory it
held. Of a million events two histories: a sound one, and one whose new rows are published without order; of
ten million a sound one. Each as a dump and as the ring that tells the same; a report only of the dumps of a
million. Of those the clocks, which
say what is ordered: events a second of processor time, from the table of events to the tables of clocks;
3,000,000 is what they must reach. And what a question costs once the history is loaded: owner, writer and
fence of one page, which must be told within 50 ms, and of all pages, within 500 ms.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

from tests.analysis.history import History, Launched, Page
from tests.analysis.serving import Serving
from tests.bench.retold import Retold
from tracert.record.layout import Geometry
from tracert.record.ring import Ring

EVENTS, MANY = 1_000_000, 10_000_000
REPEATS = 3
LEGACY = 0

_VERDICT = """
from tracert_analysis.load import open_dump
dump = open_dump({path!r})
print(dump.evidence.events, dump.connection.execute("SELECT count(*), min(code) FROM finding").fetchall()[0])
"""
_REPORT = """
import sys
sys.argv = ["tracert", "postmortem", {path!r}]
from tracert.cli.main import main
main()
"""
_CLOCKS = """
import json, time
from tracert_analysis.clocks import order_launches, order_others
from tracert_analysis.load import open_dump
dump = open_dump({path!r})
taken = []
for _ in range({repeats}):
    for table in ("_segment", "_host", "_outside"):
        dump.connection.execute("DELETE FROM " + table)
    start = time.process_time()
    order_launches(dump.connection, order_others(dump.connection))
    taken.append(time.process_time() - start)
print(json.dumps([dump.evidence.events, taken]))
"""
_QUESTIONS = """
import json, statistics, time
from tracert_analysis.load import open_dump
dump = open_dump({path!r})
taken = {{}}
for what, query in {questions!r}.items():
    times = []
    for _ in range({repeats}):
        start, started = time.perf_counter(), time.process_time()
        dump.connection.execute(query).fetchall()
        times.append((time.perf_counter() - start, time.process_time() - started))
    taken[what] = [statistics.median(column) for column in zip(*times)]
print(json.dumps(taken))
"""
QUESTIONS = {
    "owner of a page": "FROM last_owner(17)",
    "writer of a page": "FROM last_writer(17)",
    "fence of a page": "FROM last_fence(17)",
    "all three of a page": "FROM page_last WHERE page = 17",
    "all three of all pages": "FROM page_last",
    "bytes of a page": "FROM page_bytes(17)",
    "writer of a page before an event": "FROM last_writer(17, before := 500000)",
}


class OnLegacy(Serving):
    """New rows are published on the legacy stream, as in ninfer #210."""

    def copy_row(self, row: int, generation: int, pages: list[Page], first: int) -> Launched:
        """As always, but for the first publish of a tenancy."""
        launched = super().copy_row(row, generation, pages, first)
        if not first and pages[0][1]:
            event = self.history.events[-1]
            self.ordinals = getattr(self, "ordinals", 0) + 1
            event |= {"stream": LEGACY, "ordinal": self.ordinals}
        return launched


def run(console: Console) -> dict[str, Any]:
    """Measure, print, and return the figures."""
    figures: dict[str, Any] = {}
    clocks: dict[str, float] = {}
    questions: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in (("sound", Serving), ("faulty", OnLegacy)):
            path, ring = Path(folder) / f"{name}.jsonl", Path(folder) / f"{name}.ring"
            written(path, ring, kind, EVENTS)
            figures[f"{name}, dump: verdict"] = costs(_VERDICT, path, REPEATS)
            figures[f"{name}, ring: verdict"] = costs(_VERDICT, ring, REPEATS)
            figures[f"{name}, dump: report"] = costs(_REPORT, path, REPEATS)
            clocks[name] = events_a_second(path)
            questions[name] = answers(path)
            ring.unlink()
        written(path, ring, Serving, MANY)
        figures["many, dump: verdict"] = costs(_VERDICT, path, 1)
        figures["many, ring: verdict"] = costs(_VERDICT, ring, 1)
    table = Table("history", "MB", "seconds", "processor s", "peak MB")
    for name, row in figures.items():
        table.add_row(name, *(str(row[key]) for key in ("mb", "seconds", "cpu_seconds", "peak_mb")))
    console.print(table)
    for name, speed in clocks.items():
        console.print(f"clocks of the {name} dump: {speed / 1e6:.1f} M events a second of processor time")
        figures[f"{name} clocks"] = {"events_a_second": round(speed)}
    table = Table("asked of a loaded history", "dump", "ms", "processor ms")
    for name, taken in questions.items():
        for what, seconds in taken.items():
            wall, processor = (round(1000 * one, 1) for one in seconds)
            table.add_row(what, name, str(wall), str(processor))
            figures[f"{name}: {what}"] = {"ms": wall, "cpu_ms": processor}
    console.print(table)
    return figures


def answers(path: Path) -> dict[str, list[float]]:
    """What each question takes once a dump is loaded: wall and processor seconds."""
    program = _QUESTIONS.format(path=str(path), questions=QUESTIONS, repeats=2 * REPEATS + 1)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def events_a_second(path: Path) -> float:
    """How fast the clocks go through a dump, by processor time, once its events are a table."""
    program = _CLOCKS.format(path=str(path), repeats=REPEATS)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    events, taken = json.loads(done.stdout.splitlines()[-1])
    return float(events / statistics.median(taken))


def written(path: Path, ring: Path, kind: type[Serving], events: int) -> None:
    """As `write`, by a process that is gone when the ring is read, as after a crash."""
    process = get_context("spawn").Process(target=write, args=(path, ring, kind, events))
    process.start()
    process.join()


def write(path: Path, ring: Path, kind: type[Serving], events: int) -> None:
    """A dump of so many events of served requests on eight lanes, written as it comes; and a ring of them."""
    history = History(page_size=16, kv_pages=4096)
    serving = kind(history, 1, rows=8, prompt=200, answer=300)
    serving.start()
    # An event takes 1.3 records.
    slots = 1 << (3 * events // 2).bit_length()
    told = Ring.create(ring, Geometry(slots=slots, pages=4096, page_size=16, rows=8, row_width=64))
    told.describe({"config": history.header["config"], "device": history.header["device"]})
    for stream, name in history.names.items():
        told.name_stream(stream, name, blocking=stream in history.blocking)
    retold = Retold(told)
    written = checksum = 0
    with path.open("wb") as file:
        for part in history.lines()[:4]:
            checksum = zlib.crc32(part, checksum)
            file.write(part)
        while written < events:
            serving.step()
            for event in history.events:
                retold.tell(event)
            chunk = b"".join(orjson.dumps(event) + b"\n" for event in history.events)
            written += len(history.events)
            history.events.clear()
            checksum = zlib.crc32(chunk, checksum)
            file.write(chunk)
        file.write(orjson.dumps({"kind": "end", "events": written, "crc32": checksum}) + b"\n")
    told.close()


def costs(program: str, path: Path, repeats: int) -> dict[str, float]:
    """The median of some runs of a program on a file."""
    found = [cost(program.format(path=str(path))) for _ in range(repeats)]
    medians = {key: round(statistics.median(one[key] for one in found), 2) for key in found[0]}
    return {"mb": round(path.stat().st_size / 1e6), **medians}


def cost(program: str) -> dict[str, float]:
    """Wall seconds, processor seconds and peak megabytes of a Python program in a fresh process."""
    told = (
        "import resource, sys, atexit\n"
        "def tell():\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    print('\\n' + str([used.ru_utime + used.ru_stime, used.ru_maxrss]), file=sys.stderr)\n"
        "atexit.register(tell)\n"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", told + program], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    cpu_seconds, peak = json.loads(done.stderr.splitlines()[-1])
    divisor = 1e6 if sys.platform == "darwin" else 1e3
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_mb": peak / divisor}
