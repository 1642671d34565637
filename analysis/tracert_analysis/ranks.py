"""Opens several dumps of one engine, a rank each, in one database: `rank0`, `rank1`, ... are schemas of it.

A rank's schema has all that a dump opened alone has; after `USE rank1` its macros answer. In the main schema
the public tables and views stand once more, those of all ranks together, with their rank; and what the ranks
decided, side by side. Clocks: ranks of one boot of one host share a monotonic clock; between hosts, times are
as good as what the hosts took for Unix time.
"""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from tracert_analysis import library
from tracert_analysis.comments import described
from tracert_analysis.folder import Candidate, candidates, remark
from tracert_analysis.frame import DumpError
from tracert_analysis.load import Dump, connect, load, lock
from tracert_analysis.related import boot_of, clock_offset, rank_of, relation, ring_of
from tracert_analysis.source import open_source


class Rank(NamedTuple):
    """One of the dumps."""

    number: int
    dump: Dump
    """Its `connection` is in the rank's schema."""
    offset_ns: int
    """From `t` of its events to nanoseconds of Unix time."""


class Ranks(NamedTuple):
    """Dumps that were read together, in the order of their ranks."""

    ranks: tuple[Rank, ...]
    connection: duckdb.DuckDBPyConnection
    """In the main schema."""
    one_clock: bool
    """Times of different ranks are from one clock."""
    apart: str | None = None
    """Why they are not ranks of one engine: then they stand side by side, and nothing is compared."""
    doubt: str | None = None
    """Why it is not certain that they are."""


class Chosen(NamedTuple):
    """What the paths that a user gave stand for."""

    paths: tuple[str, ...]
    remarks: tuple[str, ...]
    """A line a folder that has more dumps than are read: which, and which not."""


class NotRanks(DumpError):
    """Several dumps that are not of ranks of one engine; the message says why."""

    def __init__(self, why: str, paths: Sequence[str], headers: Sequence[dict[str, Any]]) -> None:
        self.paths = tuple(paths)
        self.headers = tuple(headers)
        super().__init__(f"these {len(self.paths)} dumps are not of ranks of one engine: {why}")


def open_ranks(paths: Sequence[str], *, database: str = ":memory:", beside: bool = False) -> Ranks:
    """Read the dumps at `paths`, two at least. DumpError when one can't be read; NotRanks when they are not
    those of the ranks of one engine, unless `beside`: then they are read, and not compared.

    `database` is a new file to keep the tables in, for another process to open.
    """
    sources = [open_source(path) for path in paths]
    frames = [source.frame() for source in sources]
    names, headers = _short([source.name for source in sources]), [frame.header for frame in frames]
    told = relation(names, headers)
    if told.apart and not beside:
        raise NotRanks(told.apart, paths, headers)
    connection = connect(database)
    numbers = tuple(range(len(paths))) if told.apart else told.numbers
    clocks = [clock_offset(header) for header in headers]
    one_clock = len({boot_of(header) for header in headers}) == 1 and boot_of(headers[0]) is not None
    dumps: dict[int, Rank] = {}
    for number, source, frame, clock in zip(numbers, sources, frames, clocks, strict=True):
        own = connection.cursor()
        own.execute(f"CREATE SCHEMA rank{number:d}")
        own.execute(f"SET schema = 'rank{number:d}'")
        dump = load(own, source, frame)
        own.execute(library.text("ranks", "_decision"))
        dumps[number] = Rank(number, dump, clocks[0] if one_clock else clock)
    # Only the events tell when it ended: a ring may be read long after.
    ends = [_last(dumps[number].dump, clock) for number, clock in zip(numbers, clocks, strict=True)]
    given = [dumps[number].dump for number in numbers]
    apart = told.apart or relation(names, headers, ends).apart or _strangers(given)
    if apart and not beside:
        raise NotRanks(apart, paths, headers)
    ranks = tuple(dumps[number] for number in sorted(dumps))
    _side_by_side(connection, ranks, None if apart else told.doubt, compared=not apart)
    lock(connection)
    return Ranks(ranks, connection, one_clock, apart, told.doubt)


def chosen(given: Sequence[str]) -> Chosen:
    """The dumps that these paths stand for: of a folder the ranks of one engine, else the one to read first.

    Anything else stands for itself: what is in it, `open_source` finds or refuses. DumpError when a folder
    has no dump.
    """
    paths: list[str] = []
    remarks: list[str] = []
    for path in given:
        if not Path(path).is_dir():
            paths.append(path)
            continue
        found = candidates(Path(path))
        known = [one for one in found if one.header or one.place.suffix == ".ring"]
        read = _ranks_in(known) or found[:1]
        said = remark(Path(path), read, [one for one in known if one not in read])
        paths += [str(one.place) for one in read]
        remarks += [said] if said else []
    return Chosen(tuple(paths), tuple(remarks))


def _ranks_in(found: Sequence[Candidate]) -> list[Candidate]:
    """Of the dumps of a folder those of several ranks of one engine, the first of each.

    None where a dump beside them tells of an error, and they don't.
    """
    first = next((one for one in found if rank_of(one.header) is not None), None)
    if first is None:
        return []
    group: dict[int, Candidate] = {}
    for one in found:
        rank = rank_of(one.header)
        if rank is None or rank in group or (one is not first and _apart(first, one)):
            continue
        group[rank] = one
    failed = any(one.failed for one in group.values())
    return (
        [group[rank] for rank in sorted(group)] if len(group) > 1 and (failed or not found[0].failed) else []
    )


