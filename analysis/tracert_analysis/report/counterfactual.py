"""Would the repair have helped? Adds it to the history and checks every rule again.

Where order lacks, it is the calls (`ordered`); where bytes are wrong, that they are right (`right_bytes`),
or that a clear has the right range (`clears`). Where the host went ahead, it is made to wait for a fence. A
clear that came too late is moved. A block of the workspace that was kept is given back (`given_back`); what
came to a row after that was another's is left out (`given_away`). Where no such act repairs anything, that is
said.
"""

from typing import NamedTuple

from tracert_analysis.load import Dump
from tracert_analysis.report.added import COUNTED, LEARNT, adding, clears, fences, with_added
from tracert_analysis.report.again import EVENTS_MAX, NOT_CHECKED, Edited, checked_again, count
from tracert_analysis.report.clears import with_right_range
from tracert_analysis.report.consequence import BYTES
from tracert_analysis.report.given_away import given_away
from tracert_analysis.report.given_back import given_back
from tracert_analysis.report.ordered import missing, ordered
from tracert_analysis.report.questions import Row
from tracert_analysis.report.right_bytes import MUST_CHANGE, right_bytes
from tracert_analysis.report.stories.content import WrongRange

# The host waits, before it writes a staging buffer, for the last publish that copies from it.
STAGED = fences("""
    SELECT p.stream, p.ordinal, p.seq AS behind, s.seq AS before
    FROM (
        SELECT e.seq, e.staging, c.stream
        FROM main.event AS e
        JOIN (SELECT DISTINCT staging, stream FROM main.launch WHERE kind = 'publish') AS c USING (staging)
        WHERE e.kind = 'stage'
    ) AS s
    ASOF JOIN (FROM main.launch WHERE kind = 'publish') AS p
        ON s.staging = p.staging AND s.stream = p.stream AND s.seq > p.seq""")

# Copies of which the source is let go too early.
RELEASED = """
    FROM main.finding AS f JOIN main.launch AS c ON f.launch = c.launch
    WHERE f.code = 'TR303' AND f.other_launch IS NULL AND c.seq < f.seq AND EXISTS (
        FROM main._extent AS x
        WHERE x.seq = c.seq AND x.mode = 'read' AND x.page = f.resource_id AND x.life = f.life
    )"""

# The host waits for the copy before the last holder of a page that it reads or writes lets go.
COPIED = fences(f"SELECT c.stream, c.ordinal, c.seq AS behind, f.seq AS before {RELEASED}")

COPY_RELEASED = f"SELECT count(*) {RELEASED} AND f.finding = $verdict"

# Copies that left a part of their plan out, by the last of their launches.
STOPPED_SHORT = """
    FROM main.finding AS f JOIN main.launch AS c ON f.launch = c.launch
    JOIN main.event AS p ON p.kind = 'copy_plan' AND p.seq = f.other_seq
    WHERE f.code = 'TR303' AND f.other_launch IS NULL AND c.kind = 'copy' AND EXISTS (
        FROM main._extent AS x
        WHERE x.seq = c.seq AND x.mode = 'write' AND x.page = f.resource_id AND x.life = f.life
    )"""

COPY_STOPPED_SHORT = f"SELECT count(*) {STOPPED_SHORT} AND f.finding = $verdict"

# That launch copies all that was planned, beside what it copied.
COPIED_WHOLE = f"""
CREATE VIEW event AS
SELECT e.* REPLACE (
    CASE WHEN s.seq IS NULL THEN e.source ELSE list_concat(e.source, s.source) END AS source,
    CASE WHEN s.seq IS NULL THEN e.target ELSE list_concat(e.target, s.target) END AS target
)
FROM main.event AS e LEFT JOIN (
    SELECT c.seq, flatten(list(p.source)) AS source, flatten(list(p.target)) AS target
    {STOPPED_SHORT} GROUP BY c.seq
) AS s ON e.seq = s.seq"""

# Clears that wipe what stands there already, and the pages that they wipe.
WIPED = """
CREATE TABLE _wiped AS
SELECT m.clear_page AS page, m.clear_life AS life, m.clear_seq, (
    SELECT min(s.first_seq) FROM main._span AS s WHERE s.page = m.clear_page AND s.life = m.clear_life
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

MOVED = clears("SELECT DISTINCT page, life, first_seq AS seq FROM _wiped")

LEFT_OUT = with_added(
    f"""{COUNTED},
    CASE WHEN x.clear_seq IS NULL THEN e.target
        ELSE list_filter(e.target, lambda t: NOT list_contains(x.wiped, [t[1], t[2]])) END AS target""",
    """LEFT JOIN (
    SELECT v.clear_seq, list([v.page::BIGINT, v.life::BIGINT]) AS wiped FROM _wiped AS v GROUP BY v.clear_seq
) AS x ON e.seq = x.clear_seq""",
)

WIPES = """
SELECT count(*) FROM main.finding AS f JOIN main._met AS m
    ON f.resource_id = m.clear_page AND f.life = m.clear_life
