"""How the life of a page ended that somebody still touched, and how all others did."""

from collections.abc import Iterator

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.phrases import page_name
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.stories.contrast import Contrast

CODES = ("TR202",)
"""Findings about a page that is used again while its former life is still touched."""

# The life that the other act touches, and the last record of the fence before the page was retired behind it.
END = """
SELECT p.life, p.retire_seq, p.fence, p.free_seq, f.stream, f.ordinal, f.record_seq,
    l.learnt_seq AS learnt_seq
FROM page_life p
LEFT JOIN launch l ON l.seq = $other
LEFT JOIN (
    SELECT DISTINCT fence, stream, ordinal, record_seq FROM fence
) AS f ON f.fence = p.fence AND f.record_seq < p.retire_seq
WHERE p.page = $page AND p.free_seq IS NOT NULL
    AND p.life IN (SELECT life FROM access WHERE page = $page AND seq = $other AND life < $life)
ORDER BY f.record_seq DESC NULLS LAST LIMIT 1"""

ENDED = """
SELECT count(*) AS ended, count(*) FILTER (p.retire_seq IS NOT NULL) AS retired,
    count(t.page) AS touched, count(t.page) FILTER (p.retire_seq IS NOT NULL) AS touched_retired
FROM page_life p LEFT JOIN (
    SELECT DISTINCT a.page, a.life FROM access a JOIN launch l USING (seq)
    WHERE a.certain AND l.kernel = $kernel AND l.stream = $stream
) AS t USING (page, life)
WHERE p.free_seq IS NOT NULL"""


def ends(questions: Questions, acts: Acts, row: Row) -> Iterator[Contrast]:
    """How the former life of the finding's page ended, and how many of all were retired behind a fence."""
    if row["code"] not in CODES or row["other_seq"] is None:
        return
    page, other = row["resource_id"], acts.of(row["other_launch"], row["other_seq"])
    told = questions.ask(
        f"how the life before {page_name(page, row['life'])} ended",
        END,
        page=page,
        life=row["life"],
        other=row["other_seq"],
    )
    found = told.first
    if found is None or other is None:
        return
    text = f"{page_name(page, found['life'])} was freed at seq {found['free_seq']}"
    if found["retire_seq"] is None:
        text += ", without being retired behind a fence"
    elif found["record_seq"] is not None:
        covers = found["stream"] == other.stream and found["ordinal"] >= other.ordinal
        text += f", retired behind fence {found['fence']} of {acts.stream_name(found['stream'])}"
        text += f", which {'covers' if covers else 'does not cover'} {other.name}"
    if other.launch and (found["learnt_seq"] is None or found["learnt_seq"] > found["free_seq"]):
        learnt = f", and learnt it at seq {found['learnt_seq']}" if found["learnt_seq"] is not None else ""
        text += f"; the host did not know by then that {other.name} had finished{learnt}"
    yield Contrast(text, 1, None, told.query, "its end")
    counted = questions.ask(
        "how many lives of pages were retired behind a fence", ENDED, kernel=other.kernel, stream=other.stream
    )
    every = counted.first
    if every is None or not every["ended"]:
        return
    text = f"lives of pages that ended: {every['ended']}, of which {_retired(every['retired'])}"
    if other.launch and every["touched"]:
        text += (
            f"; of those that {other.kernel} on {other.stream_name} touched: {every['touched']}, of which "
            f"{_retired(every['touched_retired'])}"
        )
    yield Contrast(text, every["ended"], every["retired"], counted.query)


def _retired(times: int) -> str:
    return f"{times or 'none'} {'were' if times > 1 else 'was'} retired behind a fence"
