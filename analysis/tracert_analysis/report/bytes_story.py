"""Whose bytes the verdict's launch met: what stands in the page, who left it there, what acquits the rest.

For findings about bytes only. A page that changed hands in order, behind a fence that had passed, with one
owner at any moment, is a page in which everything is right but its content.
"""

from collections.abc import Iterator

from tracert_analysis.report.acquittals import ORDER_CODES, OWNER_CODES, listed
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.byte_runs import byte_run, byte_runs
from tracert_analysis.report.facts import Act, Hold, Resource
from tracert_analysis.report.phrases import counted
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Acquittal
from tracert_analysis.report.stories.content import BytesStory

CODES = ("TR301", "TR302")

OWNER = """
SELECT h.holder, h.mode, h.life, h.from_seq, h.until_seq,
    coalesce(h.from_seq = w.known_from, false) AS since_before
FROM holding h, _window w
WHERE h.page = $page AND h.life = $life
ORDER BY h.until_seq DESC NULLS FIRST, h.from_seq DESC, h.rowid DESC LIMIT 1"""

RELEASE = """
SELECT p.unheld_seq, p.fence, p.free_seq, f.passed_seq, f.record_seq, u.seq,
    coalesce(u.launch, 0) AS launch, u.kind, u.kernel, u.stream, u.ordinal, u.step, u.state,
    NULL AS phase, NULL AS "row", NULL AS generation,
    f.stream = u.stream AND f.ordinal >= u.ordinal AS covered
FROM page_life p LEFT JOIN _retired f ON f.page = p.page AND f.life = p.life
LEFT JOIN (
    SELECT x.* FROM access a JOIN _act x USING (seq)
    WHERE a.page = $page AND a.life = $life AND a.certain ORDER BY a.seq DESC LIMIT 1
) u ON true
WHERE p.page = $page AND p.life = $life LIMIT 1"""

SHARERS = """
SELECT h.holder, h.mode, h.life, h.from_seq, h.until_seq,
    coalesce(h.from_seq = w.known_from, false) AS since_before
FROM holding h, _window w
WHERE h.page = $page AND h.life = $life AND h.holder <> $owner ORDER BY h.from_seq, h.rowid"""

# The bytes of a page that are a snapshot's slot, of those that were stored in one life of it.
SLOTS = """
SELECT DISTINCT s.snapshot, s.place[2] AS first, s.place[3] AS "end"
FROM (
    SELECT seq, snapshot, unnest(ranges) AS place FROM event WHERE kind = 'snapshot_save'
) s JOIN page_life p ON p.page = $page AND p.life = $life
WHERE s.place[1] = $page AND s.seq >= p.alloc_seq AND (p.free_seq IS NULL OR s.seq < p.free_seq)
ORDER BY first, s.snapshot"""

CLEARS = """
SELECT count(*) AS clears FROM byte_write
WHERE page = $page AND class = 'zero' AND seq > $after AND seq < $before
    AND first < $last AND "end" > $first"""

NONFINITE = """
SELECT seq, layer, position, request FROM event
WHERE kind = 'nonfinite' AND seq > $after AND (launch = $launch OR request = $request) ORDER BY seq LIMIT 1"""

UNTOLD = """NOT EXISTS (
        FROM finding f WHERE f.code IN ({codes}) AND f.resource_kind = 'page' AND f.resource_id = $page
    )"""
"""No finding of these codes tells of the page: an acquittal must not contradict one."""

EARLIER = f"""
SELECT count(*) AS checked, count(*) FILTER (NOT ordered) AS wrong FROM (
    SELECT DISTINCT e.seq,
        y.stream = l.stream OR coalesce(y.ordinal <= l.clock[y.stream + 1], false) AS ordered
    FROM access e JOIN _act y ON y.seq = e.seq JOIN launch l ON l.launch = $launch
    WHERE e.page = $page AND e.life < $life AND e.seq < l.seq AND e.certain
    AND {UNTOLD.format(codes=listed(ORDER_CODES))}
)"""

RELEASED = f"""
SELECT count(*) AS checked, count(*) FILTER (NOT right_) AS wrong FROM (
    SELECT p.life, p.free_seq < any_value(g.alloc_seq)
        AND coalesce(p.fence IS NULL OR max(f.passed_seq) <= p.free_seq, false) AS right_
    FROM page_life p JOIN page_life g ON g.page = p.page AND g.life = $life
    LEFT JOIN _retired f ON f.page = p.page AND f.life = p.life
    WHERE p.page = $page AND p.life < $life
    -- What nobody held when the history begins may have been retired behind a fence before it.
    AND (p.alloc_seq IS NOT NULL OR p.unheld_seq > p.known_from)
    AND {UNTOLD.format(codes=listed(("TR202", *OWNER_CODES)))}
    GROUP BY p.life, p.free_seq, p.fence
)"""


