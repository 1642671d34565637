"""A dump becomes tables; what is wrong with it is said in one line, or counted."""

import io
import os
from pathlib import Path

import orjson
import pytest
import zstandard
from tracert_analysis.load import Dump, DumpError, open_dump

from tests.analysis.history import History, use


def small() -> History:
    """One request, one step."""
    history = History()
    pages = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(1, 0, 1, pages)
    history.forward(1, use(0, 1, 0, 6))
    history.passed(history.record(1))
    return history


def rows(dump: Dump, query: str) -> list[tuple[object, ...]]:
    """All rows of a query."""
    return dump.connection.execute(query).fetchall()


def test_events_are_typed(tmp_path: Path) -> None:
    """Fields of every form arrive in columns of their own type."""
    dump = small().read(tmp_path)

    assert [("alloc", [[5, 1], [6, 1]], "request:1")] == rows(
        dump, "SELECT kind, pages, holder FROM event WHERE kind = 'alloc'"
    )
    assert [([[0, 5, 1], [1, 6, 1]],)] == rows(dump, "SELECT entries FROM event WHERE kind = 'publish'")
    expected = {"row": 0, "generation": 1, "start": 0, "end": 6, "walked": 2, "covers": "valid"}
    assert [([expected],)] == rows(dump, "SELECT uses FROM event WHERE kind = 'launch'")
    assert 6 == dump.evidence.events
    assert not dump.evidence.truncated


def test_fields_that_mean_two_things(tmp_path: Path) -> None:
    """`pages` is a list or a number, `device` an object in the header and a flag in an event."""
    history = small()
    history.event("schedule", request=1, row=0, phase="decode", step=1, pages=2)
    history.sync()
    dump = history.read(tmp_path)

    assert [(None, 2)] == rows(dump, "SELECT pages, page_count FROM event WHERE kind = 'schedule'")
    assert [(True,)] == rows(dump, "SELECT device FROM event WHERE device IS NOT NULL")
    assert [("sim",)] == rows(dump, "SELECT device ->> 'name' FROM header")


def test_states_are_tables(tmp_path: Path) -> None:
    """The lines between header and events fill the tables of their kind; unknown fields are let be."""
    history = small()
    history.states.append({"kind": "page_state", "page": 5, "life": 1, "state": "held", "new_field": 1})
    history.states.append({"kind": "lane_state", "row": 0, "generation": 1, "request": 1, "frontier": 6})
    dump = history.read(tmp_path)

    assert [(1, "compute", False, 2, 2, 2)] == rows(dump, "FROM stream_state WHERE stream = 1")
    assert [(5, 1, "held")] == rows(dump, "SELECT page, life, state FROM page_state")
    assert [(0, 6)] == rows(dump, "SELECT row, frontier FROM lane_state")


