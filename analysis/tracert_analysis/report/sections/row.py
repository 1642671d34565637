"""A row of the block table: owners, publishes, what a launch that is too early finds in it, generations."""

from collections.abc import Iterator

from tracert_analysis.report.document import Block, Fact, Facts, Section
from tracert_analysis.report.phrases import fence, hold, leftovers, write
from tracert_analysis.report.report import Report
from tracert_analysis.report.sections.life_line import life_line
from tracert_analysis.report.stories import RowStory


def row(story: RowStory, report: Report) -> Section:
    """The story of a row."""
    return Section(f"row-{story.row}", f"ROW {story.row}", tuple(_blocks(story, report)))


def _blocks(story: RowStory, report: Report) -> Iterator[Block]:
    yield Facts(tuple(_facts(story, report)))
    name = f"row {story.row}"
    yield from life_line(
        f"generations of {name}: who had it, its publishes (w) and uses (r)",
        name,
        story.lives,
        report,
        lambda life: f"{len(life.writes)} publishes, {len(life.reads)} uses",
    )


def _facts(story: RowStory, report: Report) -> Iterator[Fact]:
    owners, writers, left = (*story.queries[:3], 0, 0, 0)[:3]
    yield Fact("last owner", hold(story.last_owner, "generation", report.names), (owners,))
    yield Fact("previous owner", hold(story.previous_owner, "generation", report.names))
    yield Fact("last writer", write(story.last_writer), (writers,))
    yield Fact("before that", write(story.previous_writer))
    writer = story.last_writer.act if story.last_writer else None
    yield Fact("last fence", fence(story.last_fence, writer))
    if story.leftovers:
        yield Fact("too early", "until the publish has executed, the row holds:", (left,), "bad")
        for line in leftovers(story.leftovers, report.names):
            yield Fact("", line)
