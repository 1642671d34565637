"""Damaged dumps: whatever stands in them, they are read as far as that goes, or refused in one line."""

import json
import random
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest
from tracert_analysis.load import DumpError, open_dump

from tests.analysis.findings.test_rules import served
from tests.analysis.history import History
from tests.some import a_few

NUMBERS = [0, -1, 1.5, 70_000, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30, "7", None, [], {}]
TEXTS = ["", None, 5, "'; DROP TABLE event; --", "x" * 5000, "\0", "request:" + "9" * 30, "request:x"]
LISTS = [[], [[]], [None], [[1]], [[1, 2, 3, 4, 5]], {}, "x", 7]
QUERIES = (
    "SELECT count(*) FROM access",
    "FROM last_owner(5)",
    "FROM last_writer(5)",
    "FROM last_fence(5)",
    "FROM page_history(5)",
    "FROM launch_reads(20)",
    "FROM in_flight()",
    "FROM what_was_new(20)",
    "FROM finding",
    "FROM missing_edge(1)",
    "SELECT happens_before(3, 20)",
)


def changed(value: Any, draw: random.Random) -> Any:
    """Another value in its place, or in the place of one inside it."""
    if isinstance(value, bool | int | float):
        return draw.choice(NUMBERS)
    if isinstance(value, str):
        return draw.choice(TEXTS)
    if isinstance(value, list) and value and draw.random() < 0.7:
        place = draw.randrange(len(value))
        return [changed(one, draw) if number == place else one for number, one in enumerate(value)]
    if isinstance(value, dict) and value:
        key = draw.choice(list(value))
        return {**value, key: changed(value[key], draw)}
    return draw.choice(LISTS)


def damaged(seed: int) -> bytes:
    """A served history with up to a hundred fields changed, left out or told twice."""
    draw = random.Random(seed)
    lines = [orjson.loads(line) for line in served("sound", seed % 3).lines()]
    lines = lines[: draw.randint(100, len(lines))]
    for _ in range(draw.randint(1, 100)):
        place = draw.randrange(len(lines))
        line = dict(lines[place])
        key = draw.choice(list(line))
        if place == 0 and key in ("kind", "format", "version"):
            continue
        if draw.random() < 0.15:
            del line[key]
        else:
            line[key] = changed(line[key], draw)
        lines[place : place + (draw.random() < 0.9)] = [line]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize("seed", a_few(4, range(25)))
def test_changed_fields_never_end_in_a_traceback(tmp_path: Path, seed: int) -> None:
    """Every view and macro answers, whatever numbers stand in the events."""
    path = tmp_path / "dump.jsonl"
    path.write_bytes(damaged(seed))
    refusal = ""
    try:
        dump = open_dump(str(path))
    except DumpError as refused:
        refusal = str(refused)
    else:
        for query in QUERIES:
            dump.connection.execute(query).fetchall()
    # What DuckDB says of a value that a view can't take is an error of the view.
    assert not refusal or "no device has more than" in refusal


@pytest.mark.parametrize("seed", a_few(3, range(10)))
def test_flipped_bytes_never_end_in_a_traceback(tmp_path: Path, seed: int) -> None:
    """Bytes of any value anywhere behind the header; the checksum tells, or the end line is gone."""
    draw = random.Random(seed)
    data = bytearray(served("sound", 0).to_bytes())
    behind = data.index(b"\n") + 1
    for _ in range(20):
        data[draw.randrange(behind, len(data))] = draw.randrange(256)
    path = tmp_path / "dump.jsonl"
    path.write_bytes(bytes(data))
    dump = open_dump(str(path))
    assert dump.evidence.damaged or dump.evidence.truncated
    for query in QUERIES:
        dump.connection.execute(query).fetchall()


def test_numbers_that_no_engine_has(tmp_path: Path) -> None:
    """A page size of zero, a pool without end, a row of billions of entries: no endless work."""
    for config in (
        {"page_size": 0, "kv_pages": 2**40},
        {"page_size": 2**40, "kv_pages": -1},
        {"page_size": "x"},
    ):
        history = served("sound", 0)
        history.header["config"] = config
        history.publish(1, 0, 1, [(1, 1)], first=2**31)
        history.forward(1, {"row": 0, "generation": 1, "start": 0, "end": 2**32 - 1, "walked": 2**32 - 1})
        dump = history.read(tmp_path)
        assert [(None, None)] == dump.connection.execute("SELECT page_size, kv_pages FROM _window").fetchall()
        for query in QUERIES:
            dump.connection.execute(query).fetchall()


