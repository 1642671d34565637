"""Each macro: a few events, and the answer."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tracert_analysis.load import Dump, open_dump

from tests.analysis.history import History, use

LEGACY, COMPUTE, TRANSFER = 0, 1, 2


@cache
def opened(dump: bytes) -> Dump:
    """A history as it was read; several tests ask the same one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.jsonl"
        path.write_bytes(dump)
        return open_dump(str(path))


def rows(history: History, query: str) -> list[tuple[Any, ...]]:
    """What the query gives for the history."""
    return opened(history.to_bytes()).connection.execute(query).fetchall()


@pytest.fixture
def history() -> History:
    """Page 5 in two lives; the second is written on compute and shared with the prefix cache."""
    told = History()
    told.clear(COMPUTE)
    told.sync()
    told.give_back(told.alloc([5], "request:1"), "request:1")
    pages = told.alloc([5, 6], "request:2")
    told.acquire(0, 1, 2)
    told.publish(TRANSFER, 0, 1, pages)
    told.order(TRANSFER, COMPUTE)
    told.forward(COMPUTE, use(0, 1, 0, 3), step=1)
    told.forward(COMPUTE, use(0, 1, 3, 4), step=2)
    told.record(COMPUTE)
    told.hold([pages[0]], "prefix:1")
    return told


def test_last_owner(history: History) -> None:
    """Whom the last life was granted to, and who came last to hold it."""
    (found,) = rows(history, "FROM last_owner(5)")
    assert (5, 2, "request:2", "prefix:1", "read", history.seq, None, "history") == found
    assert [] == rows(history, "FROM last_owner(9)")


def test_last_owner_of_a_page_that_the_history_lost(history: History) -> None:
    """The page's last facts answer where events don't."""
    history.states.append(
        {"kind": "page_state", "page": 9, "life": 4, "state": "held", "holder": "request:7", "alloc_seq": 3}
    )
    assert [(9, 4, None, "request:7", None, 3, None, "page_state")] == rows(history, "FROM last_owner(9)")


def test_last_writer(history: History) -> None:
    """By the rows that launches use; else the clear of the arena."""
    assert [(5, 2, 4, COMPUTE, 3, "forward", 0, 2, "finished", "history")] == rows(
        history,
        "SELECT page, life, launch, stream, ordinal, kernel, row, request, state, source FROM last_writer(5)",
    )
    assert [(20, 0, 1, "clear_pages")] == rows(
        history, "SELECT page, life, launch, kernel FROM last_writer(20)"
    )


def test_last_writer_of_a_page_that_the_history_lost() -> None:
    """The page's last facts again."""
    history = History(first_seq=50)
    history.sync()
    history.states.append(
        {
            "kind": "page_state", "page": 9, "life": 4, "state": "held",
            "writer": 33, "writer_stream": 1, "writer_seq": 44, "writer_life": 3,
        }
    )  # fmt: skip
    assert [(9, 3, 33, 44, 1, "page_state")] == rows(
        history, "SELECT page, life, launch, seq, stream, source FROM last_writer(9)"
    )


def test_the_last_facts_are_newer_than_a_history_that_is_cut_off(history: History) -> None:
    """The file lost its end: the next owner and what it wrote stand in the facts only."""
    (owner,) = rows(history, "SELECT life, holder, source FROM last_owner(5)")
    history.states.append(
        {"kind": "page_state", "page": 5, "life": 3, "state": "held", "holder": "request:9",
         "alloc_seq": history.seq + 1, "writer": 33, "writer_stream": 1, "writer_seq": history.seq + 2,
         "writer_life": 3}
    )  # fmt: skip
    history.seq += 2
    assert (2, "history") == (owner[0], owner[2])
    assert [(3, "request:9", "page_state")] == rows(history, "SELECT life, holder, source FROM last_owner(5)")
    assert [(3, 33, "page_state")] == rows(history, "SELECT life, launch, source FROM last_writer(5)")


def test_last_fence(history: History) -> None:
    """The first one behind the last write; when there is none, the last before it, and it says so."""
    query = "SELECT page, writer, fence, stream, ordinal, wait_stream, passed_seq, covers FROM last_fence(5)"
    assert [(5, 4, 2, COMPUTE, 3, None, None, True)] == rows(history, query)
    history.forward(COMPUTE, writes=[[5, 2, 0, 1]])
    assert [(5, 5, 2, COMPUTE, 3, None, None, False)] == rows(history, query)
    assert [(20, 1, 2, True)] == rows(history, "SELECT page, writer, fence, covers FROM last_fence(20)")


def test_page_last(history: History) -> None:
    """Owner, writer and fence of every page: written, never written, of an owner that the history lost."""
    history.states.append(
        {"kind": "page_state", "page": 9, "life": 4, "state": "held", "holder": "request:7", "alloc_seq": 3,
         "writer": 33, "writer_stream": 1, "writer_seq": 44, "writer_life": 3}
    )  # fmt: skip
    history.forward(TRANSFER, writes=[[6, 1, 2, 4]])
    columns = 'page, life, owner, holder, writer, writer_life, writer_row, first, "end", class, fence, covers'
    assert [
        (5, 2, "request:2", "prefix:1", 4, 2, 0, 3, 4, "kv", 2, True),
        (6, 1, "request:2", "request:2", 5, 1, None, 2, 4, "kv", 1, False),
        (9, 4, None, "request:7", 1, 0, None, 0, 4, "zero", 2, True),
        (20, None, None, None, 1, 0, None, 0, 4, "zero", 2, True),
    ] == rows(history, f"SELECT {columns} FROM page_last WHERE page IN (5, 6, 9, 20) ORDER BY page")
    assert [(32, 32)] == rows(history, "SELECT count(*), count(DISTINCT page) FROM page_last")


