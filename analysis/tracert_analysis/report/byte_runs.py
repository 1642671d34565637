"""Whose bytes a page has: its positions by who wrote them last, through copies and the host tier."""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.questions import Questions, Row, Told
from tracert_analysis.report.stories.content import ByteRun

# Of keys and values that a request's row led to, whose row it was; two at once tell nothing.
RUNS = """
WITH found AS MATERIALIZED (FROM page_bytes($page, before := $before)),
saved AS (
    SELECT launch, any_value(snapshot) AS snapshot FROM event WHERE kind = 'snapshot_save' GROUP BY launch
),
named AS (
    SELECT f.origin_page, f.origin_life, f.origin_seq, any_value(n.request) AS request
    FROM found f
    JOIN _touch t ON t.page = f.origin_page AND t.life = f.origin_life
        AND f.origin_seq BETWEEN t.first_seq AND t.last_seq
    JOIN _tenancy n ON n."row" = t."row" AND n.generation = t.generation
    WHERE t.mode = 'write'
    GROUP BY ALL HAVING count(DISTINCT n.request) = 1
)
SELECT f.*, s.snapshot, n.request
FROM found f
LEFT JOIN saved s ON s.launch = f.origin_launch
LEFT JOIN named n USING (origin_page, origin_life, origin_seq)
ORDER BY f.first"""


def byte_runs(questions: Questions, page: int, before: int) -> Told:
    """Runs of positions, by who wrote them last before a seq."""
    about = f"who wrote which positions of page {page} last before event {before}"
    return questions.ask(about, RUNS, page=page, before=before)


def byte_run(acts: Acts, row: Row, life: int | None) -> ByteRun:
    """A run; what was written in an earlier life than `life`, and is no zero, is stale in it."""
    writer = acts.of(row["launch"], row["seq"])
    origin = acts.of(row["origin_launch"], row["origin_seq"])
    return ByteRun(
        first=row["first"],
        end=row["end"],
        content=row["origin_class"],
        snapshot=row["snapshot"],
        request=row["request"],
        writer=writer,
        life=row["life"],
        origin=origin if row["origin_seq"] != row["seq"] else None,
        origin_page=row["origin_page"],
        origin_life=row["origin_life"],
        stale=row["origin_class"] != "zero" and life is not None and row["life"] < life,
    )
