"""Takes the acts that order launches out of the tables, and puts the clocks back as tables.

`_segment` (stream, from_seq, clock) and `_host` (from_seq, clock): `clock[stream + 1]` is the highest
ordinal of that stream that is done. Runs of launches of one stream without another act between them are
one act, so a long history costs what its fences cost. `_outside`: what writers without a stream did, on
channels that count as streams behind those of the device.

Only the host's own order counts: what another actor is said to have launched, recorded or learned is left
out, and `_window.strange` says so.
"""

import gc
from itertools import chain

import duckdb
import numpy as np
import numpy.typing as npt

from tracert_analysis.channels import Channels, Outside, Told
from tracert_analysis.happens_before import LAUNCHED, NONE, PASSED, RECORDED, WAITED, Segments, segments

STREAMS_MAX = 1024

Columns = npt.NDArray[np.int64]
"""seq, kind, stream, number and fence of acts: [5, acts]."""

_FENCES = f"""
SELECT
    seq::BIGINT AS seq,
    CASE kind WHEN 'fence_record' THEN {RECORDED} WHEN 'fence_wait' THEN {WAITED} ELSE {PASSED} END AS kind,
    coalesce(stream, {NONE})::BIGINT AS stream,
    coalesce(TRY_CAST(
        CASE kind WHEN 'fence_record' THEN ordinal WHEN 'fence_wait' THEN record_seq END AS BIGINT
    ), {NONE}) AS number,
    coalesce(fence, {NONE}) AS fence
FROM (
    SELECT seq, kind, stream, ordinal, record_seq, device, TRY_CAST(fence AS BIGINT) AS fence,
        -- A number that no fence has names none.
        fence IS NOT NULL AND TRY_CAST(fence AS BIGINT) IS NULL AS strange
    FROM event
    WHERE kind IN ('fence_record', 'fence_wait', 'fence_passed') AND coalesce(actor = 'host', true)
)
WHERE NOT strange AND CASE kind
    WHEN 'fence_record' THEN fence IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
    WHEN 'fence_wait' THEN stream IS NOT NULL
    ELSE fence IS NOT NULL OR stream IS NOT NULL OR coalesce(device, false)
END
ORDER BY seq"""

_LAUNCHES = """
SELECT seq::BIGINT AS seq, stream::BIGINT AS stream, ordinal::BIGINT AS ordinal FROM event
WHERE kind IN ('launch', 'publish', 'copy', 'clear', 'offload', 'load')
    AND stream IS NOT NULL AND ordinal < 9223372036854775808 AND coalesce(actor = 'host', true)
ORDER BY seq"""

_OUTSIDE = """
SELECT seq, kind::VARCHAR, coalesce(actor, 'external'), TRY_CAST(transaction AS BIGINT) FROM event
WHERE kind IN ('external_begin', 'external_done') OR kind = 'host_write' AND coalesce(actor = 'host', true)
ORDER BY seq"""


class TooManyStreams(Exception):
    """The history names a stream beyond any that a device has."""


def order_launches(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill `_segment`, `_host` and `_outside`. TooManyStreams, naming the stream, when ids aren't small."""
    devices = _width(connection)
    channels = Channels((Told(*row) for row in connection.execute(_OUTSIDE).fetchall()), devices)
    width = devices + channels.width
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
        found = segments(zip(*_acts(connection, channels), strict=True), blocking, width, devices=devices)
    finally:
        if collecting:
            gc.enable()
    _insert(connection, found, width)
    _insert_outside(connection, channels.found)


def _width(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute(
        "SELECT greatest((SELECT max(stream) FROM event), (SELECT max(stream) FROM stream_state))"
    ).fetchone()
    highest = row[0] if row and row[0] is not None else 0
    if highest >= STREAMS_MAX:
        raise TooManyStreams(f"it names stream {highest}, and no device has more than {STREAMS_MAX}")
    return int(highest) + 1


def _acts(connection: duckdb.DuckDBPyConnection, channels: Channels) -> list[list[int]]:
    """The columns of all acts, sorted by seq."""
    outside = np.array(channels.acts, np.int64).reshape(-1, 5).T
    between = np.concatenate((_fetched(connection, _FENCES), outside), axis=1)
    if outside.shape[1]:
        between = between[:, np.argsort(between[0], kind="stable")]
    launches = _runs(_fetched(connection, _LAUNCHES), between[0])
    acts = np.concatenate((launches, between), axis=1)
    columns: list[list[int]] = acts[:, np.argsort(acts[0], kind="stable")].tolist()
    return columns


def _fetched(connection: duckdb.DuckDBPyConnection, query: str) -> Columns:
    columns = connection.execute(query).fetchnumpy()
    return np.stack([np.asarray(column, np.int64) for column in columns.values()])


def _runs(launches: Columns, others: npt.NDArray[np.int64]) -> Columns:
    """Launches of one stream without another act between them as one act: its first seq, its last ordinal."""
    seq, stream, ordinal = launches
    if not len(seq):
        return np.zeros((5, 0), np.int64)
    between = np.searchsorted(others, seq)
    starts = np.flatnonzero(np.r_[True, (np.diff(between) != 0) | (stream[1:] != stream[:-1])])
    ends = np.r_[starts[1:], len(seq)] - 1
    kind, fence = np.full(len(starts), LAUNCHED), np.full(len(starts), NONE)
    return np.stack((seq[starts], kind, stream[starts], ordinal[ends], fence))


def _insert(connection: duckdb.DuckDBPyConnection, found: Segments, width: int) -> None:
    if not found.seq:
        return
    clock = np.fromiter(chain.from_iterable(found.clock), np.int64, len(found.seq) * width).reshape(-1, width)
    stream = np.array(found.stream, np.int64)
    parts = {f"c{one}": clock[:, one] for one in range(width)}
    heads = {"segment": np.cumsum(stream >= 0), "stream": stream, "from_seq": np.array(found.seq, np.int64)}
    connection.register("_found", {**heads, **parts})
    clocks = f"list_value({', '.join(parts)})"
    found_clocks = f"SELECT segment, stream, from_seq, {clocks} AS clock FROM _found"
    connection.execute(f"INSERT INTO _segment BY NAME {found_clocks} WHERE stream >= 0")
    connection.execute(
        f"INSERT INTO _host BY NAME SELECT from_seq, clock FROM ({found_clocks}) WHERE stream < 0"
    )
    connection.unregister("_found")


def _insert_outside(connection: duckdb.DuckDBPyConnection, found: list[Outside]) -> None:
    if not found:
        return
    columns = list(zip(*found, strict=True))
    numbers = {
        name: np.array([NONE if value is None else value for value in column], np.int64)
        for name, column in zip(Outside._fields, columns, strict=True)
        if name != "actor"
    }
    connection.register("_found", {**numbers, "actor": np.array(columns[3], object)})
    connection.execute(
        f"""
        INSERT INTO _outside BY NAME
        SELECT * REPLACE (nullif(transaction, {NONE}) AS transaction, nullif(done_seq, {NONE}) AS done_seq)
        FROM _found
        """
    )
    connection.unregister("_found")
