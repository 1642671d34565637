"""Would the repair have helped? Adds it to the history and checks every rule again.

A call belongs to a place in the code, not to one launch: a fence is added behind every launch of the
earlier act's kernel and stream, and a wait before the next launch of the later act's stream. Where the
verdict is still there, for it lacks order with other streams, too, they are waited for as well. Where the
host went ahead, it is made to wait for a fence. Where bytes are wrong, it is a clear before the first use
of the page, or a kernel that loads no more than is valid; where nobody computed them, the launch that
started behind them starts earlier. A clear that came too late is moved. A block of the workspace that was
kept is given back (`given_back`); what came to a row after that was another's is left out (`given_away`).
Where no such act repairs anything, that is said.
"""

from typing import Any, NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.again import EVENTS_MAX, NOT_CHECKED, Edited, checked_again, of_dump, schema
from tracert_analysis.report.clears import with_right_range
from tracert_analysis.report.given_away import given_away
from tracert_analysis.report.given_back import given_back
from tracert_analysis.report.questions import Row, literal
from tracert_analysis.report.stories import WrongRange

BYTES = ("TR301", "TR302")
"""Findings that a clear would have prevented."""

# Of the verdict alone: what other findings lack is no answer to it.
PLACE = """
SELECT DISTINCT early.kernel, early.stream, late.stream AS to_stream, early.launch, late.launch AS to_launch
FROM main.finding f
JOIN main.launch early ON early.launch = f.other_launch
JOIN main.launch late ON late.launch = f.launch
WHERE f.finding = $verdict AND early.seq < late.seq AND early.stream <> late.stream
    AND late.clock[early.stream + 1] < early.ordinal AND early.kernel IS NOT NULL"""

# Who used the life before a page's new one, on each stream last, and is not ordered before its first use.
USERS = """
SELECT DISTINCT early.kernel, early.stream, late.stream AS to_stream, early.launch, late.launch AS to_launch
FROM main.finding f
JOIN main.launch late ON late.launch = f.launch
JOIN (
    SELECT page, life, lag(life) OVER (PARTITION BY page ORDER BY life) AS previous
    FROM (SELECT DISTINCT page, life FROM main._span)
) AS b ON b.page = f.resource_id AND b.life = f.life
JOIN main._span s
    ON s.page = b.page AND s.life = b.previous AND s.stream <> late.stream AND s.last_seq < late.seq
JOIN main.launch early ON early.seq = s.last_seq
WHERE f.finding = $verdict AND f.code = 'TR202' AND late.clock[early.stream + 1] < early.ordinal
    AND early.kernel IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY early.stream ORDER BY early.seq DESC) = 1"""

ROUNDS = 8
"""So many streams at most are waited for beside the first."""

# Every launch of those kernels and the next one of the stream that goes on.
PAIRED = """
(SELECT l.*, p.to_stream FROM main.launch AS l JOIN (VALUES {places}) AS p (kernel, stream, to_stream)
    USING (kernel, stream)) AS early
ASOF JOIN main.launch AS late ON early.to_stream = late.stream AND early.seq < late.seq"""

# Between two events three numbers become free: for a fence behind the one and a wait before the other.
FENCES = f"""
CREATE TABLE _fence AS
SELECT (SELECT coalesce(max(fence) FILTER (fence < 1e18), 0) FROM main.event) + row_number() OVER () AS fence,
    early.stream, early.ordinal, 4 * early.seq - 2 AS record_seq, late.stream AS to_stream,
    4 * late.seq - 4 AS wait_seq
FROM {PAIRED}"""

ADDED = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT record_seq AS seq, 'fence_record' AS kind, fence, stream, ordinal FROM _fence;
INSERT INTO _added BY NAME
SELECT wait_seq AS seq, 'fence_wait' AS kind, fence, to_stream AS stream, record_seq FROM _fence"""

EVENTS = """
CREATE VIEW event AS
SELECT * REPLACE (
    4 * seq - 3 AS seq,
    CASE WHEN record_seq BETWEEN 1 AND 1e18 THEN 4 * record_seq - 3 WHEN record_seq >= 0 THEN 0
    END AS record_seq
) FROM main.event
UNION ALL BY NAME FROM _added"""

CALLS = f"SELECT count(*) FROM {PAIRED}"

# A clear of each page that a finding names, just before the first launch that uses it in that life, and on
# its stream. Ordinals are doubled: the clear takes the free one before that launch.
CLEARS = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT 4 * l.seq - 4 AS seq, 'clear' AS kind,
    (SELECT max(launch) FROM main.launch) + row_number() OVER (ORDER BY l.seq) AS launch, l.stream,
    2 * l.ordinal - 1 AS ordinal, 'clear_pages' AS kernel, u.target
FROM (
    SELECT s.seq, list([s.page, s.life, 0, w.page_size::BIGINT]) AS target
    FROM (
        SELECT f.resource_id AS page, f.life::BIGINT AS life, min(s.first_seq) AS seq
        FROM main.finding f JOIN main._span s ON s.page = f.resource_id AND s.life = f.life
        WHERE f.code IN ('TR301', 'TR302') GROUP BY f.resource_id, f.life
    ) AS s, main._window AS w GROUP BY s.seq
) AS u JOIN main.launch AS l ON l.seq = u.seq"""