def bytes_story(questions: Questions, acts: Acts, root: Row | None, act: Act | None) -> BytesStory | None:
    """What stands in the finding's page when its launch starts; None unless the verdict is about bytes."""
    if root is None or root["code"] not in CODES or act is None:
        return None
    page, life = root["resource_id"], root["life"]
    told = byte_runs(questions, page, act.seq + 1)
    runs = tuple(byte_run(acts, row, life) for row in told.rows)
    suspect = next((row for row in told.rows if row["origin_launch"] == root["other_launch"]), None)
    queries = [told.query]
    owner: Hold | None = None
    release: Row = {}
    clears: int | None = None
    sharers: tuple[Hold, ...] = ()
    slots: tuple[tuple[int, int, int], ...] = ()
    if suspect is not None:
        values = {"page": suspect["origin_page"], "life": suspect["origin_life"]}
        held = questions.ask("who held those bytes last", OWNER, **values)
        owner = Hold(**held.first) if held.first else None
        freed = questions.ask("how that life ended", RELEASE, **values)
        release = freed.first or {}
        between = questions.ask(
            "clears of those positions between",
            CLEARS,
            page=page,
            # What a copy brought here was written elsewhere, before.
            after=suspect["seq"],
            before=act.seq,
            first=suspect["first"],
            last=suspect["end"],
        )
        clears = between.first["clears"] if between.first else None
        queries += [held.query, freed.query, between.query]
        if owner is not None:
            beside = questions.ask("who else held that life", SHARERS, owner=owner.holder, **values)
            sharers = tuple(Hold(**row) for row in beside.rows)
            queries.append(beside.query)
        if suspect["origin_class"] == "rows":
            placed = questions.ask("which bytes of the page are whose slot in that life", SLOTS, **values)
            slots = tuple((row["snapshot"], row["first"], row["end"]) for row in placed.rows)
            queries.append(placed.query)
    broken = questions.ask(
        "the first value that was not finite",
        NONFINITE,
        after=act.seq,
        launch=act.launch,
        request=root["request"],
    )
    return BytesStory(
        page=page,
        life=life,
        runs=runs,
        owner=owner,
        ended_seq=release.get("unheld_seq"),
        fence=release.get("fence"),
        fence_passed_seq=release.get("passed_seq"),
        clears=clears,
        nonfinite=_nonfinite(broken.first),
        queries=(*queries, broken.query),
        sharers=sharers,
        slots=slots,
        fence_record_seq=release.get("record_seq"),
        last_use=acts.act(release) if release.get("seq") is not None else None,
        covered=release.get("covered"),
    )


def _nonfinite(row: Row | None) -> str | None:
    if row is None:
        return None
    layer = f"layer {row['layer']}, " if row["layer"] is not None and row["layer"] >= 0 else ""
    place = f"position {row['position']}" if row["position"] is not None else "a position that is not told"
    return f"{layer}{place}, seen at seq {row['seq']}"


def bytes_acquittals(questions: Questions, root: Row | None, act: Act | None) -> Iterator[Acquittal]:
    """Order and owners of the page's lives, where they are right."""
    if root is None or root["code"] not in CODES or act is None:
        return
    page, life = root["resource_id"], root["life"]
    resource = Resource("page", page, life)
    told = questions.ask(
        f"is every launch of an earlier life of page {page} ordered before launch {act.launch}?",
        EARLIER,
        page=page,
        life=life,
        launch=act.launch,
    )
    if told.first and told.first["checked"] and not told.first["wrong"]:
        count = told.first["checked"]
        looked = counted(count, "earlier acts")
        why = f"order between its lives is right ({looked} checked): what touched earlier ones comes before"
        yield Acquittal(resource, why, count, told.query)
    freed = questions.ask(
        f"was page {page} free before it was granted in life {life}?", RELEASED, page=page, life=life
    )
    if freed.first and freed.first["checked"] and not freed.first["wrong"]:
        count = freed.first["checked"]
        why = (
            f"its earlier lives ended in order ({counted(count, 'lives')} checked): each was free, its fence "
            "had passed where it had one, before the page was granted again"
        )
        yield Acquittal(resource, why, count, freed.query)
