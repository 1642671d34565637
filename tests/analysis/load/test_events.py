"""Lines to rows: the reader in C beside the database's own, and beside a JSON parser on lines of any kind."""

from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_analysis import library
from tracert_analysis.events import load_events
from tracert_analysis.families import TABLES
from tracert_analysis.source import open_source

from tests.analysis.history import History
from tests.analysis.serving import Serving

pytest.importorskip("tracert_analysis._events")

COLUMNS = (
    "seq, t, kind::VARCHAR, page, life, row, device, holder, holders, pages, page_count, keyframe_pages, "
    "uses, layer, detail, code"
)


class Rows:
    """Reads files of lines into one table after the other."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        library.create_tables(self.connection)

    def read(self, path: Path, *, native: bool, columns: str = "*") -> tuple[int, list[tuple[Any, ...]]]:
        """How many lines are no event, and the events."""
        source = open_source(str(path))
        bad = load_events(self.connection, source, native=native).lines
        rows = self.connection.execute(f"SELECT {columns} FROM event ORDER BY ALL").fetchall()
        for table in TABLES:
            self.connection.execute(f"DELETE FROM {table}")
        return bad, rows


@pytest.fixture(scope="module")
def rows() -> Rows:
    """One database for all of them."""
    return Rows()


def written(path: Path, lines: list[bytes]) -> Path:
    """A dump of these lines."""
    path.write_bytes(
        orjson.dumps({"kind": "header", "format": "tracert", "version": 1}) + b"\n" + b"\n".join(lines)
    )
    return path


def test_a_served_history_is_read_as_the_database_reads_it(tmp_path: Path, rows: Rows) -> None:
    """Every column of every event."""
    history = History(kv_pages=24)
    serving = Serving(history, 3, keyframe_steps=4)
    serving.start()
    for _ in range(40):
        serving.step()
    history.event(
        "error", code=-719, name='é\n"\\', message="\N{CROCODILE}", detail={"a": [1, None, {"b": 0.5}]}
    )
    path = written(tmp_path / "dump.jsonl", [orjson.dumps(event) for event in history.events])
    natively, otherwise = (rows.read(path, native=native) for native in (True, False))
    assert (0, len(history.events)) == (natively[0], len(natively[1]))
    assert [] == [pair for pair in zip(otherwise[1], natively[1], strict=True) if pair[0] != pair[1]]


def test_a_key_goes_where_its_value_fits(tmp_path: Path, rows: Rows) -> None:
    """`pages` is a list, a number or a keyframe's pages; a value of no such type is null.

    A key that the kind's family has no column for is passed over; an unknown kind keeps them all.
    """
    lines = [
        b'{"seq":1,"kind":"free","pages":[[1,2],[3,4]]}',
        b'{"seq":2,"kind":"schedule","pages":7, "row" : 3 , "row": 4}',
        b'{"seq":3,"kind":"keyframe","pages":[{"page":5,"life":1,"state":"held","holders":["request:1/write"]}]}',
        b'{"seq":4,"kind":"free","pages":"all","page":-1,"life":4294967296,"t":1.5,"row":"7","device":1,"layer":3}',
        b'{"seq":5,"kind":"unheard-of","layer":-1,"page":4294967295,"pages":[],"device":true,"nobody":{"knows":[[]]}}',
        b'{"seq":6,"kind":"launch","uses":[{"row":1,"end":2,"row":9,"new":[1]},null,{"covers":"page"}]}',
        b'{"seq":7,"kind":"error","detail":{"x" : [1, 2e5]},"code":9223372036854775808}',
    ]
    bad, found = rows.read(written(tmp_path / "dump.jsonl", lines), native=True, columns=COLUMNS)
    names = [name.strip().removesuffix("::VARCHAR") for name in COLUMNS.split(",")]
    told = [
        {name: value for name, value in zip(names, row, strict=True) if value is not None} for row in found
    ]
    covers = {"row": None, "generation": None, "start": None, "end": None, "walked": None, "covers": None}
    expected: list[dict[str, Any]] = [
        {"seq": 1, "kind": "free", "pages": [[1, 2], [3, 4]]},
        {"seq": 2, "kind": "schedule", "page_count": 7, "row": 3},
        {
            "seq": 3,
            "kind": "keyframe",
            "keyframe_pages": [{"page": 5, "life": 1, "state": "held", "holders": ["request:1/write"]}],
        },
        {"seq": 4, "kind": "free"},
        {"seq": 5, "page": 4294967295, "layer": -1, "pages": [], "device": True},
        {
            "seq": 6,
            "kind": "launch",
            "uses": [covers | {"row": 1, "end": 2}, None, covers | {"covers": "page"}],
        },
        {"seq": 7, "kind": "error", "detail": '{"x" : [1, 2e5]}'},
    ]
    assert (0, expected) == (bad, told)


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["kind", "page", "holder", "pages", "uses", "detail", "device", "resources", "x"])
EVENTS = st.dictionaries(KEYS, ANY, max_size=6).map(lambda event: {"kind": "free", **event})
DAMAGE = st.tuples(st.integers(0, 60), st.binary(max_size=3), st.integers(0, 4))


@settings(max_examples=30)
@given(st.lists(st.tuples(EVENTS, DAMAGE | st.none()), min_size=1, max_size=12))
def test_a_line_is_an_event_when_it_is_an_object_with_a_kind(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, drawn: list[tuple[dict[str, Any], Any]]
) -> None:
    """Damaged in any way: what a JSON parser refuses is left out, whole, and disturbs no other line."""
    lines, expected, bad = [], [], 0
    for number, (event, damage) in enumerate(drawn, 1):
        line = orjson.dumps({"seq": number, **_printable(event)})
        if damage:
            at, insert, remove = damage
            line = (line[:at] + insert + line[at + remove :]).replace(b"\n", b" ")
        lines.append(line)
        try:
            parsed = orjson.loads(line)
        except orjson.JSONDecodeError:
            parsed = None
        if not isinstance(parsed, dict) or not isinstance(parsed.get("kind"), str):
            bad += bool(line.strip())
        elif isinstance(parsed.get("seq"), int) and 1 <= parsed["seq"] < 1 << 62:
            holder = parsed.get("holder")
            expected.append((parsed["seq"], holder if isinstance(holder, str) else None))
    path = written(tmp_path_factory.mktemp("lines") / "dump.jsonl", lines)
    found = rows.read(path, native=True, columns="seq, holder")
    assert (bad, sorted(expected, key=str)) == (found[0], sorted(found[1], key=str))


def _printable(event: dict[str, Any]) -> dict[str, Any]:
    """Numbers as large as a JSON parser takes them."""
    return {key: _small(value) for key, value in event.items()}


def _small(value: Any) -> Any:
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return float(value)
    if isinstance(value, list):
        return [_small(item) for item in value]
    if isinstance(value, dict):
        return {key: _small(item) for key, item in value.items()}
    return value


def test_lines_longer_than_a_read_and_more_than_a_batch(tmp_path: Path, rows: Rows) -> None:
    """Nothing is lost where one read ends and the next begins."""
    long = "x" * 5_000_000
    lines = [b'{"seq":%d,"kind":"free","page":%d}' % (seq, seq) for seq in range(1, 40_001)]
    lines.insert(20_000, b'{"seq":40001,"kind":"error","message":"%s"}' % long.encode())
    path = written(tmp_path / "dump.jsonl", lines)
    bad, found = rows.read(path, native=True, columns="count(seq), sum(page), max(len(message))")
    assert 0 == bad
    assert [(40_001, 800_020_000, 5_000_000)] == found