CLEARED = """
CREATE VIEW event AS
SELECT * REPLACE (
    4 * seq - 3 AS seq, CASE WHEN ordinal < 1e18 THEN 2 * ordinal END AS ordinal,
    CASE WHEN record_seq BETWEEN 1 AND 1e18 THEN 4 * record_seq - 3 WHEN record_seq >= 0 THEN 0
    END AS record_seq
) FROM main.event
UNION ALL BY NAME FROM _added"""

NARROWED = """
CREATE VIEW event AS
SELECT e.* REPLACE (list_transform(e.uses, lambda u: {
    'row': u."row", 'generation': u.generation, 'start': u.start, 'end': u."end",
    'walked': least(u.walked, ceil(u."end" / w.page_size)::UINTEGER), 'covers': 'valid'
}) AS uses) FROM main.event AS e, main._window AS w"""

# Each launch that left positions of a sequence out computes them, too.
STARTED = """
CREATE VIEW event AS
SELECT e.* REPLACE (list_transform(e.uses, lambda u: {
    'row': u."row", 'generation': u.generation, 'start': coalesce(list_filter(
        s.skips, lambda k: k."row" = u."row" AND k.generation = u.generation
    )[1].first, u.start), 'end': u."end", 'walked': u.walked, 'covers': u.covers
}) AS uses)
FROM main.event AS e LEFT JOIN (
    SELECT k.seq, list({'row': k."row", 'generation': k.generation, 'first': k.first}) AS skips
    FROM main._skip AS k GROUP BY k.seq
) AS s ON e.seq = s.seq"""

# The verdict is about positions that a launch takes for valid.
MIXED = """
SELECT count(*) FROM main.finding AS f JOIN main._met AS m
    ON f.resource_id = m.page AND f.life = m.life AND f.seq = m.seq AND f.code = 'TR301'
WHERE f.finding = $verdict AND m.kind = 'mixed'"""

MEANT = """
SELECT count(*) FROM main.finding AS f
JOIN main._met AS m ON f.seq = m.seq AND f.resource_id = m.page AND f.life = m.life
WHERE f.finding = $verdict AND f.code IN ('TR301', 'TR302')
    AND m.kind IN ('stale', 'unwritten', 'blank', 'untold') AND m.meant"""

LEFT_OUT_OF_ROW = f"{MEANT} AND m.before_seq IS NOT NULL"

SKIPS = "SELECT count(*) FROM main._skip"

# The host waits, before it writes a staging buffer, for the last publish that copies from it.
STAGED = """
CREATE TABLE _fence AS
SELECT (SELECT coalesce(max(fence) FILTER (fence < 1e18), 0) FROM main.event) + row_number() OVER () AS fence,
    p.stream, p.ordinal, 4 * p.seq - 2 AS record_seq, 4 * s.seq - 4 AS passed_seq
FROM (
    SELECT e.seq, e.staging, c.stream
    FROM main.event AS e
    JOIN (SELECT DISTINCT staging, stream FROM main.launch WHERE kind = 'publish') AS c USING (staging)
    WHERE e.kind = 'stage'
) AS s
ASOF JOIN (FROM main.launch WHERE kind = 'publish') AS p
    ON s.staging = p.staging AND s.stream = p.stream AND s.seq > p.seq"""

# The host waits for the copy before the last holder of a page that it reads or writes lets go.
COPIED = """
CREATE TABLE _fence AS
SELECT (SELECT coalesce(max(fence) FILTER (fence < 1e18), 0) FROM main.event) + row_number() OVER () AS fence,
    c.stream, c.ordinal, 4 * c.seq - 2 AS record_seq, 4 * f.seq - 4 AS passed_seq
FROM main.finding AS f JOIN main.launch AS c ON f.launch = c.launch
WHERE f.code = 'TR303' AND f.other_launch IS NULL AND c.kind = 'copy' AND c.seq < f.seq"""

