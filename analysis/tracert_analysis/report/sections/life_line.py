"""The lives of a page, or the generations of a row, drawn between the first and the last event."""

from collections.abc import Callable, Iterator, Mapping

from tracert_analysis.report.document import Drawing
from tracert_analysis.report.drawings import lives
from tracert_analysis.report.drawings.legend import legend
from tracert_analysis.report.facts import Life
from tracert_analysis.report.phrases import named
from tracert_analysis.report.report import Report
from tracert_analysis.report.stories.page import PageStory
from tracert_analysis.report.stories.row import RowStory

LATER = "begun after the act in question"


def life_line(
    about: str,
    signs: Mapping[str, str],
    name: str,
    story: PageStory | RowStory,
    report: Report,
    touched: Callable[[Life], str],
) -> Iterator[Drawing]:
    """One drawing, none without a life.

    `signs` says what characters mean, of which those that the drawing has are told; `touched` in a few words
    what was done in one life.
    """
    first, last = report.evidence.first_seq or 0, report.evidence.last_seq or 1

    def owner(life: Life) -> str:
        had = [lives.owner_of(life), *life.also] if life.owner else [*life.also] or [lives.owner_of(life)]
        more = f" and {len(had) - lives.OWNERS} more" if len(had) > lives.OWNERS else ""
        return named(had[: lives.OWNERS], report.names) + more

    def told(life: Life) -> str:
        return LATER if life in story.later else touched(life)

    drawn = (*story.lives, *story.later)
    mark = marked(story, report.moment)
    lines = lives.draw(name, drawn, first, last, mark, owner)
    if lines:
        figure = lives.figure(name, drawn, first, last, mark, owner, told)
        known = {**signs, "!": "the act in question"}
        yield Drawing(about, tuple(lines), figure, legend(known, lives.signs(drawn, first, last, mark)))


def marked(story: PageStory | RowStory, moment: int) -> int | None:
    """The event of the act in question; None where that is no act on the page, which somebody asked for."""
    asked = isinstance(story, PageStory) and story.asked
    touched = any(moment in life.reads or moment in life.writes for life in story.lives)
    return moment if touched or not asked else None