def test_compressed_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump reads the same whatever it comes through."""
    whole = small().to_bytes()
    path = tmp_path / "dump.jsonl.zst"
    path.write_bytes(zstandard.compress(whole))
    assert 6 == open_dump(str(path)).evidence.events

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(whole)))
    dump = open_dump("-")
    assert ("standard input", 6) == (dump.name, dump.evidence.events)


def test_a_directory_gives_its_newest_dump(tmp_path: Path) -> None:
    """Of several dumps, the one that was written last."""
    old = small().write(tmp_path, "dump-1-killed.jsonl")
    history = small()
    history.sync()
    new = history.write(tmp_path, "dump-0-killed.jsonl")
    os.utime(old, (1, 1))
    dump = open_dump(str(tmp_path))
    assert (str(new), 7) == (dump.name, dump.evidence.events)


def test_a_directory_s_crash_comes_before_its_orderly_end(tmp_path: Path) -> None:
    """After a crash and a restart the stop of the server is newer, and says nothing."""
    crash = small().write(tmp_path, "dump-1-device-error.jsonl")
    os.utime(crash, (1, 1))
    stop = small().write(tmp_path, "dump-2-exit.jsonl")
    assert open_dump(str(tmp_path)).name == str(crash)
    crash.unlink()
    assert open_dump(str(tmp_path)).name == str(stop)


def test_names_are_no_patterns(tmp_path: Path) -> None:
    """A name with a star opens that file, and not the others that it would match."""
    small().write(tmp_path, "a1.jsonl")
    path = tmp_path / "a[1].jsonl"
    history = small()
    history.sync()
    path.write_bytes(history.to_bytes())
    assert 7 == open_dump(str(path)).evidence.events


def test_a_truncated_dump_is_read_to_its_end(tmp_path: Path) -> None:
    """A dump that breaks off in a line gives the lines before it, and says so."""
    whole = small().to_bytes()
    path = tmp_path / "dump.jsonl"
    path.write_bytes(whole[: whole.index(b'"fence_passed"') + 4])
    evidence = open_dump(str(path)).evidence
    assert (5, True, 1) == (evidence.events, evidence.truncated, evidence.bad_lines)


def test_a_dump_without_its_end_line_is_truncated(tmp_path: Path) -> None:
    """All lines whole, the last one missing."""
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"".join(small().lines()))
    evidence = open_dump(str(path)).evidence
    assert (6, True, 0) == (evidence.events, evidence.truncated, evidence.bad_lines)


def test_a_damaged_line_is_counted(tmp_path: Path) -> None:
    """One line of garbage costs that line; the checksum tells that something changed."""
    lines = small().lines()
    lines[6] = b'{"seq":2,"t":\x00\xff}\n'
    history = b"".join(lines) + small().to_bytes().splitlines()[-1] + b"\n"
    path = tmp_path / "dump.jsonl"
    path.write_bytes(history)
    dump = open_dump(str(path))
    assert (5, 1, True) == (dump.evidence.events, dump.evidence.bad_lines, dump.evidence.damaged)
    assert [(True,)] == rows(dump, "SELECT holes FROM _window")


@pytest.mark.parametrize("kind", [[], {}, 3, None, True])
def test_a_kind_that_is_no_name_costs_its_line_only(tmp_path: Path, kind: object) -> None:
    """A damaged line, wherever it stands: the others are read."""
    history = History()
    history.alloc([1], "request:1")
    history.alloc([2], "request:1")
    history.events[0]["kind"] = kind
    dump = history.read(tmp_path)
    pages = dump.connection.execute("SELECT page FROM event WHERE kind = 'alloc'").fetchall()
    assert pages == [(2,)]


def test_an_unknown_kind_is_kept_and_told(tmp_path: Path) -> None:
    """A kind of a later version has no name here, and is an event all the same."""
    history = small()
    history.event("teleport", page=5)
    dump = history.read(tmp_path)
    assert (7, 0) == (dump.evidence.events, dump.evidence.bad_lines)
    assert ("1 events are of kinds that this version doesn't know",) == dump.evidence.unknown
    assert [(None, 5)] == rows(dump, "SELECT kind, page FROM event WHERE seq = 7")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n", "is not a tracert dump"),
        (b"hello\n", "is not a tracert dump"),
        (b'{"kind":"header","format":"tracert","ver', "is cut short: it ends within its first line"),
        (b'{"kind"', "is cut short: it ends within its first line"),
        (b"\x00" * 4096, "is not a tracert dump"),
        (b"{}\n", "is not a tracert dump"),
        (b"[1]\n", "is not a tracert dump"),
        (b'{"kind":"header","format":"tracert","version":2}\n', "is a dump of format 2"),
        (b'{"kind":"header","format":"tracert"}\n', "is a dump of format None"),
        (b"\x28\xb5\x2f\xfd\x00garbage", "is not a tracert dump"),
        (b"TRCRTRNG then nothing", "dump.jsonl"),
    ],
)
def test_what_is_no_dump_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    """What, where and what to do, without a traceback."""
    path = tmp_path / "dump.jsonl"
    path.write_bytes(content)
    with pytest.raises(DumpError) as refused:
        open_dump(str(path))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    """So is a directory without a dump."""
    with pytest.raises(DumpError, match="no such file"):
        open_dump(str(tmp_path / "nothing"))
    with pytest.raises(DumpError, match="holds no dump"):
        open_dump(str(tmp_path))


def test_a_huge_line_is_refused(tmp_path: Path) -> None:
    """No event has 17 MiB; a first line of that length is no header."""
    lines = small().lines()
    path = tmp_path / "dump.jsonl"
    path.write_bytes(lines[0] + b'{"seq":1,"kind":"' + b"x" * (17 << 20) + b'"}\n')
    with pytest.raises(DumpError, match="no event is that long"):
        open_dump(str(path))
    path.write_bytes(b'{"kind":"header","x":"' + b"x" * (17 << 20) + b'"}\n')
    with pytest.raises(DumpError, match="is not a tracert dump"):
        open_dump(str(path))


def test_a_little_file_that_unpacks_to_a_huge_one_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only once the disk is full of it."""
    written = 0

    class Spool(io.BytesIO):
        """Counts, and keeps nothing."""

        def write(self, data: bytes) -> int:  # type: ignore[override]
            nonlocal written
            written += len(data)
            return super().write(b"")

    monkeypatch.setattr("tracert_analysis.source.spool", Spool)
    path = tmp_path / "dump.jsonl.zst"
    path.write_bytes(zstandard.compress(small().lines()[0] + b" " * (256 << 20)))
    with pytest.raises(DumpError, match="no event is that long"):
        open_dump(str(path))
    assert 0 < written < 64 << 20