LEARNT = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT record_seq AS seq, 'fence_record' AS kind, fence, stream, ordinal FROM _fence;
INSERT INTO _added BY NAME SELECT passed_seq AS seq, 'fence_passed' AS kind, fence FROM _fence"""

COPY_RELEASED = """
SELECT count(*) FROM main.finding AS f JOIN main.launch AS c ON f.launch = c.launch
WHERE f.finding = $verdict AND f.code = 'TR303' AND f.other_launch IS NULL AND c.kind = 'copy'
    AND c.seq < f.seq"""

# Clears that wipe what stands there already, and the pages that they wipe.
WIPED = """
CREATE TABLE _wiped AS
SELECT m.page, m.life, m.clear_seq, (
    SELECT min(s.first_seq) FROM main._span AS s WHERE s.page = m.page AND s.life = m.life
) AS first_seq
FROM main._met AS m WHERE m.kind = 'wiped'"""

# All clears by the same code that come behind the first use of their page, whether or not that shows.
LATE = """
CREATE TABLE _wiped AS
SELECT c.page, c.life, c.seq AS clear_seq, min(s.first_seq) AS first_seq
FROM (
    SELECT e.seq, unnest(e.target)[1] AS page, unnest(e.target)[2] AS life FROM main.event AS e
    JOIN main.launch AS l ON e.seq = l.seq
    WHERE e.kind = 'clear' AND EXISTS (
        FROM main._met AS m JOIN main.launch AS k ON m.clear_seq = k.seq
        WHERE m.kind = 'wiped' AND k.kernel = l.kernel AND k.stream = l.stream
    )
) AS c JOIN main._span AS s ON c.page = s.page AND c.life = s.life
GROUP BY c.page, c.life, c.seq HAVING min(s.first_seq) < c.seq"""

MOVED = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT 4 * l.seq - 4 AS seq, 'clear' AS kind,
    (SELECT max(launch) FROM main.launch) + row_number() OVER (ORDER BY l.seq) AS launch, l.stream,
    2 * l.ordinal - 1 AS ordinal, 'clear_pages' AS kernel, u.target
FROM (
    SELECT x.first_seq AS seq, list([x.page, x.life, 0, w.page_size::BIGINT]) AS target
    FROM (SELECT DISTINCT page, life, first_seq FROM _wiped) AS x, main._window AS w GROUP BY x.first_seq
) AS u JOIN main.launch AS l ON l.seq = u.seq"""

LEFT_OUT = """
CREATE VIEW event AS
SELECT e.* REPLACE (
    4 * e.seq - 3 AS seq, CASE WHEN e.ordinal < 1e18 THEN 2 * e.ordinal END AS ordinal,
    CASE WHEN e.record_seq BETWEEN 1 AND 1e18 THEN 4 * e.record_seq - 3 WHEN e.record_seq >= 0 THEN 0
    END AS record_seq,
    CASE WHEN x.clear_seq IS NULL THEN e.target
        ELSE list_filter(e.target, lambda t: NOT list_contains(x.wiped, [t[1], t[2]])) END AS target
)
FROM main.event AS e
LEFT JOIN (
    SELECT v.clear_seq, list([v.page::BIGINT, v.life::BIGINT]) AS wiped FROM _wiped AS v GROUP BY v.clear_seq
) AS x ON e.seq = x.clear_seq
UNION ALL BY NAME FROM _added"""

WIPES = """
SELECT count(*) FROM main.finding AS f JOIN main._met AS m ON f.resource_id = m.page AND f.life = m.life
WHERE f.finding = $verdict AND f.code = 'TR104' AND m.kind = 'wiped' AND m.clear_seq = f.seq"""

# Before the host writes pages, or has others touch them, it waits for the streams that it should have.
ASKED = """
CREATE TABLE _fence AS
SELECT (SELECT coalesce(max(fence) FILTER (fence < 1e18), 0) FROM main.event) + row_number() OVER () AS fence,
    p.stream, p.ordinal, 4 * p.seq - 2 AS record_seq, 4 * o.seq - 4 AS passed_seq
FROM (
    SELECT o.seq, e.stream
    FROM main._outside AS o, (
        SELECT DISTINCT l.stream FROM main.finding AS f
        JOIN main.launch AS l ON f.other_launch = l.launch
        SEMI JOIN main._outside AS x ON f.launch IS NULL AND f.seq = x.seq
    ) AS e
) AS o
ASOF JOIN main.launch AS p ON o.stream = p.stream AND o.seq > p.seq"""

