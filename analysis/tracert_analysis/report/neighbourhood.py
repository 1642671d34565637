"""What lies around a page as of one seq: its neighbours, who touched it, and what is not there."""

from collections.abc import Iterator
from itertools import product

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.facts import Act, Negative, Touched
from tracert_analysis.report.questions import Questions, Row, Told
from tracert_analysis.report.stories.page import Extent, Neighbour

AROUND = 3
"""Pages on either side."""

NEIGHBOURS = """
SELECT p.page, l.life,
    CASE
        WHEN len(h.now) > 0 THEN 'held'
        WHEN l.life IS NULL THEN CASE WHEN w.complete THEN 'never granted' ELSE 'unknown' END
        WHEN l.free_seq <= $at THEN 'free'
        WHEN l.retire_seq <= $at THEN 'retired'
        WHEN l.known_from IS NULL THEN 'unknown'
        ELSE 'held by nobody'
    END AS state,
    coalesce(h.now, h.last, []) AS holders
FROM (SELECT unnest(range($first, $last + 1)) AS page) AS p CROSS JOIN _window AS w
LEFT JOIN (
    SELECT page, max(life) AS life, arg_max(free_seq, life) AS free_seq,
        arg_max(retire_seq, life) AS retire_seq, arg_max(known_from, life) AS known_from
    FROM page_life WHERE page BETWEEN $first AND $last AND coalesce(alloc_seq, 0) <= $at GROUP BY page
) AS l USING (page)
LEFT JOIN (
    SELECT page,
        list(holder ORDER BY mode DESC, from_seq) FILTER (until_seq IS NULL OR until_seq > $at) AS now,
        [arg_max(holder, until_seq) FILTER (until_seq <= $at)] AS last
    FROM holding WHERE page BETWEEN $first AND $last AND from_seq <= $at GROUP BY page
) AS h USING (page)
ORDER BY p.page"""

TOUCHED = """
SELECT a.life, a.mode, CASE WHEN l.launch IS NOT NULL THEN l.kernel END AS kernel, l.kind, l.stream,
    count(*) AS times
FROM (
    SELECT DISTINCT seq, life, mode FROM access WHERE page = $page AND certain AND seq <= $at
) AS a JOIN _act AS l USING (seq)
GROUP BY ALL ORDER BY a.life DESC, a.mode DESC, times DESC, kernel, l.stream"""

EXTENT = """
SELECT launch, mode, min(first) AS first, max("end") AS "end"
FROM access WHERE page = $page AND launch IN ($launch, $other)
GROUP BY launch, mode HAVING max("end") > min(first) ORDER BY mode DESC"""

DOES = {"read": "reads", "write": "writes"}


def neighbours(
    questions: Questions, page: int, at: int, pages: int | None
) -> tuple[tuple[Neighbour, ...], int]:
    """The pages around `page`, and itself, of a pool of so many; and the question's number."""
    last = page + AROUND if pages is None else min(page + AROUND, pages - 1)
    first = max(0, min(page, last) - AROUND)
    told = questions.ask(f"the pages around page {page}", NEIGHBOURS, first=first, last=last, at=at)
    found = tuple(
        Neighbour(row["page"], row["life"], row["state"], tuple(name for name in row["holders"] if name))
        for row in told.rows
    )
    return found, told.query


def touched(questions: Questions, acts: Acts, page: int, at: int) -> tuple[tuple[Touched, ...], int]:
    """Which kernels wrote and read which life of the page, and how often; and the question's number."""
    told = questions.ask(f"kernels that touched page {page}", TOUCHED, page=page, at=at)
    return tuple(
        Touched(
            row["life"],
            row["mode"],
            row["kernel"] or row["kind"],
            acts.stream_name(row["stream"]),
            row["times"],
        )
        for row in told.rows
    ), told.query


def extent(questions: Questions, page: int, act: Act | None, other: Act | None) -> Extent | None:
    """The positions of the page that the act touches, or of these the ones that the other act does, too."""
    if act is None:
        return None
    told = questions.ask(
        f"positions of page {page} that launch {act.launch} touches",
        EXTENT,
        page=page,
        launch=act.launch,
        other=other.launch if other is not None else act.launch,
    )
    mine = [row for row in told.rows if row["launch"] == act.launch]
    theirs = [row for row in told.rows if other is not None and row["launch"] == other.launch != act.launch]
    if not mine:
        return None
    # What they do to the same positions, one of them writing: a write of this launch says the most.
    for own, their in product(mine, theirs):
        first, end = max(own["first"], their["first"]), min(own["end"], their["end"])
        if first < end and "write" in (own["mode"], their["mode"]):
            what = f"{_does(act.launch, [own])}, {_does(their['launch'], [their])}"
            return Extent(first, end, what)
    first, end = min(row["first"] for row in mine), max(row["end"] for row in mine)
    return Extent(first, end, _does(act.launch, mine))


def _does(launch: int, rows: list[Row]) -> str:
    """What a launch does to positions; where it does not the same to all of them, that it touches them."""
    alike = len({(row["first"], row["end"]) for row in rows}) == 1
    modes = [DOES.get(row["mode"], "touches") for row in reversed(rows)]
    return f"launch {launch} {' and '.join(modes) if alike else 'touches'}"


def not_found(
    page: int,
    life: int | None,
    at: int,
    holders: Told,
    lives: Told,
    kernels: tuple[Touched, ...],
    query: int,
    whole: bool,
) -> Iterator[Negative]:
    """What might have explained something, was looked for up to seq `at`, and is not in the history.

    Of one that is not whole, none of it says more than that.
    """
    if life is None:
        return
    where = "" if whole else " in the recorded window"
    name = f"page {page}.{life}"
    held = {row["holder"] for row in holders.rows if row["life"] == life}
    if len(held) == 1:
        yield Negative(f"no other holder of {name} in the recorded window", holders.query)
    if not held:
        yield Negative(f"no holder of {name} in the recorded window", holders.query)
    if len(lives.rows) == 1:
        yield Negative(f"nobody had page {page} in another life in the recorded window", lives.query)
    writers = {
        (found.kernel, found.stream_name) for found in kernels if found.life == life and found.mode == "write"
    }
    streams = {stream for _, stream in writers}
    if not writers:
        yield Negative(f"no write of {name}{where}, up to seq {at}", query)
    elif len(streams) == 1:
        yield Negative(f"no write of {name} on another stream than {streams.pop()}{where}", query)
    if not any(found.life == life and found.mode == "read" for found in kernels):
        yield Negative(f"no read of {name}{where}, up to seq {at}", query)
