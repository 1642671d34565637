"""What each publish put in the entries of a row, and until when; neighbours of one time together."""

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.stories.row import Strip

ENTRIES_MAX = 4096
"""Entries beyond these are not told of."""

STRIPS = """
SELECT n.seq, n.until_seq, n.in_pool, n.launch, n.generation, any_value(p.epoch) AS epoch,
    any_value(l.stream) AS stream, any_value(l.kernel) AS kernel, any_value(l.state) AS state,
    min(n."index")::BIGINT AS first, max(n."index")::BIGINT + 1 AS "end",
    list([n.page, n.life] ORDER BY n."index") AS pages
FROM (
    SELECT *, page BETWEEN 0 AND $last_page AS in_pool, "index"::BIGINT - row_number() OVER (
            PARTITION BY seq, until_seq, page BETWEEN 0 AND $last_page ORDER BY "index"
        ) AS run
    FROM row_content WHERE "row" = $row AND seq <= $at AND "index" < $most
) AS n
LEFT JOIN launch AS l ON l.launch = n.launch
LEFT JOIN (SELECT seq, epoch FROM event WHERE kind = 'publish' AND "row" = $row) AS p ON p.seq = n.seq
GROUP BY n.seq, n.until_seq, n.in_pool, n.launch, n.generation, n.run ORDER BY n.seq DESC, first LIMIT 100"""


def strips(
    questions: Questions, acts: Acts, row: int, at: int, kv_pages: int | None
) -> tuple[tuple[Strip, ...], int]:
    """Contents of `row` published up to seq `at`, the oldest first; and the question's number."""
    told = questions.ask(
        f"what each publish of row {row} put in which entries",
        STRIPS,
        row=row,
        at=at,
        last_page=kv_pages - 1 if kv_pages is not None else 2**31,
        most=ENTRIES_MAX,
    )
    found = [
        Strip(
            first=row["first"],
            end=row["end"],
            pages=tuple((page, life) for page, life in row["pages"]),
            in_pool=bool(row["in_pool"]),
            seq=row["seq"],
            until_seq=row["until_seq"],
            generation=row["generation"],
            epoch=row["epoch"],
            launch=row["launch"],
            kernel=row["kernel"],
            stream_name=acts.stream_name(row["stream"]) if row["stream"] is not None else None,
            state=row["state"],
        )
        for row in told.rows
    ]
    found.sort(key=lambda strip: (strip.seq, strip.first))
    return tuple(found), told.query