def test_what_a_damaged_dump_seems_to_prove_is_suspected_only(tmp_path: Path) -> None:
    """A line was taken out, or lines are there twice: it could be what a rule asks for."""
    lines = served("elsewhere", 0).to_bytes().splitlines(keepends=True)
    states = sum(b'"kind":"stream_state"' in line for line in lines)
    events = len(lines) - 2 - states
    assert {"proven"} == confidences(tmp_path, lines)
    for damage in ([*lines[:9], *lines[10:]], [*lines[:-1], *lines[9:]]):
        assert {"suspected"} == confidences(tmp_path, damage)
        evidence = open_dump(str(tmp_path / "dump.jsonl")).evidence
        assert (False, True) == (evidence.truncated, evidence.damaged)
        told = f"the dump was written with {events} events, and has {len(damage) - 2 - states}"
        assert told in evidence.unknown


def rows_of(change: str) -> list[dict[str, Any]]:
    """The lines of a dump that proves a double free, with something that a sound dump has not."""
    history = History()
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(1, 0, 1, pages)
    history.drop(pages, "request:1")
    history.drop(pages, "request:1")
    if change == "lost":
        history.header["ring"]["lost"] = 7
    lines = [orjson.loads(line) for line in history.lines()]
    alloc = next(line for line in lines if line["kind"] == "alloc")
    match change:
        case "page":
            lines.append({"seq": 90, "t": 1, "kind": "alloc", "holder": "request:2", "page": "x", "life": 1})
        case "holder":
            del alloc["holder"]
        case "pages":
            lines.append({"seq": 90, "t": 1, "kind": "free", "pages": [[5]]})
        case "row":
            lines.append({"seq": 90, "t": 1, "kind": "row_release", "generation": 1, "request": 1})
        case "entries":
            next(line for line in lines if line["kind"] == "publish")["entries"] = [[0, 5]]
        case "fence":
            lines.append({"seq": 90, "t": 1, "kind": "fence_record", "fence": 1, "stream": 1})
        case "uses":
            use = {"row": 0, "generation": 1, "start": 0, "end": 1, "walked": 2**60}
            launch = {"launch": 9, "stream": 1, "ordinal": 9, "kernel": "forward"}
            lines.append({"seq": 90, "t": 1, "kind": "launch", **launch, "uses": [use]})
    return lines


def test_what_is_understood_is_proven(tmp_path: Path) -> None:
    """The history of the next test, with nothing strange in it."""
    assert {"proven"} == confidences(tmp_path, written(rows_of("nothing")))


@pytest.mark.parametrize("change", ["lost", "page", "holder", "pages", "row", "entries", "fence", "uses"])
def test_what_is_not_understood_makes_every_proof_a_suspicion(tmp_path: Path, change: str) -> None:
    """A page that can't be read could be any page; what a ring has lost comes before its first event."""
    assert {"suspected"} == confidences(tmp_path, written(rows_of(change)))


def test_fewer_events_than_the_end_tells_of_make_a_proof_a_suspicion(tmp_path: Path) -> None:
    """Also where the checksum is that of what is left."""
    body = b"".join(written(rows_of("nothing")))
    end = {"kind": "end", "events": body.count(b'"seq"') + 1, "crc32": zlib.crc32(body)}
    assert {"suspected"} == confidences(tmp_path, [body, orjson.dumps(end) + b"\n"])


def written(lines: list[dict[str, Any]]) -> list[bytes]:
    """As they stand in a dump."""
    return [orjson.dumps(line) + b"\n" for line in lines]


def confidences(folder: Path, lines: list[bytes]) -> set[str]:
    """How sure the findings of a dump of these lines are."""
    path = folder / "dump.jsonl"
    path.write_bytes(b"".join(lines))
    return {
        row[0] for row in open_dump(str(path)).connection.execute("SELECT confidence FROM finding").fetchall()
    }
