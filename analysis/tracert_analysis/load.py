"""Opens a dump: its events become typed DuckDB tables, with the views, macros and findings over them.

Lines that are no event are counted in the evidence, and everything else counts. Afterwards the connection
can reach no file and no network, and its settings are locked. It never writes beside the dump, and never
imports torch.
"""

from dataclasses import dataclass
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import duckdb
import orjson

from tracert_analysis import library
from tracert_analysis.clocks import TooManyStreams
from tracert_analysis.events import Unread, load_events
from tracert_analysis.folding import fold
from tracert_analysis.frame import DumpError, Frame
from tracert_analysis.provenance_table import fill_blemishes
from tracert_analysis.query_process import LOCKS
from tracert_analysis.source import Source, open_source

__all__ = ["Dump", "DumpError", "Evidence", "open_dump"]

MEMORY = "3GB"
"""What the database may take; more than that goes to a folder of its own."""
SPILLED_MAX = "64GB"
"""What that folder may take."""


@dataclass(frozen=True)
class Evidence:
    """How good the history is."""

    events: int
    """Events that were read."""
    lost: int
    """Records that the ring overwrote before it was dumped."""
    torn: int
    """Records of the ring that were being written when it stopped."""
    bad_lines: int
    """Lines of the dump that are no event."""
    truncated: bool
    """The dump has no end line."""
    damaged: bool
    """The dump's checksum is not that of its lines."""
    first_seq: int | None
    last_seq: int | None
    unknown: tuple[str, ...]
    """What this history can't tell, a sentence each."""


@dataclass(frozen=True)
class Dump:
    """A dump that was read. `connection` holds its tables, views and macros, and is locked."""

    name: str
    connection: duckdb.DuckDBPyConnection
    header: dict[str, Any]
    evidence: Evidence
    source: Source
    """Kept open: the tables were read from it."""


def open_dump(path: str, *, database: str = ":memory:", macros: bool = True) -> Dump:
    """Read the dump at `path`; `-` is standard input. DumpError when there is none to read.

    `database` is a new file to keep the tables in, for another process to open. Who only asks for findings
    does without `macros` and `library.ASKED`: to make them takes a fifth of opening a short dump.
    """
    source = open_source(path)
    connection = connect(database)
    dump = load(connection, source, source.frame(), macros=macros)
    lock(connection)
    return dump


def connect(database: str) -> duckdb.DuckDBPyConnection:
    """An empty database, with a part of the machine, and a folder that goes when the connection does."""
    folder = mkdtemp(prefix="tracert-")
    # One thread: loading is done by the caller's own; `plan_for` gives more to what is asked.
    connection = duckdb.connect(
        database,
        config={
            "threads": 1,
            "memory_limit": MEMORY,
            "temp_directory": folder,
            "max_temp_directory_size": SPILLED_MAX,
        },
    )
    finalize(connection, rmtree, folder, ignore_errors=True)
    # It is guessed from few rows that a loop would do; where the guess is wrong, it takes a second.
    connection.execute("SET GLOBAL asof_loop_join_threshold = 0")
    return connection


def load(connection: duckdb.DuckDBPyConnection, source: Source, frame: Frame, *, macros: bool = True) -> Dump:
    """The dump's tables and all that follows from them, in the connection's schema, which has none yet.

    DumpError when the dump is damaged beyond reading, or larger than the memory.
    """
    try:
        dump = _loaded(connection, source, frame)
        if macros:
            library.create_macros(connection)
        return dump
    except TooManyStreams as error:
        raise DumpError(f"{source.name} is damaged: {error}") from None
    except duckdb.OutOfMemoryException:
        raise DumpError(
            f"{source.name} needs more than {MEMORY} of memory and {SPILLED_MAX} beside it: "
            "no larger dump can be read"
        ) from None
    except duckdb.Error as error:
        raise DumpError(f"{source.name} is damaged: {str(error).splitlines()[0]}") from None


def _loaded(connection: duckdb.DuckDBPyConnection, source: Source, frame: Frame) -> Dump:
    library.create_tables(connection)
    _load_header(connection, frame.header)
    for kind, lines in frame.states.items():
        if lines:
            _load_states(connection, kind, lines)
    unread = load_events(connection, source)
    fold(connection)
    streams = _unknown_streams(connection)
    if streams or _has_holes(connection, frame, unread):
        connection.execute("UPDATE _window SET holes = true")
    unseen = fill_blemishes(connection)
    library.create_access(connection)
    evidence = _evidence(connection, frame, unread, streams, unseen)
    return Dump(source.name, connection, frame.header, evidence, source)


