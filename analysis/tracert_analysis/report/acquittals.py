"""What is acquitted: facts that could have been the cause, were looked up, and are right.

Each acquittal is one query that counts what it looked at and what it found wrong. It stands only when it
looked at something and found nothing wrong; what the history cannot say is not acquitted. Pages and rows of
which a finding of that kind tells are left out, and named: no acquittal contradicts a finding.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tracert_analysis.report.facts import Act, Resource
from tracert_analysis.report.phrases import counted
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.report import Acquittal

ORDER_CODES = ("TR101", "TR104", "TR202", "TR303", "TR502")
"""Findings that contradict that the accesses of a page are ordered."""
OWNER_CODES = ("TR201", "TR203", "TR204", "TR205", "TR206", "TR303", "TR401", "TR402", "TR503")
"""Findings that contradict that a page is its user's."""
WRITER_CODES = ("TR205", "TR206")
"""Findings that contradict that one holder at most writes a page."""
ID_CODES = ("TR206", "TR401")
"""Findings that contradict that an entry names a page that may be named."""
PUBLISH_CODES = ("TR102",)
"""Findings that contradict that a row is used after its publish."""
UNTOLD_CODES = ("TR103",)
"""Findings after which a row is not known to hold what was meant: nothing found through it is acquitted."""

LISTED = 4
"""Of what is left out so many are named."""


def listed(codes: tuple[str, ...]) -> str:
    """Codes as a list in SQL."""
    return ", ".join(f"'{code}'" for code in codes)


def apart(codes: tuple[str, ...]) -> str:
    """The condition that no finding of these codes tells of the page of an access `a`, or of its row."""
    return f"""NOT EXISTS (
        FROM finding f
        WHERE f.code IN ({listed(codes)}) AND f.resource_kind = 'page' AND f.resource_id = a.page
    ) AND NOT EXISTS (
        FROM finding f
        WHERE (f.code IN ({listed(codes)}) AND f.resource_kind = 'row' OR f.code IN ({listed(UNTOLD_CODES)}))
            AND f."row" = a."row" AND f.generation = a.generation
    )"""


def left_out(codes: tuple[str, ...]) -> str:
    """What the condition leaves out of a launch, and the findings that tell of it."""
    return f"""
SELECT what, string_agg(code, ', ' ORDER BY code) AS codes FROM (
SELECT 'page ' || a.page AS what, f.code FROM access a
JOIN finding f ON f.resource_kind = 'page' AND f.resource_id = a.page AND f.code IN ({listed(codes)})
WHERE a.launch = $launch AND a.certain
UNION
SELECT 'row ' || a."row", f.code FROM access a
JOIN finding f ON f."row" = a."row" AND f.generation = a.generation
    AND (f.code IN ({listed(codes)}) AND f.resource_kind = 'row' OR f.code IN ({listed(UNTOLD_CODES)}))
WHERE a.launch = $launch AND a.certain
) GROUP BY what ORDER BY what"""


OWNERS = f"""
SELECT count(*) AS checked, count(*) FILTER (NOT held) AS wrong FROM (
    SELECT DISTINCT a.page, a.life, EXISTS (
        FROM holding h WHERE h.page = a.page AND h.life = a.life
            AND h.from_seq <= a.seq AND (h.until_seq IS NULL OR h.until_seq > a.seq)
            AND (a.request IS NULL OR h.holder = 'request:' || a.request)
    ) AS held
    FROM access a WHERE a.launch = $launch AND a.certain
    AND {apart(OWNER_CODES)}
)"""

WRITERS = f"""
SELECT count(*) AS checked, count(*) FILTER (writers > 1) AS wrong FROM (
    SELECT a.page, (
        SELECT count(DISTINCT h.holder) FROM holding h WHERE h.page = a.page AND h.mode = 'write'
            AND h.from_seq <= any_value(a.seq) AND (h.until_seq IS NULL OR h.until_seq > any_value(a.seq))
    ) AS writers
    FROM access a WHERE a.launch = $launch AND a.certain
    AND EXISTS (FROM page_life p WHERE p.page = a.page AND p.life = a.life AND p.known_from <= a.seq)
    AND {apart(WRITER_CODES)}
    GROUP BY a.page
)"""

IDS = f"""
SELECT count(*) AS checked, count(*) FILTER (page < 1 OR page >= $pages) AS wrong FROM (
    SELECT DISTINCT a."row", a."index", a.page FROM access a
    WHERE a.launch = $launch AND a.certain AND a."row" IS NOT NULL
    AND {apart(ID_CODES)}
)"""

