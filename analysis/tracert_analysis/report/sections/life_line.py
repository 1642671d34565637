"""The lives of a page, or the generations of a row, drawn between the first and the last event."""

from collections.abc import Callable, Iterator, Sequence

from tracert_analysis.report.document import Drawing
from tracert_analysis.report.drawings import lives
from tracert_analysis.report.facts import Life
from tracert_analysis.report.phrases import named
from tracert_analysis.report.report import Report


def life_line(
    about: str, signs: str, name: str, drawn: Sequence[Life], report: Report, touched: Callable[[Life], str]
) -> Iterator[Drawing]:
    """One drawing, none without a life.

    `signs` says what its characters mean, `touched` in a few words what was done in one life.
    """
    first, last = report.evidence.first_seq or 0, report.evidence.last_seq or 1

    def owner(life: Life) -> str:
        had = [lives.owner_of(life), *life.also] if life.owner else [*life.also] or [lives.owner_of(life)]
        more = f" and {len(had) - lives.OWNERS} more" if len(had) > lives.OWNERS else ""
        return named(had[: lives.OWNERS], report.names) + more

    lines = lives.draw(name, drawn, first, last, report.moment, owner)
    if lines:
        figure = lives.figure(name, drawn, first, last, report.moment, owner, touched)
        yield Drawing(about, tuple(lines), figure, signs)