def _apart(first: Candidate, other: Candidate) -> bool:
    names = (first.place.name, other.place.name)
    return relation(names, (first.header, other.header)).apart is not None


def one_of(error: NotRanks) -> tuple[str, str]:
    """Of dumps that are not of ranks of one engine the one to read, and the line that says why.

    It is the newest that tells of an error; of dumps of one process the newest. DumpError where neither is.
    """
    known = [
        Candidate(Path(path), header)
        for path, header in zip(error.paths, error.headers, strict=True)
        if path != "-"
    ]
    best = max(known, key=lambda one: one.preference, default=None)
    rings = {ring_of(header) for header in error.headers}
    same = len(rings) == 1 and None not in rings
    if best is None or not (best.failed or same):
        raise DumpError(f"{error}; none of them tells of an error: give the one that is meant")
    alone = sum(one.failed for one in known) == 1
    why = "the newest" if not best.failed else "the only one" if alone else "the newest of those"
    tells = " that tells of an error" if alone else " that tell of an error" if best.failed else ""
    return str(best.place), f"{error}; one is read: {best.place}, {why}{tells}"


def _short(names: Sequence[str]) -> list[str]:
    """The names without their folders, where they differ without."""
    short = [Path(name).name for name in names]
    return short if len(set(short)) == len(short) else list(names)


def _last(dump: Dump, offset_ns: int) -> int | None:
    """When its last event was: nanoseconds of Unix time."""
    last = dump.connection.execute("SELECT max(t) FROM event").fetchall()[0][0]
    return None if last is None else last + offset_ns


class _Arrivals(NamedTuple):
    """Which requests came to a rank."""

    name: str
    ids: dict[int, str]
    """The client's id, by the engine's number."""
    complete: bool


def _strangers(dumps: Sequence[Dump]) -> str | None:
    """Two that serve other requests: data-parallel ranks, each of which decides for itself.

    No client's id is in both, and that is not for want of a beginning. None where there are no such two.
    """
    told = [_arrivals(dump) for dump in dumps]
    for one, other in combinations([rank for rank in told if rank.ids], 2):
        whole = one.complete and other.complete
        known = whole or one.ids.keys() & other.ids.keys()
        if known and set(one.ids.values()).isdisjoint(other.ids.values()):
            names = " and ".join(Path(rank.name).name for rank in (one, other))
            return f"{names} serve other requests: no client's id is in both"
    return None


def _arrivals(dump: Dump) -> _Arrivals:
    came = dump.connection.execute(
        "SELECT request, id FROM _told_rest WHERE kind = 'arrive' AND request IS NOT NULL AND id IS NOT NULL"
    ).fetchall()
    complete = dump.connection.execute("SELECT complete FROM _window").fetchall()[0][0]
    return _Arrivals(dump.name, dict(came), bool(complete))


def _side_by_side(
    connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], doubt: str | None, *, compared: bool
) -> None:
    """The main schema: all ranks' tables, and what follows from comparing them, where they are `compared`."""
    connection.execute(library.text("ranks", "rank"))
    for rank in ranks:
        connection.execute(
            f"""
            INSERT INTO rank SELECT ?, ?, ?, coalesce(complete, false), coalesce(holes, false),
                coalesce(strange, false) FROM rank{rank.number:d}._window
            """,
            [rank.number, rank.dump.name, rank.offset_ns],
        )
    _together(connection, ranks, "_decision", "_decided")
    connection.execute(library.text("ranks", "_doubt"))
    if doubt is not None:
        connection.execute("INSERT INTO _doubt VALUES (?)", [doubt])
    connection.execute(library.text("ranks", "decision"))
    if not compared:
        connection.execute("DELETE FROM decision")
    connection.execute(f"CREATE TABLE _diverged AS {library.text('ranks', 'TR801')}")
    for rank in ranks:
        _add_findings(rank)
    for entry in described():
        if entry.kind != "macro":
            _together(connection, ranks, entry.name, entry.name)


def _add_findings(rank: Rank) -> None:
    """Where the rank left the others, among its own findings."""
    rank.dump.connection.execute(
        "INSERT INTO finding BY NAME SELECT * EXCLUDE (rank) FROM main._diverged WHERE rank = ?",
        [rank.number],
    )
    rank.dump.connection.execute(
        """
        UPDATE finding SET finding = n.number FROM (
            SELECT rowid AS place, row_number() OVER (
                ORDER BY seq, list_position($classes, class), finding NULLS FIRST
            ) AS number
            FROM finding
        ) AS n WHERE finding.rowid = n.place
        """,
        {"classes": list(library.CLASSES)},
    )


def _together(connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], name: str, union: str) -> None:
    """A view over a table of every rank, with its rank before it."""
    parts = (f'SELECT {rank.number:d} AS rank, * FROM rank{rank.number:d}."{name}"' for rank in ranks)
    connection.execute(f'CREATE VIEW "{union}" AS {" UNION ALL ".join(parts)}')
