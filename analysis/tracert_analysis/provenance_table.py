"""Takes what wrote and read pages out of the tables, and puts what they met wrong back as `_blemish`.

What they met in positions that nobody had computed stands in `_uncomputed`.

Only lives in which something can be wrong are followed; a history that starts in the middle is followed from
its first whole keyframe, for before it nobody knows which pages a row named.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import duckdb
import numpy as np

from tracert_analysis import library
from tracert_analysis.provenance import Act, Blemish, Load, Move, Offload, Provenance, Reads, Write

POSITIONS_MAX = 8192
"""No page is that long: a header that says so is damaged."""
LIVES_MAX = 1024
"""That many lives with a blemish are enough to see which was first, beside those with which it went wrong."""
_AT_ONCE = 256
"""Pages followed together: what their bytes were at every moment is kept."""

_LIVES = """
SELECT page, life FROM _doubtful ORDER BY (page, life) IN (FROM _struck) DESC, seq, page, life"""

_WRITES = """
SELECT b.seq, b.page, b.life, b.first, b.end,
    -- Of which class it is what a writer without a stream puts there, the history does not tell.
    CASE WHEN b.actor IS NULL THEN b.class ELSE 'outside' END
FROM byte_write AS b SEMI JOIN _inspected AS i ON b.page = i.page
WHERE b.class IN ('kv', 'rows', 'zero') AND b.life >= 0 AND b.life < 4294967296
ORDER BY ALL"""

_MOVES = """
SELECT seq, s[1], s[2], s[3], t[1], t[2], t[3], least(s[4] - s[3], t[4] - t[3]) FROM (
    SELECT seq, unnest(source) AS s, unnest(target) AS t FROM _told_launch
    WHERE kind = 'copy' AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
) WHERE len(s) = 4 AND len(t) = 4 AND list_min(s || t) >= 0 AND list_max(s || t) < 4294967296
ORDER BY seq"""

_SLOTS = """
SELECT seq, kind::VARCHAR, e[1], e[2], e[3] FROM (
    SELECT seq, kind, unnest(entries) AS e FROM _told_launch
    WHERE kind IN ('offload', 'load') AND launch IS NOT NULL AND stream IS NOT NULL AND ordinal IS NOT NULL
) WHERE len(e) = 3 AND list_min(e) >= 0 AND list_max(e) < 4294967296
ORDER BY seq"""

_READS = """
SELECT t.page, t.life, u.seq, 0,
    CASE WHEN u.covers = 'page' THEN w.page_size ELSE least(u.end - t.index * w.page_size, w.page_size) END,
    CASE WHEN u.end < t.index * w.page_size THEN 0 ELSE least(u.end - t.index * w.page_size, w.page_size) END,
    1, 0
FROM _touch AS t SEMI JOIN _inspected AS i ON t.page = i.page AND t.life = i.life
JOIN _use AS u
    ON t.row = u.row AND t.generation = u.generation AND t.stream = u.stream
    AND u.seq BETWEEN t.first_seq AND t.last_seq
CROSS JOIN _window AS w
WHERE t.mode = 'read' AND u.depth > t.index AND u.seq >= w.known_from
UNION ALL
SELECT x.page, x.life, x.seq, least(x.first, w.page_size), least(x.end, w.page_size),
    least(CASE WHEN i.seq IS NULL OR i.wipes THEN x.end ELSE x.first END, w.page_size),
    CASE WHEN l.seq IS NOT NULL THEN 2 ELSE 0 END, CASE WHEN i.seq IS NOT NULL THEN 1 ELSE 0 END
FROM (FROM _extent AS x SEMI JOIN _inspected AS i ON x.page = i.page AND x.life = i.life) AS x
LEFT JOIN _rows_read AS l ON x.seq = l.seq
LEFT JOIN _in_place AS i
    ON x.seq = i.seq AND x.page = i.page AND x.life = i.life AND x.first = i.first AND x.end = i.end
