"""Whose bytes a page has: the view `byte_write`, the macro `page_bytes`, and positions of `last_writer`."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.analysis.findings.byte_oracle import ByteOracle
from tests.analysis.findings.test_bytes import PAGES, SIZE, anything
from tests.analysis.history import History, use
from tests.some import a_few

COMPUTE = 1


@pytest.fixture
def connection(tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """A row writes page 5; a copy, the host tier and a clear go on from there."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([5, 6, 7], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, [(5, 1), (6, 1)])
    history.forward(COMPUTE, use(0, 1, 0, 5))
    history.copy(COMPUTE, [[5, 1, 1, 3]], [[7, 1, 0, 2]])
    stored = history.forward(COMPUTE, writes=[[7, 1, 3, 4]], **{"class": "rows"})
    history.event(
        "snapshot_save", snapshot=1, request=3, launch=stored.launch, positions=3, ranges=[[7, 96, 128]]
    )
    history.moved("offload", COMPUTE, [(2, 7, 1)])
    history.clear(COMPUTE, [[7, 1, 0, 1]])
    history.moved("load", COMPUTE, [(2, 6, 1)])
    return history.read(tmp_path).connection


def test_one_row_a_launch_and_run_of_positions(connection: duckdb.DuckDBPyConnection) -> None:
    """Rows of the block table page by page, extents as they are, a copy and a load with their source."""
    columns = 'launch, page, first, "end", class, source_page, source_first, source_seq IS NOT NULL, request'
    assert [
        (3, 5, 0, 4, "kv", None, None, False, 1),
        (3, 6, 0, 1, "kv", None, None, False, 1),
        (4, 7, 0, 2, "copy", 5, 1, True, None),
        (5, 7, 3, 4, "rows", None, None, False, 3),
        (7, 7, 0, 1, "zero", None, None, False, None),
        (8, 6, 0, 4, "host", 7, 0, True, None),
    ] == connection.execute(
        f"SELECT {columns} FROM byte_write WHERE life > 0 ORDER BY launch, page"
    ).fetchall()


def test_the_bytes_of_a_page_and_where_they_are_from(connection: duckdb.DuckDBPyConnection) -> None:
    """What the host tier brought back is what was offloaded, not what was cleared since."""
    columns = 'first, "end", class, launch, origin_class, origin_page, origin_launch'
    assert [
        (0, 2, "host", 8, "kv", 5, 3),
        (2, 3, "host", 8, "zero", 7, 1),
        (3, 4, "host", 8, "rows", 7, 5),
    ] == connection.execute(f"SELECT {columns} FROM page_bytes(6)").fetchall()
    assert [
        (0, 1, "zero", 7, "zero", 7, 7),
        (1, 2, "copy", 4, "kv", 5, 3),
        (2, 3, "zero", 1, "zero", 7, 1),
        (3, 4, "rows", 5, "rows", 7, 5),
    ] == connection.execute(f"SELECT {columns} FROM page_bytes(7)").fetchall()


def test_the_bytes_of_a_page_before_an_event(connection: duckdb.DuckDBPyConnection) -> None:
    """As they were when the copy was launched."""
    seq = connection.execute("SELECT seq FROM launch WHERE kind = 'copy'").fetchall()[0][0]
    assert [(0, 4, "zero")] == connection.execute(
        'SELECT first, "end", class FROM page_bytes(7, before := $seq)', {"seq": seq}
    ).fetchall()


def test_last_writer_tells_positions_and_class(connection: duckdb.DuckDBPyConnection) -> None:
    """Of a row use those on this page; of the arena's clear all."""
    query = 'SELECT launch, first, "end", class FROM last_writer({})'
    found: list[Any] = [connection.execute(query.format(page)).fetchall()[0] for page in (5, 6, 7, 9)]
    assert [(3, 0, 4, "kv"), (8, 0, 4, "host"), (7, 0, 1, "zero"), (1, 0, 4, "zero")] == found


@pytest.mark.parametrize("seed", a_few(3, range(6)))
def test_the_bytes_of_any_page_are_what_the_oracle_says(tmp_path: Path, seed: int) -> None:
    """Position by position, on histories that keep no rule."""
    history = anything(seed)
    oracle = ByteOracle(history)
    connection = history.read(tmp_path).connection
    for page in range(1, PAGES):
        found: dict[int, tuple[Any, ...]] = {}
        for first, end, *rest in connection.execute(
            f'SELECT first, "end", life, origin_seq, origin_class FROM page_bytes({page})'
        ).fetchall():
            found |= dict.fromkeys(range(first, end), tuple(rest))
        for at in range(SIZE):
            byte = oracle.pages[page][at]
            if byte.life < 0:
                assert at not in found
            else:
                life, origin, content = found[at]
                assert byte.life == life
                # What a copy brought from nowhere, and a load from a slot that nobody filled, is its own.
                assert (byte.origin == origin) if byte.origin is not None else content in ("copy", "host")