# The host sees an external writer done before the first act that should have come after it.
COMPLETED = """
CREATE TABLE _added AS FROM main.event LIMIT 0;
INSERT INTO _added BY NAME
SELECT 4 * min(f.seq) - 4 AS seq, 'external_done' AS kind, o.actor, o.transaction
FROM main.finding AS f JOIN main._outside AS o ON f.other_launch IS NULL AND f.other_seq = o.seq
WHERE f.class IN ('order', 'lifetime') GROUP BY o.seq, o.actor, o.transaction"""

WITHOUT_STREAM = "SELECT count(*) FROM missing_edge($verdict) WHERE {end}_launch IS NULL"

# What ranks decided is not asked again.
BROKEN = "SELECT count(*) FROM main.finding WHERE class <> 'symptom' AND code <> 'TR801'"

WHOLE = "SELECT count(*) FROM main._use WHERE covers = 'page'"

NO_CALL = {
    "order": "not checked: what is missing is no call between two streams that could be added to the history",
    "lifetime": "no fence and no clear would have helped: what must change is who holds the page, and when",
    "mapping": "no fence and no clear would have helped: what must change is what the row names, or how far "
    "the launch follows it",
    "content": "no fence and no clear would have helped: what must change is which bytes are taken for whose",
    "resource": "not checked: no block of the workspace is known to be in the way",
    "symptom": "the history tells of no cause, so there is nothing to add to it",
    "TR303": "no fence and no clear would have helped: the copy must be launched whole, and before its "
    "source changes or is let go",
    "uncomputed": "no fence and no clear would have helped: what must change is which positions are "
    "computed, or brought, before a launch takes them for valid",
    "mixed": "no fence and no clear would have helped: what must change is where state rows are stored",
    "TR601": "no fence and no clear would have helped: what must change is from where on the sequence is "
    "computed",
}
"""Why nothing is checked, by the class of the verdict, or by its code or kind where that says more."""


class Repair(NamedTuple):
    """A change of the history, and how it is told of."""

    name: str
    what: str
    statements: tuple[str, ...]


WAITED_STAGING = Repair(
    "staging", "a host that waits for the publish before it writes the buffer again", (STAGED, LEARNT, EVENTS)
)
WAITED_COPY = Repair(
    "copied", "a host that waits for the copy before the page is let go", (COPIED, LEARNT, EVENTS)
)
WAITED_STREAMS = Repair(
    "waited",
    "a host that waits for the stream before it writes pages or has others touch them",
    (ASKED, LEARNT, EVENTS),
)
SEEN_DONE = Repair(
    "seen", "a host that waits for the completion before anything else touches the page", (COMPLETED, EVENTS)
)
MOVED_CLEAR = Repair(
    "before", "the clear moved to before the first use of the page", (WIPED, MOVED, LEFT_OUT)
)
MOVED_CLEARS = Repair(
    "before", "every clear by this code moved to before the first use of its page", (LATE, MOVED, LEFT_OUT)
)


def counterfactual(dump: Dump, root: Row, wrong: WrongRange | None = None) -> Edited:
    """What is left of the findings when what the verdict `root` lacked is added; or why nothing was tried.

    `wrong`: the clear that ran in time over the wrong positions, where one did.
    """
    if root["class"] != "symptom" and dump.evidence.events > EVENTS_MAX:
        return Edited(NOT_CHECKED, None)
    broken = _count(dump, BROKEN, root)
    if root["code"] in BYTES:
        return _bytes(dump, broken, root, wrong)
    if root["code"] == "TR701":
        return given_back(dump, broken, root) or Edited(NO_CALL["resource"], None)
    places = missing(dump, root)
    if places:
        return _ordered(dump, broken, root, places)
    if wrong is not None:
        sentence, left = with_right_range(dump, broken, wrong)
        return Edited(sentence, left.same(root) is None, left=left)
    repair = None
    if root["code"] == "TR103":
        repair = WAITED_STAGING
    elif _count(dump, WITHOUT_STREAM.format(end="from"), root):
        repair = SEEN_DONE
    elif _count(dump, WITHOUT_STREAM.format(end="to"), root):
        repair = WAITED_STREAMS
    elif _count(dump, COPY_RELEASED, root):
        repair = WAITED_COPY
    elif _count(dump, WIPES, root):
        repair = MOVED_CLEAR
    if repair is None:
        why = NO_CALL.get(root["code"], NO_CALL[root["class"]])
        return given_away(dump, broken, root) or Edited(why, None)
    left = checked_again(dump, repair.statements)
    if repair is MOVED_CLEAR and left.breaks:
        repair, left = MOVED_CLEARS, checked_again(dump, MOVED_CLEARS.statements)
    sentence = f"with {repair.what}, and every rule checked again, {left.what(broken)}"
    gone = left.same(root) is None and not (repair is MOVED_CLEARS and left.breaks)
    return Edited(sentence, gone, left=left, helps=(repair.name,) if gone else ())