def test_page_history(history: History) -> None:
    """All of it, in order; launches of a run on one stream are one line."""
    history.copy(TRANSFER, [[5, 2, 0, 4]], [[6, 1, 0, 4]])
    assert [
        (3, "alloc", 1, "request:1", None, None),
        (4, "drop", 1, "request:1", None, None),
        (5, "free", 1, None, None, None),
        (6, "alloc", 2, "request:2", None, None),
        (8, "publish", 2, None, 2, None),
        (11, "read", 2, None, 3, 12),
        (11, "write", 2, None, 3, 12),
        (14, "hold", 2, "prefix:1", None, None),
        (15, "copy read", 2, None, 5, None),
    ] == rows(history, "SELECT seq, what, life, holder, launch, until_seq FROM page_history(5)")


def test_page_history_has_what_the_host_mapped(history: History) -> None:
    """One entry or several."""
    history.event("map", row=0, generation=1, index=0, pages=[[5, 2], [6, 1]])
    history.event("unmap", row=0, generation=1, index=1, page=6, life=1)
    assert [("map", 0, 1), ("unmap", 0, 1)] == rows(
        history, "SELECT what, row, generation FROM page_history(6) WHERE what LIKE '%map'"
    )


def test_launch_reads_and_writes(history: History) -> None:
    """The rows of `access` for one launch."""
    assert [("read", 5, 0, 4)] == rows(history, 'SELECT mode, page, first, "end" FROM launch_reads(4)')
    assert [("write", 5, 3, 4)] == rows(history, 'SELECT mode, page, first, "end" FROM launch_writes(4)')
    assert [] == rows(history, "FROM launch_reads(99)")


def test_missing_edge_needs_an_order_to_miss() -> None:
    """A finding that isn't one of order has no edge; nor has one that isn't there."""
    history = History()
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    assert [("TR201",)] == rows(history, "SELECT code FROM finding")
    assert [] == rows(history, "FROM missing_edge(1)")
    assert [] == rows(history, "FROM missing_edge(2)")


def test_missing_edge_of_an_overwritten_row() -> None:
    """From the launch that follows the row to the publish that overwrites it; that is the one to move."""
    history = History()
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    publish = history.publish(TRANSFER, 0, 1, [(0x7FFFFFFF, 0)])
    call = "fence = device.record(compute); device.wait(transfer, fence)"
    other = "device.launch(compute, copy_row, ...)"
    assert [(launch.launch, publish.launch, call, other)] == rows(
        history, 'SELECT from_launch, to_launch, "call", alternative FROM missing_edge(1)'
    )


def test_missing_edge_of_a_hit() -> None:
    """From the launch that writes the hit page to the one that reads it; once they are ordered, none."""
    history = History()
    written = history.alloc([5], "request:1")
    history.event("insert", node=1, digest="a" * 16, parent=0, identity=7, pages=[[5, 1]])
    history.event(
        "match", request=2, node=1, digest="a" * 16, identity=7, hit_tokens=4, pages=[[5, 1]], lookup_ns=1
    )
    history.hold(written, "request:2")
    history.acquire(1, 1, 2)
    history.publish(COMPUTE, 1, 1, written)
    writer = history.forward(TRANSFER, writes=[[5, 1, 0, 4]])
    reader = history.forward(COMPUTE, use(1, 1, 4, 4, walked=1))
    assert ["TR502", "TR101"] == [code for (code,) in rows(history, "SELECT code FROM finding")]
    call = "fence = device.record(transfer); device.wait(compute, fence)"
    assert [(writer.launch, reader.launch, call)] == rows(
        history, 'SELECT from_launch, to_launch, "call" FROM missing_edge(1)'
    )


def test_missing_edge_is_none_where_the_order_is_the_wrong_one() -> None:
    """TR104: a clear wipes what an earlier launch of its stream wrote: no call would help."""
    history = History()
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 2))
    history.clear(COMPUTE, [[5, 1, 0, 4]])
    history.forward(COMPUTE, use(0, 1, 2, 3))
    assert [("TR104",)] == rows(history, "SELECT code FROM finding")
    assert [] == rows(history, "FROM missing_edge(1)")


def test_in_flight(history: History) -> None:
    """What had not finished, by the progress words."""
    history.publish(LEGACY, 1, 1, [(6, 1)])
    history.progress = {COMPUTE: (3, 2), LEGACY: (0, 0)}
    assert [(4, "forward", "compute", "running", 2), (5, "copy_row", "legacy", "waiting", None)] == rows(
        history, "SELECT launch, kernel, name, state, step FROM in_flight()"
    )


def test_what_was_new(history: History) -> None:
    """No earlier launch followed a row that was published on the legacy stream."""
    pages = history.alloc([7], "request:3")
    history.acquire(1, 1, 3)
    history.publish(LEGACY, 1, 1, pages)
    history.forward(COMPUTE, use(1, 1, 0, 1), step=3)
    found = {
        (trait, value): (support, earlier)
        for trait, value, support, earlier, _ in rows(history, "FROM what_was_new(6)")
    }
    assert (0, 2) == found["row published on", "legacy"]
    assert (0, 2) == found["tenancy", "row 1 generation 1"]
    assert (2, 2) == found["kernel", "forward"]
    assert (2, 2) == found["stream of forward", "compute"]
    assert (2, 2) == found["rows used", "1"]
    assert (2, 2) == found["entries followed in a row, at least", "1"]


def test_what_was_new_is_sorted(history: History) -> None:
    """The rarest first."""
    supports = [row[2] for row in rows(history, "FROM what_was_new(4)")]
    assert supports == sorted(supports)
    assert [] == rows(history, "FROM what_was_new(99)")
