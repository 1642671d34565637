"""A row of the block table: owners, publishes, what a launch that is too early finds in it, generations."""

from collections.abc import Iterator

from tracert_analysis.report.document import Block, Drawing, Fact, Facts, Section
from tracert_analysis.report.drawings import entries, lives
from tracert_analysis.report.drawings.legend import legend
from tracert_analysis.report.facts import Life
from tracert_analysis.report.phrases import fence, hold, leftovers, named, page_name, write
from tracert_analysis.report.report import Report
from tracert_analysis.report.sections.life_line import life_line
from tracert_analysis.report.stories.row import RowStory, Strip

PUBLISHES = 4
"""Of the publishes of a row the last so many are listed."""
ENTRIES = {
    "=": "names a page",
    "x": "no page of the pool",
    ".": "published and not executed",
    "!": "the act in question",
}
RUNS = 6
"""Of the runs of pages that a publish names the first so many are listed."""


def row(story: RowStory, report: Report) -> Section:
    """The story of a row."""
    return Section(f"row-{story.row}", f"ROW {story.row}", tuple(_blocks(story, report)))


def _blocks(story: RowStory, report: Report) -> Iterator[Block]:
    yield Facts(tuple(_facts(story, report)))
    name = f"row {story.row}"
    yield from life_line(
        f"generations of {name}: who had it, its publishes (written) and uses (read)",
        {"=": "somebody had it", "w": "published", "x": "published as no page", "r": "used"},
        name,
        story,
        report,
        _times,
    )
    if story.entries:
        first, last = report.evidence.first_seq or 0, report.evidence.last_seq or 1
        drawn, _, _ = lives.shown((*story.lives, *story.later), report.moment)
        axis = (*lives.span(drawn, first, last), report.moment)
        walked = 0
        if report.access is not None and report.access.row == story.row:
            walked = report.access.walked or 0
        yield Drawing(
            f"entries of {name} in time: the page.life that each names, of several the first one's",
            tuple(entries.draw(story.entries, *axis, walked)),
            entries.figure(story.entries, *axis, walked),
            legend(ENTRIES, entries.signs(story.entries, *axis, walked)),
        )


def _times(life: Life) -> str:
    if life.times is None:
        return ""
    publishes, uses = life.times
    return f"{publishes} publish{'es' if publishes != 1 else ''}, {uses} use{'s' if uses != 1 else ''}"


def _facts(story: RowStory, report: Report) -> Iterator[Fact]:
    owners, writers, left = (*story.queries[:3], 0, 0, 0)[:3]
    whole = report.evidence.whole
    yield Fact("last owner", hold(story.last_owner, "generation", report.names, whole=whole), (owners,))
    yield from _not_yet(story, report)
    yield Fact("previous owner", hold(story.previous_owner, "generation", report.names, whole=whole))
    yield Fact("last writer", write(story.last_writer, whole=whole), (writers,))
    yield Fact("before that", write(story.previous_writer, whole=whole))
    writer = story.last_writer.act if story.last_writer else None
    # A fence is only asked for where a launch in question follows the publish on another stream.
    if any(story.queries[3:4]):
        yield Fact("last fence", fence(story.last_fence, writer, report.streams, whole=whole))
    yield from _published(story)
    if story.leftovers:
        yield Fact("too early", "until the publish has executed, the row holds:", (left,), "bad")
        for line in leftovers(story.leftovers, report.names, whole=whole):
            yield Fact("", line)


def _not_yet(story: RowStory, report: Report) -> Iterator[Fact]:
    """The generation that the launch in question is for, where it begins behind it."""
    used = report.access
    if used is None or used.row != story.row:
        return
    later = next((life for life in story.later if life.number == used.generation), None)
    if later is not None and later.owner is not None:
        whose = named([later.owner], report.names)
        yield Fact("next owner", f"{whose}, generation {later.number}, from seq {later.from_seq} on")


def _published(story: RowStory) -> Iterator[Fact]:
    """The last publishes, the latest first, with what each put where."""
    query = story.queries[4:5]
    seqs = sorted({strip.seq for strip in story.entries}, reverse=True)
    for number, seq in enumerate(seqs[:PUBLISHES]):
        found = [strip for strip in story.entries if strip.seq == seq]
        one = found[0]
        by = "known by a keyframe"
        if one.launch is not None:
            by = f"by launch {one.launch} on {one.stream_name} ({one.state or 'state unknown'})"
        epoch = f", epoch {one.epoch}" if one.epoch is not None else ""
        put = "; ".join(map(_put, found[:PUBLISHES])) + ("; ..." if len(found) > PUBLISHES else "")
        text = f"seq {seq}, generation {one.generation}{epoch}, {by}: {put}"
        yield Fact("published" if number == 0 else "", text, query)
    if len(seqs) > PUBLISHES:
        yield Fact("", f"and {len(seqs) - PUBLISHES} earlier ones")


def _put(strip: Strip) -> str:
    where = entries.label((strip.first, strip.end))
    page, life = strip.pages[0]
    if not strip.in_pool:
        return f"{where}: no page ({page})"
    if len(strip.pages) == 1:
        return f"{where}: {page_name(page, life)}"
    runs = list(_runs(strip.pages))
    left = sum(end - first for first, end, _ in runs[RUNS:])
    more = f" and {left} more" if left else ""
    return f"{where}: pages {', '.join(map(_run, runs[:RUNS]))}{more}"


def _runs(pages: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int, int]]:
    """Neighbouring pages of one life in a row: first and end page, and the life."""
    first, life = pages[0]
    end = first
    for page, its_life in pages:
        if (page, its_life) != (end, life):
            yield first, end, life
            first, end, life = page, page, its_life
        end += 1
    yield first, end, life


def _run(run: tuple[int, int, int]) -> str:
    first, end, life = run
    return f"{first}.{life} to {end - 1}.{life}" if end > first + 1 else f"{first}.{life}"