WHERE f.finding = $verdict AND f.code = 'TR104' AND m.kind = 'wiped' AND m.clear_seq = f.seq"""

# Before the host writes pages, or has others touch them, it waits for the streams that it should have.
ASKED = fences("""
    SELECT p.stream, p.ordinal, p.seq AS behind, o.seq AS before
    FROM (
        SELECT o.seq, e.stream
        FROM main._outside AS o, (
            SELECT DISTINCT l.stream FROM main.finding AS f
            JOIN main.launch AS l ON f.other_launch = l.launch
            SEMI JOIN main._outside AS x ON f.launch IS NULL AND f.seq = x.seq
        ) AS e
    ) AS o
    ASOF JOIN main.launch AS p ON o.stream = p.stream AND o.seq > p.seq""")

# The host sees an external writer done before the first act that should have come after it.
COMPLETED = adding("""
SELECT 4 * min(f.seq) - 4 AS seq, 'external_done' AS kind, o.actor, o.transaction
FROM main.finding AS f JOIN main._outside AS o ON f.other_launch IS NULL AND f.other_seq = o.seq
WHERE f.class IN ('order', 'lifetime') GROUP BY o.seq, o.actor, o.transaction""")

WITHOUT_STREAM = "SELECT count(*) FROM missing_edge($verdict) WHERE {end}_launch IS NULL"

NO_CALL = {
    "order": "not checked: what is missing is no call between two streams that could be added to the history",
    "lifetime": MUST_CHANGE.format(what="who holds the page, and when"),
    "mapping": MUST_CHANGE.format(what="what the row names, or how far the launch follows it"),
    "content": MUST_CHANGE.format(what="which bytes are taken for whose"),
    "resource": "not checked: no block of the workspace is known to be in the way",
    "symptom": "the history tells of no cause, so there is nothing to add to it",
    "TR303": "no fence and no clear would have helped: the copy must be launched whole, and before its "
    "source changes or is let go",
    "TR601": MUST_CHANGE.format(what="from where on the sequence is computed"),
}
"""Why nothing is checked, by the class of the verdict, or by its code where that says more."""


class Repair(NamedTuple):
    """A change of the history, and how it is told of."""

    name: str
    what: str
    statements: tuple[str, ...]


WAITED_STAGING = Repair(
    "staging",
    "a host that waits for the publish before it writes the buffer again",
    (STAGED, LEARNT, with_added()),
)
WAITED_COPY = Repair(
    "copied", "a host that waits for the copy before the page is let go", (COPIED, LEARNT, with_added())
)
WHOLE_COPY = Repair("whole", "a copy of all that was planned", (COPIED_WHOLE,))
WAITED_STREAMS = Repair(
    "waited",
    "a host that waits for the stream before it writes pages or has others touch them",
    (ASKED, LEARNT, with_added()),
)
SEEN_DONE = Repair(
    "seen",
    "a host that waits for the completion before anything else touches the page",
    (COMPLETED, with_added()),
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
    if root["code"] in BYTES:
        return right_bytes(dump, root, wrong)
    if root["code"] == "TR701":
        return given_back(dump, root) or Edited(NO_CALL["resource"], None)
    places = missing(dump, root)
    if places:
        return ordered(dump, root, places)
    if wrong is not None:
        sentence, left = with_right_range(dump, wrong)
        return Edited(sentence, left.same(root) is None, left=left)
    repair = None
    if root["code"] == "TR103":
        repair = WAITED_STAGING
    elif count(dump, WITHOUT_STREAM.format(end="from"), root):
        repair = SEEN_DONE
    elif count(dump, WITHOUT_STREAM.format(end="to"), root):
        repair = WAITED_STREAMS
    elif count(dump, COPY_RELEASED, root):
        repair = WAITED_COPY
    elif count(dump, COPY_STOPPED_SHORT, root):
        repair = WHOLE_COPY
    elif count(dump, WIPES, root):
        repair = MOVED_CLEAR
    if repair is None:
        why = NO_CALL.get(root["code"], NO_CALL[root["class"]])
        return given_away(dump, root) or Edited(why, None)
    left = checked_again(dump, repair.statements)
    if repair is MOVED_CLEAR and left.breaks:
        repair, left = MOVED_CLEARS, checked_again(dump, MOVED_CLEARS.statements)
    gone = left.same(root) is None and not (repair is MOVED_CLEARS and left.breaks)
    return Edited(left.told(f"with {repair.what},"), gone, left=left, helps=(repair.name,) if gone else ())
