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

_ACTS = f"""
SELECT
    seq::BIGINT AS seq,
    CASE kind WHEN 'fence_record' THEN {RECORDED} WHEN 'fence_wait' THEN {WAITED}
        WHEN 'fence_passed' THEN {PASSED} ELSE {LAUNCHED} END::BIGINT AS kind,
    coalesce(stream, {NONE})::BIGINT AS stream,
    coalesce(
        TRY_CAST(CASE kind WHEN 'fence_wait' THEN record_seq ELSE ordinal END AS BIGINT), {NONE}
    ) AS number,
    coalesce(fence::BIGINT, {NONE}) AS fence
FROM (
    SELECT seq, kind, actor, fence, stream, ordinal, record_seq, device FROM _told_fence WHERE kind <> 'stage'
    UNION ALL
    SELECT seq, kind, actor, NULL, stream, ordinal, NULL, NULL FROM _told_launch
)
WHERE
    -- A number that no fence has names none.
    coalesce(fence < 9223372036854775808, true) AND coalesce(actor = 'host', true)
    AND (kind <> 'fence_passed' OR fence IS NOT NULL OR stream IS NOT NULL OR coalesce(device, false))"""

_OUTSIDE = """
SELECT seq, kind::VARCHAR, coalesce(actor, 'external'), TRY_CAST(transaction AS BIGINT) FROM _told_rest
WHERE kind IN ('external_begin', 'external_done') OR kind = 'host_write' AND coalesce(actor = 'host', true)
ORDER BY seq"""


class TooManyStreams(Exception):
    """The history names a stream beyond any that a device has."""


def order_others(connection: duckdb.DuckDBPyConnection) -> Channels:
    """Fill `_outside`, and give `order_launches` its channels.

    TooManyStreams, naming the stream, when ids aren't small.
    """
    channels = Channels((Told(*row) for row in connection.execute(_OUTSIDE).fetchall()), _width(connection))
    _insert_outside(connection, channels.found)
    return channels


def order_launches(connection: duckdb.DuckDBPyConnection, channels: Channels) -> None:
    """Fill `_segment` and `_host`; `channels` are those of `order_others`."""
    devices = channels.first
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


def _width(connection: duckdb.DuckDBPyConnection) -> int:
    ((highest,),) = connection.execute(
        """
        SELECT coalesce(max(stream), 0) FROM (
            SELECT max(stream) AS stream FROM _told_launch
            UNION ALL
            SELECT max(stream) FROM _told_fence
            UNION ALL
            SELECT max(stream) FROM _told_workspace
            UNION ALL
            SELECT max(stream) FROM _told_rest
            UNION ALL
            SELECT max(stream) FROM stream_state
        )
        """
    ).fetchall()
    if highest >= STREAMS_MAX:
        raise TooManyStreams(f"it names stream {highest}, and no device has more than {STREAMS_MAX}")
    return int(highest) + 1


def _acts(connection: duckdb.DuckDBPyConnection, channels: Channels) -> list[list[int]]:
    """The columns of all acts, sorted by seq."""
    told = np.stack([np.asarray(column) for column in connection.execute(_ACTS).fetchnumpy().values()])
    _, kind, stream, number, fence = told
    placed = (stream >= 0) & (number >= 0)
    whole = (kind == PASSED) | (kind == WAITED) & (stream >= 0) | (kind == LAUNCHED) & placed
    told = _sorted(told[:, whole | (kind == RECORDED) & placed & (fence >= 0)])
    others = told[:, told[1] != LAUNCHED]
    if channels.acts:
        others = _sorted(np.concatenate((others, np.array(channels.acts, np.int64).T), axis=1))
    runs = _runs(told[:, told[1] == LAUNCHED], others[0])
    columns: list[list[int]] = _sorted(np.concatenate((runs, others), axis=1)).tolist()
    return columns


def _sorted(acts: Columns) -> Columns:
    return acts[:, np.argsort(acts[0], kind="stable")]


def _runs(launches: Columns, others: npt.NDArray[np.int64]) -> Columns:
    """Launches of one stream without another act between them as one act: its first seq, its last ordinal."""
    seq, _, stream, ordinal, _ = launches
    if not len(seq):
        return launches
    between = np.searchsorted(others, seq)
    starts = np.flatnonzero(np.r_[True, (np.diff(between) != 0) | (stream[1:] != stream[:-1])])
    runs = launches[:, starts]
    runs[3] = ordinal[np.r_[starts[1:], len(seq)] - 1]
    runs[4] = NONE
    return runs


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