class Place(NamedTuple):
    """Where order lacks: behind the launches of a kernel on a stream, before the next ones of another."""

    kernel: str
    stream: int
    to_stream: int
    launch: int
    """The launch that shows it."""
    to_launch: int


def missing(dump: Dump, root: Row) -> list[Place]:
    """Where the verdict lacks order, what it names first; empty where that is not what it lacks."""
    found = [Place(*row) for row in _rows(dump, PLACE, root)]
    if not found:
        return []
    return [*found[:1], *(place for place in _places(dump, root) if place[:3] != found[0][:3])]


def _places(dump: Dump, root: Row) -> list[Place]:
    return [Place(*row) for row in _rows(dump, USERS, root)] if root["code"] == "TR202" else []


def _ordered(dump: Dump, broken: int, root: Row, places: list[Place]) -> Edited:
    """With the calls at those places, and at others where the verdict is still there for lack of them."""
    for _ in range(ROUNDS):
        listed = ", ".join(
            f"({literal(place.kernel)}, {place.stream}, {place.to_stream})" for place in places
        )
        left = checked_again(dump, (FENCES.format(places=listed), ADDED, EVENTS))
        again = left.same(root)
        if again is None or not again["loose"] or again["early_kernel"] is None:
            break
        place = Place(
            again["early_kernel"],
            again["other_stream"],
            again["stream"],
            again["other_launch"],
            again["launch"],
        )
        if any(place[:3] == known[:3] for known in places):
            break
        places = [*places, place]
    calls = _count(dump, CALLS.format(places=listed), root)
    times = "once" if calls == 1 else f"in all {calls} places where this code runs"
    what = {1: "the call", 2: "both calls"}.get(len(places), f"all {len(places)} calls")
    sentence = (
        f"with {what} added to the recorded history ({times}) and every rule checked again, "
        f"{left.what(broken)}"
    )
    beside = tuple((place.launch, place.to_launch) for place in places[1:])
    return Edited(sentence, again is None, beside, left)


def _rows(dump: Dump, query: str, root: Row) -> list[tuple[Any, ...]]:
    return dump.connection.execute(of_dump(query, schema(dump), root["finding"])).fetchall()


def _count(dump: Dump, query: str, root: Row) -> int:
    return int(_rows(dump, query, root)[0][0])


def are_mixed(dump: Dump, root: Row) -> bool:
    """Does the verdict tell of state rows that are read as keys and values, or of the reverse?"""
    return _count(dump, MIXED, root) > 0


def _bytes(dump: Dump, before: int, root: Row, wrong: WrongRange | None) -> Edited:
    if _count(dump, LEFT_OUT_OF_ROW, root):
        times = _count(dump, SKIPS, root)
        where = "" if times == 1 else f" (in all {times} places where one starts late)"
        left = checked_again(dump, (STARTED,))
        return Edited(
            f"with the launch started where the one before it had ended{where}, and every rule checked "
            f"again, {left.what(before)}",
            left.same(root) is None,
            left=left,
        )
    if are_mixed(dump, root):
        return Edited(NO_CALL["mixed"], None)
    if _count(dump, MEANT, root):
        return Edited(NO_CALL["uncomputed"], None)
    left = checked_again(dump, (CLEARS, CLEARED))
    sentence = (
        "with a clear of the page added to the recorded history before its first use, and every rule checked "
        f"again, {left.what(before)}"
    )
    tried = {"clear": left.same(root) is None}
    if _count(dump, WHOLE, root):
        narrowed = checked_again(dump, (NARROWED,))
        tried["narrow"] = narrowed.same(root) is None
        sentence = f"{sentence}; with kernels that load valid positions only, {narrowed.what(before)}"
    if wrong is not None:
        told, ranged = with_right_range(dump, before, wrong)
        tried["range"] = ranged.same(root) is None
        sentence = f"{sentence}; {told}"
    fails = tuple(name for name, helps in tried.items() if not helps)
    helps = tuple(name for name, helps in tried.items() if helps)
    return Edited(sentence, bool(helps), fails=fails if len(tried) > 1 else (), helps=helps)