CROSS JOIN _window AS w
WHERE x.mode = 'read' AND x.source = 'extent' AND x.first < x.end AND x.seq >= w.known_from
ORDER BY ALL"""

_SKIPPED = """
SELECT s.page, s.life, s.seq, s.first, s.end, s.row, s.generation, s.skip_first, s.skip_end, s.before_seq
FROM _skipped AS s SEMI JOIN _inspected AS i ON s.page = i.page AND s.life = i.life, _window AS w
WHERE s.seq >= w.known_from ORDER BY s.seq, s.page, s.life, s.first, s.row"""


_FRONTS = """
SELECT r.page, r.life, r.first_seq, 0, max(least(u.start - r.index * w.page_size, w.page_size)), r.row,
    r.generation
FROM _reading AS r SEMI JOIN _inspected AS i ON r.page = i.page AND r.life = i.life
JOIN _use AS u ON r.first_seq = u.seq AND r.row = u.row AND r.generation = u.generation
JOIN _tenancy AS n ON r.row = n.row AND r.generation = n.generation
CROSS JOIN _window AS w
WHERE n.request IS NOT NULL AND u.start > r.index * w.page_size AND r.first_seq >= w.known_from
GROUP BY r.page, r.life, r.first_seq, r.row, r.generation
ORDER BY r.first_seq, r.page, r.life, r.row, r.generation"""


class Skip(NamedTuple):
    """Positions of a sequence that no launch of a row had computed when one started behind them."""

    row: int
    generation: int
    first: int | None
    end: int | None
    before_seq: int | None
    """None, as `first` and `end`, where it is the first launch of the row that reads the page."""


Found = list[tuple[Blemish, Skip | None]]
"""What was met, and what had been skipped there."""


def fill_blemishes(connection: duckdb.DuckDBPyConnection) -> int:
    """Create `_doubtful`, `_blemish` and `_uncomputed`; fill them from `_touch`, `_use` and the events.

    Returns of how many pages that may be wrong nothing is told, since so many are.
    """
    library.create_doubt(connection)
    size, known_from, complete = connection.execute(
        "SELECT page_size, known_from, complete FROM _window"
    ).fetchall()[0]
    if size is None or size > POSITIONS_MAX or known_from is None:
        return 0
    lives = connection.execute(_LIVES).fetchall()
    if not lives:
        return 0
    moved = _moves(connection, size, known_from)
    found: Found = []
    by_page: dict[int, list[int]] = defaultdict(list)
    for page, life in lives:
        by_page[page].append(life)
    pages = list(by_page)
    while pages and len(found) < LIVES_MAX:
        chosen, pages = pages[:_AT_ONCE], pages[_AT_ONCE:]
        wanted = [(page, life) for page in chosen for life in by_page[page]]
        found += _followed(connection, wanted, moved, size, known_from, complete=bool(complete))
    connection.execute("DROP TABLE _inspected")
    _insert(connection, found)
    return len(pages)


def _followed(
    connection: duckdb.DuckDBPyConnection,
    lives: list[tuple[int, int]],
    moved: list[Act],
    size: int,
    known_from: int,
    *,
    complete: bool,
) -> Found:
    """What is wrong with these lives of pages."""
    watched = {page for page, _ in lives}
    near = _near(watched, moved)
    _inspect(connection, [(page, 0) for page in near])
    acts: list[Act] = [
        Write(seq, page, life, first, min(end, size), content)
        for seq, page, life, first, end, content in connection.execute(_WRITES).fetchall()
        if seq >= known_from and first < min(end, size)
    ]
    acts += [act for act in moved if _target(act) in near]
    acts.sort(key=lambda act: act.seq)
    provenance = Provenance(size, watched, complete=complete)
    provenance.run(acts)
    _inspect(connection, lives)
    columns = connection.execute(_READS).fetchnumpy()
    page, life, seq, first, covered, valid, content, before = (
        np.asarray(column).astype(np.int64) for column in columns.values()
    )
    if not len(page):
        return []
    found: Found = [
        (mark, Skip(*skip))
        for one, its_life, at, start, end, *skip in connection.execute(_SKIPPED).fetchall()
        for mark in provenance.uncomputed(one, its_life, at, start, end)
    ]
    found += [
        (mark, Skip(row, generation, None, None, None))
        for one, its_life, at, start, end, row, generation in connection.execute(_FRONTS).fetchall()
        for mark in provenance.uncomputed(one, its_life, at, start, end)
        # What is nobody's or another's is wrong whoever was to compute it: that is told as such.
        if mark.kind in ("blank", "untold")
    ]
    heads = np.flatnonzero(np.r_[True, (page[1:] != page[:-1]) | (life[1:] != life[:-1])])
    for head, end in zip(heads.tolist(), [*heads[1:].tolist(), len(page)], strict=True):
        part = slice(head, end)
        reads = Reads(seq[part], first[part], covered[part], valid[part], content[part], before[part])
        marks = provenance.blemishes(int(page[head]), int(life[head]), reads)
        found += [(mark, None) for mark in marks]
    return found


def _moves(connection: duckdb.DuckDBPyConnection, size: int, known_from: int) -> list[Act]:
    """Copies between pages, and to and from the host tier, by seq."""
    acts: list[Act] = [
        Move(seq, (source, source_life, source_first), (target, target_life, target_first), count)
        for seq, source, source_life, source_first, target, target_life, target_first, count
        in connection.execute(_MOVES).fetchall()
        if seq >= known_from and 0 < count <= size - max(source_first, target_first)
    ]  # fmt: skip
    acts += [
        Offload(seq, slot, page, life) if kind == "offload" else Load(seq, slot, page, life)
        for seq, kind, slot, page, life in connection.execute(_SLOTS).fetchall()
        if seq >= known_from
    ]
    acts.sort(key=lambda act: act.seq)
    return acts


def _near(pages: Iterable[int], moved: list[Act]) -> set[int]:
    """The pages, and those whose bytes may have come to them."""
    offloaded: dict[int, set[int]] = defaultdict(set)
    sources: dict[int, set[int]] = defaultdict(set)
    for act in moved:
        if isinstance(act, Offload):
            offloaded[act.slot].add(act.page)
    for act in moved:
        if isinstance(act, Move):
            sources[act.target[0]].add(act.source[0])
        elif isinstance(act, Load):
            sources[act.page] |= offloaded[act.slot]
    near, open_pages = set(pages), list(pages)
    while open_pages:
        fresh = sources[open_pages.pop()] - near
        near |= fresh
        open_pages += fresh
    return near


def _target(act: Act) -> int:
    return act.target[0] if isinstance(act, Move) else act.page


def _inspect(connection: duckdb.DuckDBPyConnection, lives: list[tuple[int, int]]) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE _inspected (page UINTEGER, life UINTEGER)")
    listed = {
        "page": np.array([page for page, _ in lives], np.uint32),
        "life": np.array([life for _, life in lives], np.uint32),
    }
    connection.register("_listed", listed)
    connection.execute("INSERT INTO _inspected FROM _listed")
    connection.unregister("_listed")


def _insert(connection: duckdb.DuckDBPyConnection, found: Found) -> None:
    _insert_into(connection, "_blemish", [_row(mark) for mark, skip in found if skip is None])
    skipped = [(*_row(mark), *skip) for mark, skip in found if skip is not None]
    _insert_into(connection, "_uncomputed", skipped)


def _row(mark: Blemish) -> tuple[object, ...]:
    return (
        mark.kind, mark.page, mark.life, mark.first, mark.end, mark.seq,
        *((at.seq, at.page, at.life, at.content) if (at := mark.origin) else (None,) * 4),
        mark.via_seq, mark.clear_seq, *(mark.cleared or (None,) * 3), mark.zeros_seq, mark.origins,
    )  # fmt: skip


def _insert_into(connection: duckdb.DuckDBPyConnection, table: str, rows: list[tuple[object, ...]]) -> None:
    if rows:
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
