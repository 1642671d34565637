"""How others of the same kind fared: the path that did better shows what the broken one leaves out."""

from collections.abc import Iterator
from dataclasses import replace

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.ends import ends
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.contrast import Contrast
from tracert_analysis.report.suspects import suspects

PUBLISHES = """
WITH followed AS (
    SELECT DISTINCT c.launch FROM row_content c JOIN _touch t USING (content)
    WHERE t.mode = 'walk' AND c.launch IS NOT NULL
),
loose AS (SELECT DISTINCT early_seq AS seq FROM _unordered_publish WHERE reason = 'publish')
SELECT p.stream, p.kernel, count(*) AS published, count(f.launch) AS followed,
    count(*) FILTER (f.launch IS NOT NULL AND l.seq IS NOT NULL) AS unordered
FROM launch p LEFT JOIN followed f USING (launch) LEFT JOIN loose l ON l.seq = p.seq
WHERE p.kind = 'publish' GROUP BY ALL ORDER BY unordered, p.stream, p.kernel"""

ASKED = ("publishes that launches follow, and how many of them are ordered", PUBLISHES)

# Which publish of its tenancy each is: what is the same in all that lack order, and in no other, is the path.
PLACES = """
WITH loose AS (SELECT DISTINCT early_seq AS seq FROM _unordered_publish WHERE reason = 'publish'),
placed AS (
    SELECT p.seq, l.seq IS NOT NULL AS loose,
        row_number() OVER (PARTITION BY p."row", p.generation ORDER BY p.seq) AS place
    FROM launch p LEFT JOIN loose l USING (seq) WHERE p.kind = 'publish'
)
SELECT count(*) FILTER (loose) AS loose, count(*) FILTER (loose AND place = 1) AS loose_first,
    count(*) FILTER (NOT loose) AS other, count(*) FILTER (NOT loose AND place = 1) AS other_first
FROM placed"""

# Who of the two came first: a launch that ran while the publish waited, or found what had not been published.
RACES = """
SELECT count(*) AS races,
    count(*) FILTER (o.state <> 'finished' AND l.state IN ('running', 'finished')) AS waiting,
    count(*) FILTER (o.state = 'finished' AND EXISTS (
        FROM guard_entry g WHERE g.differs AND g.launch = l.launch AND g."row" = f."row"
    )) AS differing
FROM finding f JOIN launch l ON l.launch = f.launch JOIN launch o ON o.launch = f.other_launch
WHERE f.code = 'TR102'"""

# Lives in which something was read, by what their page held in the life before.
REUSED = """
WITH wrote AS (
    SELECT page, life, bool_or(class = 'rows') AS "rows", max(seq) AS seq FROM byte_write
    WHERE class <> 'zero' AND launch IS NOT NULL GROUP BY page, life
),
again AS (
    SELECT p.page, p.life, w."rows", w.seq, (
        SELECT min(a.seq) FROM access a
        WHERE a.page = p.page AND a.life = p.life AND a.certain AND a.mode = 'read'
    ) AS read_seq
    FROM wrote w JOIN page_life p ON p.page = w.page AND p.life = w.life + 1 WHERE p.alloc_seq IS NOT NULL
)
SELECT "rows", count(*) AS used,
    count(*) FILTER (NOT spared AND EXISTS (
        FROM byte_write z
        WHERE z.page = again.page AND z.class = 'zero' AND z.seq > again.seq AND z.seq < again.read_seq
    )) AS cleared,
    count(*) FILTER (spared) AS partly,
    count(*) FILTER (EXISTS (
        FROM finding f WHERE f.code = 'TR301' AND f.resource_id = again.page AND f.life = again.life
    )) AS stale
FROM (
    SELECT *, EXISTS (FROM _spared s WHERE s.page = again.page AND s.life = again.life) AS spared
    FROM again WHERE read_seq IS NOT NULL
) AS again GROUP BY "rows" ORDER BY "rows\""""


def contrasts(
    questions: Questions, acts: Acts, row: Row | None, *, small: bool, whole: bool
) -> tuple[Contrast, ...]:
    """What is told beside a verdict of which `row` is the finding that the report tells of.

    `small` tells whether bytes can be followed in all of the history, `whole` whether it has its begin.
    """
    code = row["code"] if row is not None else None
    found: list[Contrast] = []
    if code == "TR102":
        found += _publishes(questions, acts, whole)
    elif code == "TR301" and small:
        found += _lives(questions)
    if row is not None and small:
        found += [*ends(questions, acts, row), *suspects(questions, row)]
    where = "" if whole else "in the recorded window: "
    return tuple(replace(item, text=f"{where}{item.text}") for item in found)


