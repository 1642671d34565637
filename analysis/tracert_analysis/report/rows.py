"""A row's story as of one launch: who had it, who published it, what a launch that is too early finds."""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.entries import strips
from tracert_analysis.report.facts import Act, Hold, Life, Write
from tracert_analysis.report.questions import Questions, Row, Told
from tracert_analysis.report.stories.row import Leftover, RowStory, Strip

TENANTS = """
WITH taken AS (
    SELECT generation, request, seq, false AS since_before FROM event
    WHERE kind = 'row_acquire' AND "row" = $row AND seq <= $at
    UNION ALL
    SELECT generation, request, min(seq), true FROM event k
    WHERE kind = 'keyframe_row' AND "row" = $row AND request > 0 AND seq <= $at
        AND NOT EXISTS (
            FROM event a WHERE a.kind = 'row_acquire' AND a."row" = $row AND a.generation = k.generation
        )
    GROUP BY generation, request
)
SELECT generation, request, seq AS from_seq, since_before,
    (SELECT min(g.seq) FROM event g
     WHERE g.kind = 'row_release' AND g."row" = $row AND g.generation = taken.generation) AS until_seq
FROM taken ORDER BY seq DESC"""

LATER = """
SELECT a.generation, a.request, a.seq AS from_seq, min(g.seq) AS until_seq
FROM event a LEFT JOIN event g
    ON g.kind = 'row_release' AND g."row" = a."row" AND g.generation = a.generation
WHERE a.kind = 'row_acquire' AND a."row" = $row AND a.seq > $at
GROUP BY ALL ORDER BY a.seq"""

PUBLISHES = """
SELECT *, count(*) OVER (PARTITION BY generation) AS times FROM launch
WHERE kind = 'publish' AND "row" = $row AND seq <= $at
QUALIFY row_number() OVER (PARTITION BY generation ORDER BY seq DESC) <= 60 ORDER BY seq DESC LIMIT 600"""

USES = """
SELECT seq, generation, count(*) OVER (PARTITION BY generation) AS times FROM _use
WHERE "row" = $row AND seq <= $at
QUALIFY row_number() OVER (PARTITION BY generation ORDER BY seq DESC) <= 60 ORDER BY seq DESC LIMIT 600"""

LEFTOVERS = """
WITH meant AS (SELECT "index", page, life FROM row_content WHERE launch = $publish AND "row" = $row),
left_there AS (
    SELECT "index", arg_max(page, seq) AS page, arg_max(life, seq) AS life FROM row_content
    WHERE "row" = $row AND seq < $published GROUP BY "index"
)
SELECT meant."index", meant.page, meant.life, l.page AS left_page, l.life AS left_life,
    l.page BETWEEN 0 AND $last_page AS left_in_pool,
    (SELECT string_agg(h.holder, ', ' ORDER BY h.from_seq) FROM holding h WHERE h.page = l.page
         AND h.from_seq <= $at AND (h.until_seq IS NULL OR h.until_seq > $at)) AS left_holder
FROM meant LEFT JOIN left_there l USING ("index")
WHERE l.page IS DISTINCT FROM meant.page
ORDER BY meant."index\""""


def row_story(
    questions: Questions,
    acts: Acts,
    row: int,
    at: int,
    launch: Act | None,
    too_late: Act | None,
    kv_pages: int | None,
    named: bool,
) -> RowStory:
    """The story of `row` up to seq `at`: `launch` uses the row. `named` asks for its entries, too.

    `too_late` is the publish that the launch is not ordered after; without it, the last publish counts.
    """
    tenants = questions.ask(f"requests that had row {row}", TENANTS, row=row, at=at)
    published = questions.ask(f"publishes of row {row}", PUBLISHES, row=row, at=at)
    writes = [
        acts.act(found) for found in published.rows if launch is None or found["launch"] != launch.launch
    ]
    if too_late is not None:
        writes = [act for act in writes if act.seq <= too_late.seq]
    last = writes[0] if writes else None
    fence, fence_query = None, 0
    left: tuple[Leftover, ...] = ()
    left_query = 0
    if last is not None and launch is not None and launch.stream != last.stream and last.seq < launch.seq:
        fence, fence_query = acts.joining_fence(last, launch.stream, launch.seq)
    if last is not None and launch is not None and last == too_late:
        told = questions.ask(
            f"what row {row} holds until launch {last.launch} has executed",
            LEFTOVERS,
            publish=last.launch,
            row=row,
            published=last.seq,
            at=launch.seq,
            last_page=kv_pages - 1 if kv_pages is not None else 2**31,
        )
        left, left_query = tuple(Leftover(**found) for found in told.rows), told.query
    entries, entries_query = strips(questions, acts, row, at, kv_pages) if named else ((), 0)
    holds = [_tenant(tenant) for tenant in tenants.rows]
    return RowStory(
        row=row,
        generation=holds[0].life if holds else None,
        last_owner=holds[0] if holds else None,
        previous_owner=holds[1] if len(holds) > 1 else None,
        last_writer=Write(last) if last else None,
        previous_writer=Write(writes[1]) if len(writes) > 1 else None,
        last_fence=fence,
        lives=_lives(tenants, published, questions.rows(USES, row=row, at=at), _voids(entries)),
        leftovers=left,
        queries=(tenants.query, published.query, left_query, fence_query, entries_query),
        entries=entries,
        later=tuple(
            Life(found["generation"], _owner(found), found["from_seq"], None, found["until_seq"])
            for found in questions.rows(LATER, row=row, at=at)
        ),
    )


def _owner(row: Row) -> str:
    return f"request:{row['request']}" if row["request"] is not None else "an unknown request"


def _tenant(row: Row) -> Hold:
    return Hold(_owner(row), None, row["generation"], row["from_seq"], row["until_seq"], row["since_before"])


def _voids(entries: tuple[Strip, ...]) -> set[int]:
    """Events of publishes that put nothing but what names no page into the row."""
    return {strip.seq for strip in entries} - {strip.seq for strip in entries if strip.in_pool}


def _lives(tenants: Told, published: Told, uses: list[Row], voids: set[int]) -> tuple[Life, ...]:
    """Generations with their publishes (`w`) and uses (`r`), oldest first."""
    written = {row["generation"]: row["times"] for row in published.rows}
    used = {row["generation"]: row["times"] for row in uses}
    return tuple(
        Life(
            number=row["generation"],
            owner=_owner(row),
            from_seq=row["from_seq"],
            retired_seq=None,
            until_seq=row["until_seq"],
            writes=tuple(w["seq"] for w in published.rows if w["generation"] == row["generation"]),
            reads=tuple(use["seq"] for use in uses if use["generation"] == row["generation"]),
            times=(written.get(row["generation"], 0), used.get(row["generation"], 0)),
            voids=tuple(
                w["seq"] for w in published.rows if w["generation"] == row["generation"] and w["seq"] in voids
            ),
        )
        for row in reversed(tenants.rows)
    )