def _load_header(connection: duckdb.DuckDBPyConnection, header: dict[str, Any]) -> None:
    columns = {row[0]: row[1] for row in connection.execute("DESCRIBE header").fetchall()}
    values = [header.get(column) for column in columns]
    places = (f"TRY_CAST(? AS {kind})" for kind in columns.values())
    connection.execute(
        f"INSERT INTO header VALUES ({', '.join(places)})",
        [orjson.dumps(value).decode() if isinstance(value, dict | list) else value for value in values],
    )


def _load_states(connection: duckdb.DuckDBPyConnection, kind: str, lines: list[bytes]) -> None:
    columns = connection.execute(f"DESCRIBE {kind}").fetchall()
    shape = orjson.dumps([{row[0]: row[1] for row in columns}]).decode()
    text = f"[{','.join(line.decode('utf-8', 'replace') for line in lines)}]"
    connection.execute(
        f"INSERT INTO {kind} BY NAME SELECT unnest(from_json(?::JSON, ?), recursive := true)", [text, shape]
    )


def _has_holes(connection: duckdb.DuckDBPyConnection, frame: Frame, unread: Unread) -> bool:
    """Is an event missing between others, or not understood? It could be the fence that a rule asks for."""
    if unread.lines > int(frame.cut_line) or unread.values or _damaged(frame):
        return True
    ring = frame.header.get("ring")
    counts = ring if isinstance(ring, dict) else {}
    first, last, events = connection.execute(
        "SELECT min(first_seq), max(last_seq), coalesce(sum(events), 0) FROM _seen"
    ).fetchall()[0]
    if frame.events is not None and frame.events != events:
        return True
    if first == 1 and _count(counts.get("lost")):
        # What is overwritten comes first.
        return True
    if not counts.get("torn"):
        return False
    torn = counts.get("torn_seqs")
    if not isinstance(torn, list):
        return True
    return any(isinstance(seq, int) and seq < (last or 0) for seq in torn)


def _damaged(frame: Frame) -> bool:
    """Lines were changed, added or taken out since the dump was written."""
    return frame.events is not None and not frame.intact


def _unknown_streams(connection: duckdb.DuckDBPyConnection) -> list[int]:
    """Streams beside a used legacy stream of which the dump doesn't say whether they order with it."""
    rows = connection.execute(
        """
        SELECT DISTINCT l.stream FROM launch AS l
        ANTI JOIN (FROM stream_state WHERE blocking IS NOT NULL) AS s USING (stream)
        WHERE l.stream > 0 AND EXISTS (FROM launch AS o WHERE o.stream = 0) ORDER BY l.stream
        """
    ).fetchall()
    return [row[0] for row in rows]


def _evidence(
    connection: duckdb.DuckDBPyConnection, frame: Frame, unread: Unread, streams: list[int], unseen: int
) -> Evidence:
    row = connection.execute(
        """
        SELECT coalesce(sum(s.events), 0), w.first_seq, w.last_seq, sum(s.events) FILTER (s.kind IS NULL),
            w.complete, w.known_from, w.strange, t.blind
        FROM _window AS w CROSS JOIN _tells AS t LEFT JOIN _seen AS s ON true GROUP BY ALL
        """
    ).fetchone()
    assert row is not None
    events, first_seq, last_seq, strange, complete, known_from, doubtful, blind = row
    ring = frame.header.get("ring")
    counts = ring if isinstance(ring, dict) else {}
    unknown = []
    if events and not complete:
        unknown.append(f"the history starts at event {first_seq}: what came before was overwritten")
        if known_from is None:
            unknown.append("no keyframe is whole: who held which page before the first event is not known")
        else:
            unknown.append(f"pages, holders and rows are known from the keyframe at event {known_from} on")
    if frame.events is not None and frame.events != events:
        unknown.append(f"the dump was written with {frame.events} events, and has {events}")
    if unread.values:
        unknown.append(f"{unread.values} values are not of the type that their field has, and were left out")
    for stream in streams:
        unknown.append(f"whether stream {stream} orders itself with the legacy stream is not told")
    if blind:
        unknown.append("no publish is told: in which pages launches read and write through rows is not known")
    if unseen:
        unknown.append(
            f"of {unseen} more pages with bytes that may be wrong nothing is told: those where it went "
            "wrong, and the first of the others, come before"
        )
    if strange:
        unknown.append(f"{strange} events are of kinds that this version doesn't know")
    elif doubtful:
        unknown.append("some events don't tell who acted, on which stream or on what, in a way that is known")
    return Evidence(
        events=int(events),
        lost=_count(counts.get("lost")),
        torn=_count(counts.get("torn")),
        bad_lines=unread.lines,
        truncated=frame.events is None,
        damaged=_damaged(frame),
        first_seq=first_seq,
        last_seq=last_seq,
        unknown=tuple(unknown),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def lock(connection: duckdb.DuckDBPyConnection) -> None:
    """No file, no network, no settings from here on."""
    for statement in LOCKS:
        connection.execute(statement)