def _publishes(questions: Questions, acts: Acts, whole_history: bool) -> Iterator[Contrast]:
    told = questions.ask(*ASKED)
    for row in told.rows:
        whole, loose = row["followed"], row["unordered"]
        if whole:
            right = {0: "all", whole: "none"}.get(loose, f"{whole - loose} of these")
            verb = "is" if whole in (loose, loose + 1) else "are"
            how = f"{right} {verb} ordered before the launches that do"
            name = f"publishes by {row['kernel']} on {acts.stream_name(row['stream'])}"
            text = f"{name}: {row['published']}; launches follow {whole} of them, and {how}"
            yield Contrast(text, whole, whole - loose, told.query)
    yield from _pattern(questions, acts)
    raced = questions.ask("who came first where nothing orders them", RACES)
    found = raced.first
    if found is not None and found["races"]:
        yield Contrast(_races(found), found["races"], None, raced.query)
    if whole_history:
        yield from _places(questions)


def right_ways(questions: Questions) -> list[Row]:
    """Publishes by kernel and stream that are ordered every time, where others of their kernel are not."""
    rows = questions.ask(*ASKED).rows
    broken = {row["kernel"] for row in rows if row["unordered"]}
    return [row for row in rows if row["followed"] and not row["unordered"] and row["kernel"] in broken]


def _pattern(questions: Questions, acts: Acts) -> Iterator[Contrast]:
    """The way that some launches of the same kernel went on another stream, where it was right every time."""
    for row in right_ways(questions):
        times = row["followed"]
        text = (
            f"the right pattern is in this history: {row['kernel']} on {acts.stream_name(row['stream'])} is "
        )
        text += f"ordered before the launches that follow what it publishes, {times} of {times} times"
        yield Contrast(text, times, times, questions.ask(*ASKED).query)


def _places(questions: Questions) -> Iterator[Contrast]:
    """What all publishes without order have in common against the others, of their place in a tenancy."""
    told = questions.ask("which publish of its row's generation each is", PLACES)
    row = told.first
    if row is None or not row["loose"] or not row["other"]:
        return
    loose, first, other, theirs = (row[name] for name in ("loose", "loose_first", "other", "other_first"))
    if first == loose and theirs < other:
        alike = "the first of its row's generation" if loose == 1 else "the first of their row's generation"
        rest = f"{theirs or 'none'} of the {other} others {'are' if theirs > 1 else 'is'}"
    elif first == 0 and theirs == other:
        alike = "behind the first of a generation"
        rest = f"the {other} others are the first of theirs"
    else:
        return
    which = f"all {loose} publishes without order are" if loose > 1 else "the one publish without order is"
    yield Contrast(f"{which} {alike}; {rest}", loose, None, told.query, "in common")


def _races(found: Row) -> str:
    races, waiting, differing = found["races"], found["waiting"], found["differing"]
    parts = []
    if waiting:
        parts.append(f"in {waiting} the launch ran while the publish still waited")
    if differing:
        parts.append(f"in {differing} a guarded launch found what had not been published")
    if left := races - waiting - differing:
        parts.append(f"in {left} the history does not tell")
    which = "of the one that was" if races == 1 else f"of the {races} that were"
    return f"which ran first, the publish or the launch that follows it, {which} found: {', '.join(parts)}"


def _lives(questions: Questions) -> Iterator[Contrast]:
    told = questions.ask("pages that were read in their next life, and how many were cleared for it", REUSED)
    for row in told.rows:
        held = "state rows" if row["rows"] else "keys and values"
        text = f"pages read in the life after one in which they held {held}: {row['used']}, of which "
        were = "was" if row["cleared"] == 1 else "were"
        text += f"{row['cleared']} {were} cleared first" if row["cleared"] else "none was cleared first"
        if row["partly"]:
            text += f", {row['partly']} only in part"
        text += f"; stale bytes were loaded of {row['stale'] or 'none'}"
        yield Contrast(text, row["used"], row["cleared"], told.query)
