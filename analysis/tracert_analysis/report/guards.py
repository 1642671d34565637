"""What guarded kernels saw: entries that the verdict's launch followed, the first value that was not finite.

Of a history that was recorded without guards there is nothing to tell. What a kernel saw is no inference:
where it differs from what the history says, that is told as it is.
"""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.facts import Act
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.guard import GuardedEntry, GuardedValue, GuardStory

ANY = "FROM _seen WHERE kind = 'guard'"

ALL = """
SELECT count(*) AS told, count(DISTINCT launch) AS launches, sum(walked) AS followed,
    (SELECT count(DISTINCT (launch, "row")) FROM guard_entry WHERE differs) AS differing,
    (SELECT count(DISTINCT (launch, "row")) FROM guard_entry WHERE published_page IS NULL) AS unpublished,
    (SELECT count(DISTINCT (launch, "row")) FROM guard_entry
        WHERE published_page IS NOT NULL AND NOT differs) AS unmeant,
    (SELECT count(*) FROM _followed WHERE walked > declared) AS longer,
    (SELECT count(*) FROM _followed WHERE walked < declared) AS shorter
FROM event WHERE kind = 'guard'"""

TOLD = """
SELECT e.walked, f.declared, e.page IS NOT NULL OR e.position IS NOT NULL AS left_out FROM event e
LEFT JOIN _followed f ON f.launch = e.launch AND f."row" = e."row" AND f.generation = e.generation
WHERE e.kind = 'guard' AND e.launch = $launch AND e."row" = $row LIMIT 1"""

FIRST = """
SELECT launch, "row" FROM (
    SELECT seq, launch, "row" FROM guard_entry
    UNION ALL
    SELECT seq, launch, "row" FROM _followed WHERE walked <> declared
) ORDER BY seq, "row" LIMIT 1"""

ENTRIES = """
SELECT g."index", g.page, g.published_page, g.published_life, g.differs,
    g.page > 0 AND g.page < coalesce(w.kv_pages, 4294967296) AS is_page
FROM guard_entry g, _window w WHERE g.launch = $launch AND g."row" = $row ORDER BY g."index\""""

# Of the launch or the request in question, or else the first of all.
VALUE = """
SELECT e.seq, e.launch, e.request, r.id AS request_id, e."row", e.layer, e.class AS value_class, e.position,
    c.page, c.life
FROM event e
LEFT JOIN launch l ON l.launch = e.launch
LEFT JOIN request r ON r.request = e.request
CROSS JOIN _window w
LEFT JOIN row_content c
    ON c."row" = e."row" AND c."index" = e.position // w.page_size AND c.seq < l.seq
    AND coalesce(c.until_seq > l.seq, true)
WHERE e.kind = 'nonfinite' AND e.class IS NOT NULL
ORDER BY e.launch IS NOT DISTINCT FROM $launch DESC, e.request IS NOT DISTINCT FROM $request DESC, e.seq
LIMIT 1"""


def guard_story(questions: Questions, acts: Acts, root: Row | None, act: Act | None) -> GuardStory | None:
    """What guards tell of the finding's launch and row, or else of the first that saw a difference.

    None of a history without guards.
    """
    if not questions.rows(ANY):
        return None
    counted = questions.ask("what guarded kernels told", ALL)
    counts = counted.first or {}
    launch, row = act.launch if act else None, root["row"] if root else None
    told = None
    if launch and row is not None:
        told = questions.ask(f"what launch {launch} saw of row {row}", TOLD, launch=launch, row=row)
    if told is None or not told.rows:
        first = questions.ask("the first row in which a kernel found what it should not", FIRST).first
        if first is not None:
            launch, row = first["launch"], first["row"]
            told = questions.ask(f"what launch {launch} saw of row {row}", TOLD, launch=launch, row=row)
    seen: Row = (told.first if told else None) or {}
    entries = None
    if seen:
        entries = questions.ask(
            f"entries of row {row} that launch {launch} found otherwise than meant",
            ENTRIES,
            launch=launch,
            row=row,
        )
    value = questions.ask(
        "the first value that a guarded kernel found not to be finite",
        VALUE,
        launch=act.launch if act else None,
        request=root["request"] if root else None,
    )
    return GuardStory(
        launches=counts.get("launches", 0),
        told=counts.get("told", 0),
        followed=int(counts.get("followed") or 0),
        differing=counts.get("differing", 0),
        unpublished=counts.get("unpublished", 0),
        unmeant=counts.get("unmeant", 0),
        longer=counts.get("longer", 0),
        shorter=counts.get("shorter", 0),
        act=acts.launch(launch)[0] if seen and launch else None,
        row=row if seen else None,
        walked=seen.get("walked"),
        declared=seen.get("declared"),
        left_out=bool(seen.get("left_out")),
        entries=tuple(GuardedEntry(**found) for found in entries.rows) if entries else (),
        value=GuardedValue(**value.first) if value.first else None,
        queries=(counted.query, entries.query if entries else 0, value.query),
    )
