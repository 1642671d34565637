"""Takes the acts that order launches out of the tables, and puts the clocks back as tables.

`_segment` (stream, from_seq, clock) and `_host` (from_seq, clock): `clock[stream + 1]` is the highest
ordinal of that stream that is done. Runs of launches of one stream without another act between them are
one act, so a long history costs what its fences cost.
"""

import gc
from itertools import chain
from operator import itemgetter

import duckdb
import numpy as np
import numpy.typing as npt

from tracert_analysis.happens_before import Act, Launched, Passed, Recorded, Segment, Waited, segments

STREAMS_MAX = 1024


class TooManyStreams(Exception):
    """The history names a stream beyond any that a device has."""


def order_launches(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill `_segment` and `_host`. TooManyStreams, naming the stream, when ids aren't small."""
    width = _width(connection)
    blocking = [
        row[0]
        for row in connection.execute(
            "SELECT stream FROM stream_state WHERE blocking AND stream IS NOT NULL"
        ).fetchall()
    ]
    collecting = gc.isenabled()
    # Many small tuples and not one cycle: the collector's rounds would cost a quarter of the pass.
    gc.disable()
    try:
        fences = _fences(connection)
        launches = _launches(connection, np.array([act.seq for act in fences], np.uint64))
        found = segments(sorted(chain(launches, fences), key=itemgetter(0)), blocking, width)
    finally:
        if collecting:
            gc.enable()
    _insert(connection, "_segment", [segment for segment in found if segment.stream is not None])
    _insert(connection, "_host", [segment for segment in found if segment.stream is None])


def _width(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute(
        "SELECT greatest((SELECT max(stream) FROM event), (SELECT max(stream) FROM stream_state))"
    ).fetchone()
    highest = row[0] if row and row[0] is not None else 0
    if highest >= STREAMS_MAX:
        raise TooManyStreams(f"it names stream {highest}, and no device has more than {STREAMS_MAX}")
    return int(highest) + 1


def _fences(connection: duckdb.DuckDBPyConnection) -> list[Act]:
    rows = connection.execute(
        """
        SELECT kind::VARCHAR, seq, fence, stream, ordinal, record_seq FROM event
        WHERE kind = 'fence_record' AND fence IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
           OR kind = 'fence_wait' AND stream IS NOT NULL
           OR kind = 'fence_passed' AND (fence IS NOT NULL OR stream IS NOT NULL OR device)
        ORDER BY seq
        """
    ).fetchall()
    acts: list[Act] = []
    for kind, seq, fence, stream, ordinal, record_seq in rows:
        if kind == "fence_record":
            acts.append(Recorded(seq, fence, stream, ordinal))
        elif kind == "fence_wait":
            acts.append(Waited(seq, stream, record_seq or 0))
        else:
            acts.append(Passed(seq, fence, stream))
    return acts


def _launches(connection: duckdb.DuckDBPyConnection, fences: npt.NDArray[np.uint64]) -> list[Act]:
    columns = connection.execute(
        """
        SELECT seq, stream, ordinal FROM event
        WHERE kind IN ('launch', 'publish', 'copy', 'clear', 'offload', 'load')
            AND stream IS NOT NULL AND ordinal IS NOT NULL
        ORDER BY seq
        """
    ).fetchnumpy()
    seq, stream, ordinal = columns["seq"], columns["stream"], columns["ordinal"]
    if not len(seq):
        return []
    between = np.searchsorted(fences, seq)
    starts = np.flatnonzero(np.r_[True, (np.diff(between) != 0) | (stream[1:] != stream[:-1])])
    ends = np.r_[starts[1:], len(seq)] - 1
    runs = zip(seq[starts].tolist(), stream[starts].tolist(), ordinal[ends].tolist(), strict=True)
    return [Launched(*run) for run in runs]


def _insert(connection: duckdb.DuckDBPyConnection, table: str, found: list[Segment]) -> None:
    if not found:
        return
    clock = np.array([segment.clock for segment in found], np.uint64)
    parts = {f"c{stream}": clock[:, stream] for stream in range(clock.shape[1])}
    heads = {"from_seq": np.array([segment.seq for segment in found], np.uint64)}
    if table == "_segment":
        heads["stream"] = np.array([segment.stream for segment in found], np.uint64)
    connection.register("_found", {**heads, **parts})
    connection.execute(
        f"""
        INSERT INTO {table} BY NAME
        SELECT {", ".join(heads)}, list_value({", ".join(parts)}) AS clock FROM _found
        """
    )
    connection.unregister("_found")
