"""What is acquitted: facts that could have been the cause, were looked up, and are right.

Each acquittal is one query that counts what it looked at and what it found wrong. It stands only when it
looked at something and found nothing wrong; what the history cannot say is not acquitted.
"""

from collections.abc import Iterator

from tracert_analysis.report.questions import Questions
from tracert_analysis.report.report import Acquittal, Act, Resource

OWNERS = """
SELECT count(*) AS checked, count(*) FILTER (NOT held) AS wrong FROM (
    SELECT DISTINCT a.page, a.life, EXISTS (
        FROM holding h WHERE h.page = a.page AND h.life = a.life
            AND h.from_seq <= a.seq AND (h.until_seq IS NULL OR h.until_seq > a.seq)
            AND (a.request IS NULL OR h.holder = 'request:' || a.request)
    ) AS held
    FROM access a WHERE a.launch = $launch AND a.certain
)"""

WRITERS = """
SELECT count(*) AS checked, count(*) FILTER (writers > 1) AS wrong FROM (
    SELECT a.page, (
        SELECT count(DISTINCT h.holder) FROM holding h WHERE h.page = a.page AND h.mode = 'write'
            AND h.from_seq <= any_value(a.seq) AND (h.until_seq IS NULL OR h.until_seq > any_value(a.seq))
    ) AS writers
    FROM access a WHERE a.launch = $launch AND a.certain GROUP BY a.page
)"""

IDS = """
SELECT count(*) AS checked, count(*) FILTER (page < 1 OR page >= $pages) AS wrong FROM (
    SELECT DISTINCT "row", "index", page FROM access WHERE launch = $launch AND certain AND "row" IS NOT NULL
)"""

OTHER_ROWS = """
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
) GROUP BY "row" ORDER BY "row\""""

ORDER = """
SELECT count(*) AS checked, count(*) FILTER (NOT ordered) AS wrong FROM (
    SELECT DISTINCT w.launch, w.stream = l.stream OR w.ordinal <= l.clock[w.stream + 1] AS ordered
    FROM access a JOIN launch l ON l.launch = a.launch
    JOIN access w ON w.page = a.page AND w.mode = 'write' AND w.seq < a.seq AND w.certain
    WHERE a.launch = $launch AND a.certain
)"""


def acquittals(
    questions: Questions, launch: Act | None, row: int | None, pages: int | None
) -> tuple[Acquittal, ...]:
    """What is right about a launch: `row` is the one under suspicion, `pages` the pool's size."""
    if launch is None:
        return ()
    return tuple(_all(questions, launch, row, pages))


def _all(questions: Questions, act: Act, row: int | None, pages: int | None) -> Iterator[Acquittal]:
    number = act.launch
    every_page = Resource("page")
    yield from _if_right(
        questions,
        every_page,
        f"do requests hold the pages that launch {number} touches?",
        OWNERS,
        "owners are right ({checked} checked): each page is held, in the life named, by the request whose "
        "row names it, if one does",
        launch=number,
    )
    yield from _if_right(
        questions,
        every_page,
        f"has a page that launch {number} touches two holders for writing?",
        WRITERS,
        "no page has two holders for writing ({checked} checked)",
        launch=number,
    )
    yield from _if_right(
        questions,
        every_page,
        f"writes of the pages of launch {number}: are they ordered before it?",
        ORDER,
        "order on the pages is right ({checked} checked): each launch that wrote them before is ordered "
        "before it",
        launch=number,
    )
    if pages is not None:
        yield from _if_right(
            questions,
            Resource("row", row),
            f"do the rows of launch {number} name pages of the pool?",
            IDS,
            "page ids are right ({checked} checked): each entry, as published, names a page from 1 to "
            + str(pages - 1),
            launch=number,
            pages=pages,
        )
    told = questions.ask(
        f"are the other rows of launch {number} ordered after their publishes?",
        OTHER_ROWS,
        launch=number,
        row=row,
    )
    for found in told.rows:
        if found["checked"] and not found["wrong"]:
            why = f"the publishes that it walks are ordered before it ({found['checked']} checked)"
            resource = Resource("row", found["row"], generation=found["generation"])
            yield Acquittal(resource, why, found["checked"], told.query)


def _if_right(
    questions: Questions, resource: Resource, about: str, sql: str, why: str, **values: int | None
) -> Iterator[Acquittal]:
    told = questions.ask(about, sql, **values)
    found = told.first
    if found is not None and found["checked"] and not found["wrong"]:
        yield Acquittal(resource, why.format(checked=found["checked"]), found["checked"], told.query)
