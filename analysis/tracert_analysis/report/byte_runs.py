"""Whose bytes a page has: its positions by who wrote them last, through copies and the host tier."""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.questions import Questions, Row, Told
from tracert_analysis.report.stories import ByteRun

RUNS = """
SELECT b.*, s.snapshot, n.request FROM page_bytes($page, before := $before) b
LEFT JOIN (
    SELECT launch, any_value(snapshot) AS snapshot FROM event WHERE kind = 'snapshot_save' GROUP BY launch
) s ON s.launch = b.origin_launch
LEFT JOIN (
    SELECT u.seq, any_value(u.request) AS request FROM _use u GROUP BY u.seq HAVING count(*) = 1
) n ON n.seq = b.origin_seq
ORDER BY b.first"""


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
