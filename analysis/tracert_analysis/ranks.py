"""Opens several dumps of one engine, a rank each, in one database: `rank0`, `rank1`, ... are schemas of it.

A rank's schema has all that a dump opened alone has; after `USE rank1` its macros answer. In the main schema
the public tables and views stand once more, those of all ranks together, with their rank; and what the ranks
decided, side by side. Clocks: ranks of one boot of one host share a monotonic clock; between hosts, times are
as good as what the hosts took for Unix time.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from tracert_analysis import library
from tracert_analysis.comments import described
from tracert_analysis.frame import DumpError, Frame
from tracert_analysis.load import Dump, connect, load, lock
from tracert_analysis.source import header_in, open_source

RANKS_MAX = 1024
OFFSET_MAX = 1 << 62
"""No clock is further from another, in nanoseconds: what is, is damage."""


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


def open_ranks(paths: Sequence[str], *, database: str = ":memory:") -> Ranks:
    """Read the dumps at `paths`, two at least. DumpError when one can't be read, or two are of one rank.

    `database` is a new file to keep the tables in, for another process to open.
    """
    sources = [open_source(path) for path in paths]
    frames = [source.frame() for source in sources]
    numbers = _numbers([source.name for source in sources], frames)
    connection = connect(database)
    clocks = [_clock(frame) for frame in frames]
    one_clock = len({_boot(frame) for frame in frames}) == 1 and _boot(frames[0]) is not None
    ranks = []
    for number, source, frame, clock in sorted(
        zip(numbers, sources, frames, clocks, strict=True), key=lambda one: one[0]
    ):
        own = connection.cursor()
        own.execute(f"CREATE SCHEMA rank{number:d}")
        own.execute(f"SET schema = 'rank{number:d}'")
        dump = load(own, source, frame)
        own.execute(library.text("ranks", "_decision"))
        ranks.append(Rank(number, dump, clocks[0] if one_clock else clock))
    _side_by_side(connection, ranks)
    lock(connection)
    return Ranks(tuple(ranks), connection, one_clock)


def dumps_in(path: str) -> list[str]:
    """The dumps that `path` stands for: of a directory with dumps of several ranks, the newest of each.

    Anything else stands for itself: what is in it, `open_source` finds or refuses.
    """
    folder = Path(path)
    if not folder.is_dir():
        return [path]
    newest: dict[int, Path] = {}
    for place in sorted(folder.iterdir(), key=_age):
        if place.name.endswith((".jsonl", ".jsonl.zst")) and (rank := _rank_in(place)) is not None:
            newest[rank] = place
    return [str(place) for place in newest.values()] if len(newest) > 1 else [path]


def _age(place: Path) -> tuple[int, str]:
    try:
        return place.stat().st_mtime_ns, place.name
    except OSError:
        return 0, place.name


def _rank_in(place: Path) -> int | None:
    """The rank that a dump says it is of."""
    try:
        return _told(header_in(place))
    except DumpError:
        return None


def _numbers(names: Sequence[str], frames: Sequence[Frame]) -> list[int]:
    """The rank of each dump: as its header says, else, where none says it, its place."""
    told = [_told(frame.header) for frame in frames]
    if all(number is None for number in told):
        return list(range(len(told)))
    first: dict[int, str] = {}
    for name, number in zip(names, told, strict=True):
        if number is None:
            raise DumpError(f"{name} does not say its rank, and others do: give dumps of one engine")
        if number in first:
            raise DumpError(f"{name} is of rank {number}, and so is {first[number]}: give one dump a rank")
        first[number] = name
    return list(first)


def _told(header: dict[str, Any]) -> int | None:
    config = header.get("config")
    rank = config.get("rank") if isinstance(config, dict) else None
    return rank if isinstance(rank, int) and 0 <= rank < RANKS_MAX else None


def _clock(frame: Frame) -> int:
    """What to add to its monotonic time; 0 when the header doesn't say."""
    clock = frame.header.get("clock")
    if not isinstance(clock, dict):
        return 0
    unix, monotonic = clock.get("unix_ns"), clock.get("monotonic_ns")
    offset = unix - monotonic if isinstance(unix, int) and isinstance(monotonic, int) else 0
    return offset if abs(offset) < OFFSET_MAX else 0


def _boot(frame: Frame) -> str | None:
    ring = frame.header.get("ring")
    boot = ring.get("boot_id") if isinstance(ring, dict) else None
    return boot if isinstance(boot, str) and boot else None


def _side_by_side(connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank]) -> None:
    """The main schema: all ranks' tables, and what follows from comparing them."""
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
    connection.execute(library.text("ranks", "decision"))
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
