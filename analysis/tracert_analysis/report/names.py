"""Public ids of the requests that a report names as holders: people know these, not the engine's numbers."""

import re

from tracert_analysis.report.drawings.lives import SHOWN
from tracert_analysis.report.questions import Questions
from tracert_analysis.report.stories.page import PageStory
from tracert_analysis.report.stories.row import RowStory

REQUEST = re.compile(r"request:(\d{1,19})")


def names(questions: Questions, rows: tuple[RowStory, ...], pages: tuple[PageStory, ...]) -> dict[str, str]:
    """Public ids of the requests that the stories name as holders."""
    stories: tuple[RowStory | PageStory, ...] = (*rows, *pages)
    holders = {hold.holder for story in stories for hold in (story.last_owner, story.previous_owner) if hold}
    holders |= {life.owner for story in stories for life in story.lives if life.owner}
    # A drawing shows few of those that come behind.
    holders |= {life.owner for story in stories for life in story.later[:SHOWN] if life.owner}
    holders |= {holder for page in pages for holder in page.also_held_by}
    holders |= {holder for page in pages for life in page.lives for holder in life.also}
    holders |= {holder for page in pages for near in page.neighbours for holder in near.holders}
    holders |= {f"request:{run.request}" for page in pages for run in page.runs if run.request is not None}
    kept = [page.last_facts for page in pages if page.last_facts is not None]
    holders |= {holder for facts in kept for holder in (facts.holder, facts.previous_holder) if holder}
    holders |= {
        name for row in rows for entry in row.leftovers for name in (entry.left_holder or "").split(", ")
    }
    numbers = sorted(int(found[1]) for name in holders if (found := REQUEST.fullmatch(name)))
    if not numbers:
        return {}
    told = questions.ask(
        "public ids of the requests named here",
        f"SELECT request, id FROM request WHERE request IN ({', '.join(map(str, numbers))})",
    )
    return {f"request:{row['request']}": row["id"] for row in told.rows if row["id"]}