OTHER_ROWS = f"""
SELECT "row", any_value(generation) AS generation, count(*) AS checked,
    count(*) FILTER (NOT ordered) AS wrong
FROM (
    SELECT DISTINCT a."row", a.generation, p.launch,
        p.stream = l.stream OR p.ordinal <= l.clock[p.stream + 1] AS ordered
    FROM access a JOIN launch l ON l.launch = a.launch
    JOIN row_content c ON c."row" = a."row" AND c."index" = a."index"
        AND c.seq < a.seq AND (c.until_seq IS NULL OR c.until_seq > a.seq)
    JOIN launch p ON p.launch = c.launch
    WHERE a.launch = $launch AND a.certain AND a."row" IS DISTINCT FROM $row
    AND NOT EXISTS (
        FROM finding f WHERE f.code IN ({listed(PUBLISH_CODES)})
            AND f."row" = a."row" AND f.generation = a.generation
    )
) GROUP BY "row" ORDER BY "row\""""

ORDER = f"""
SELECT count(*) AS checked, count(*) FILTER (NOT ordered) AS wrong FROM (
    SELECT DISTINCT w.seq,
        y.stream = l.stream OR coalesce(y.ordinal <= l.clock[y.stream + 1], false) AS ordered
    FROM access a JOIN launch l ON l.launch = a.launch
    JOIN access w ON w.page = a.page AND w.mode = 'write' AND w.seq < a.seq AND w.certain
    JOIN _act y ON y.seq = w.seq
    WHERE a.launch = $launch AND a.certain
    AND {apart(ORDER_CODES)}
)"""


class Claim(NamedTuple):
    """What may be right about the pages of a launch."""

    about: str
    sql: str
    codes: tuple[str, ...]
    why: str
    counts: str = "pages"
    """What the query counts, by the name of several."""


CLAIMS = (
    Claim(
        "do requests hold the pages that launch {launch} touches?",
        OWNERS,
        OWNER_CODES,
        "owners are right ({checked} checked): each page is held, in the life named, by the request whose "
        "row names it or, where no row does, by somebody",
    ),
    Claim(
        "has a page that launch {launch} touches two holders for writing?",
        WRITERS,
        WRITER_CODES,
        "no page has two holders for writing ({checked} checked)",
    ),
    Claim(
        "writes of the pages of launch {launch}: are they ordered before it?",
        ORDER,
        ORDER_CODES,
        "order on the pages is right ({checked} checked): whoever wrote them before is ordered before it",
        "earlier writers",
    ),
)


def acquittals(
    questions: Questions, launch: Act | None, row: int | None, pages: int | None
) -> tuple[Acquittal, ...]:
    """What is right about a launch: `row` is the one under suspicion, `pages` the pool's size."""
    if launch is None:
        return ()
    return tuple(_all(questions, launch, row, pages))


def _all(questions: Questions, act: Act, row: int | None, pages: int | None) -> Iterator[Acquittal]:
    number = act.launch
    for claim in CLAIMS:
        yield from _if_right(questions, Resource("page"), claim, number)
    if pages is not None:
        ids = Claim(
            "do the rows of launch {launch} name pages of the pool?",
            IDS,
            ID_CODES,
            "page ids are right ({checked} checked): each entry that it was to follow names, by the last "
            "publish before it, executed or not, a page from 1 to " + str(pages - 1),
            "entries",
        )
        # The entries of every row that the launch uses are looked at, not only of the one under suspicion.
        yield from _if_right(questions, Resource("row"), ids, number, pages=pages)
    told = questions.ask(
        f"are the other rows of launch {number} ordered after their publishes?",
        OTHER_ROWS,
        launch=number,
        row=row,
    )
    for found in told.rows:
        if found["checked"] and not found["wrong"]:
            checked = counted(found["checked"], "publishes")
            why = f"what was published in its entries is ordered before the launch ({checked} checked)"
            resource = Resource("row", found["row"], generation=found["generation"])
            yield Acquittal(resource, why, found["checked"], told.query)


def _if_right(
    questions: Questions, resource: Resource, claim: Claim, launch: int, **values: int | None
) -> Iterator[Acquittal]:
    told = questions.ask(claim.about.format(launch=launch), claim.sql, launch=launch, **values)
    found = told.first
    if found is not None and found["checked"] and not found["wrong"]:
        checked = counted(found["checked"], claim.counts)
        why = claim.why.format(checked=checked) + _but(questions, claim.codes, launch)
        yield Acquittal(resource, why, found["checked"], told.query)


def _but(questions: Questions, codes: tuple[str, ...], launch: int) -> str:
    """What is not acquitted, for a finding tells of it."""
    told = questions.rows(left_out(codes), launch=launch)
    if not told:
        return ""
    named = [f"{row['what']} ({row['codes']})" for row in told[:LISTED]]
    more = f" and {len(told) - LISTED} more" if len(told) > LISTED else ""
    them = "it" if len(told) == 1 else "them"
    return f"; left out, for findings tell of {them}: {', '.join(named)}{more}"