def test_a_header_alone_is_an_empty_history(tmp_path: Path) -> None:
    """No event, no finding, nothing known of what was lost."""
    path = tmp_path / "dump.jsonl"
    path.write_bytes(History().lines()[0])
    dump = open_dump(str(path))
    assert (0, True, None) == (dump.evidence.events, dump.evidence.truncated, dump.evidence.first_seq)
    assert [] == rows(dump, "FROM finding")


def test_streams_beyond_any_device_are_refused(tmp_path: Path) -> None:
    """A clock has an entry a stream: a history of 60,000 streams is damaged, not large."""
    history = small()
    history.event("fence_record", fence=9, stream=60_000, ordinal=1)
    with pytest.raises(DumpError, match="stream 60000"):
        history.read(tmp_path)


def test_numbers_out_of_range_cost_their_line_only(tmp_path: Path) -> None:
    """A field that doesn't fit its column is nothing; the event stays."""
    history = small()
    history.event("alloc", page=-4, life=1, holder="request:1")
    history.event("alloc", page=1 << 40, life=1, holder="request:1")
    dump = history.read(tmp_path)
    assert 8 == dump.evidence.events
    assert [(5,), (6,)] == rows(dump, "SELECT page FROM page_life")


def test_the_connection_is_locked(tmp_path: Path) -> None:
    """No statement can read or write a file, or undo that."""
    dump = small().read(tmp_path)
    for statement in (
        f"SELECT * FROM read_text('{tmp_path}/dump.jsonl')",
        f"COPY event TO '{tmp_path}/copy.csv'",
        "SET enable_external_access = true",
        f"ATTACH '{tmp_path}/other.db'",
    ):
        with pytest.raises(Exception, match=r"disabled|locked"):
            dump.connection.execute(statement)


def test_the_beginning_that_is_missing_is_told(tmp_path: Path) -> None:
    """A history that doesn't start with the recorder says from where on it knows what."""
    history = History(first_seq=100)
    history.sync()
    history.keyframe([{"page": 5, "life": 2, "state": "held", "holders": ["request:1/write"]}])
    evidence = history.read(tmp_path).evidence
    assert (99, 100, 102) == (evidence.lost, evidence.first_seq, evidence.last_seq)
    assert "the history starts at event 100: what came before was overwritten" in evidence.unknown
    assert "pages, holders and rows are known from the keyframe at event 101 on" in evidence.unknown


def test_header_fields_may_be_missing(tmp_path: Path) -> None:
    """Without the page size there are no positions, and without a pool nothing is outside of it."""
    history = small()
    history.header = {"kind": "header", "format": "tracert", "version": 1, "ring": {}}
    dump = history.read(tmp_path)
    assert [(None, None)] == rows(dump, "SELECT page_size, kv_pages FROM _window")
    assert [] == rows(dump, "FROM finding")
    assert 4 == len(orjson.loads(orjson.dumps(dump.header)))
