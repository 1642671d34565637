"""A page: owners, writers, fence, what was looked for and not found, its lives, and the pages around it."""

from collections.abc import Callable, Iterator

from tracert_analysis.report.document import Block, Drawing, Fact, Facts, Section
from tracert_analysis.report.drawings import neighbours
from tracert_analysis.report.drawings.legend import legend
from tracert_analysis.report.facts import Act, Touched
from tracert_analysis.report.phrases import LISTED, fence, hold, named, page_name, spelt, stream, write
from tracert_analysis.report.report import Report
from tracert_analysis.report.sections.life_line import life_line
from tracert_analysis.report.sections.whose import alike, whose
from tracert_analysis.report.stories.page import LastFacts, PageStory


def page(story: PageStory, report: Report) -> Section:
    """The story of a page."""
    return Section(f"page-{story.page}", f"PAGE {story.page}", tuple(_blocks(story, report)))


def _blocks(story: PageStory, report: Report) -> Iterator[Block]:
    yield Facts(tuple(_facts(story, report)))
    yield from life_line(
        f"lives of page {story.page}: who held it, who wrote and read it",
        {"=": "held", "~": "given back, and a fence guards it", "w": "written", "r": "read"},
        str(story.page),
        story,
        report,
        lambda life: _touched(story, life.number, _short, whole=report.evidence.whole),
    )
    around = tuple(neighbours.draw(story, report.names))
    if around:
        yield Drawing(
            f"pages around page {story.page}, who holds each, what its positions hold, and those in question",
            around,
            neighbours.figure(story, report.names),
            _signs(story),
        )


def _signs(story: PageStory) -> str:
    told = legend(neighbours.MEANINGS, neighbours.signs(story))
    return f"as of event {story.at}" + (f"; of positions: {told}" if told else "")


def _facts(story: PageStory, report: Report) -> Iterator[Fact]:
    owners, written, fenced, lived, held_bytes, _, kernels = (*story.queries, *[0] * 7)[:7]
    yield Fact("why", story.why)
    if story.doubt is not None:
        yield Fact("not certain", story.doubt)
    if not story.occurs:
        told = f"page {story.page} never occurs in the recorded window: nobody held it, no launch named it"
        clear = "" if story.last_writer is None else "; what cleared the whole arena wrote it"
        yield Fact("nothing", f"{told}{clear}", (lived,), "bad")
        yield from _last_facts(story.last_facts, report, asked=story.asked)
        return
    also = f"; also held by {named(story.also_held_by, report.names)}" if story.also_held_by else ""
    whole = report.evidence.whole
    yield Fact("last owner", f"{hold(story.last_owner, 'life', report.names, whole=whole)}{also}", (owners,))
    yield Fact("previous owner", _previous(story, report))
    yield Fact("last writer", _writer(story, report), (written,))
    yield Fact("last fence", _fence(story, report), (fenced,))
    if report.content is None or report.content.page != story.page:
        groups = list(alike(story.runs))
        for number, found in enumerate(groups[:LISTED]):
            text = f"{spelt(found[0].first, found[-1].end)}: {whose(found, report.names)}"
            yield Fact("writers" if number == 0 else "", text, (held_bytes,))
        if len(groups) > LISTED:
            yield Fact("", f"and {len(groups) - LISTED} more runs of positions")
    for number, life in enumerate(sorted({found.life for found in story.touched}, reverse=True)[:3]):
        text = f"{_in_life(story.page, life)} {_touched(story, life, _times, whole=whole)}"
        yield Fact("touched" if number == 0 else "", text, (kernels,))
    yield from _last_facts(story.last_facts, report, asked=story.asked)
    for number, item in enumerate(story.not_found):
        yield Fact("not found" if number == 0 else "", item.text, (item.query,))


def _previous(story: PageStory, report: Report) -> str:
    """Who held the page before its owner; that nobody did where the history shows how it began."""
    began = report.evidence.whole or any(
        life.number == story.life and life.from_seq is not None for life in story.lives
    )
    if story.previous_owner is None and story.life == 1 and began:
        return "none: this is its first life"
    told = hold(story.previous_owner, "life", report.names, whole=report.evidence.whole)
    before = story.previous_owner
    life = next((life for life in story.lives if before is not None and life.number == before.life), None)
    if before is None or life is None or life.number == story.life:
        return told
    others = [holder for holder in (life.owner, *life.also) if holder and holder != before.holder]
    if not others:
        return told
    more = f" and {len(others) - LISTED} more" if len(others) > LISTED else ""
    return f"{told}; that life was also held by {named(others[:LISTED], report.names)}{more}"


def _writer(story: PageStory, report: Report) -> str:
    """Who wrote the page last: what lies before the history is known from the kept facts only."""
    kept, facts = story.kept_writer, story.last_facts
    act = report.access.act if report.access is not None and not story.asked else None
    if kept is None or facts is None:
        told = write(story.last_writer, whole=report.evidence.whole)
        itself = act is not None and any(act.seq in life.writes for life in story.lives)
        return f"{told}; then {act.name}, the act in question" if act is not None and itself else told
    by = f"launch {kept.launch} on {kept.stream_name}"
    return f"before the history: {by}, life {facts.writer_life}, seq {kept.seq}, by the kept facts"


def _fence(story: PageStory, report: Report) -> str:
    """The fence behind the last write, or between it and the launch in question."""
    whole = report.evidence.whole
    writer = story.last_writer.act if story.last_writer else story.kept_writer
    where = "" if whole else " in the recorded window"
    if writer is None:
        return "none needed: nobody wrote it" if whole else "not known: no write of it in the recorded window"
    if not writer.launch:
        return "none: only the host can wait for a writer that has no stream"
    if not story.needs_fence:
        return _on_one_stream(story, writer, report)
    if story.last_fence is None and story.asked:
        return f"none behind that write{where}, which a stream waited for or the host saw pass"
    told = fence(story.last_fence, writer, report.streams, whole=whole)
    first = story.asked and story.kept_writer is not None
    return f"{told}; the first that the recorded window has" if first else told


def _on_one_stream(story: PageStory, writer: Act, report: Report) -> str:
    """Why writer and launch in question need no fence, and which order lacks all the same, if one does."""
    act = report.access.act if report.access is not None else None
    if act is None:
        return "none needed: writer and reader are on one stream"
    told = f"none needed from {writer.name} to {act.name}: both are on {act.stream_name}"
    edge = report.verdict.missing_edge
    if edge is None or edge.later.launch != act.launch or edge.earlier.launch == writer.launch:
        return told
    read = any(edge.earlier.seq in life.reads for life in story.lives)
    return f"{told}; the one that is missing is behind {edge.earlier.name}, which read it" if read else told


def _last_facts(found: LastFacts | None, report: Report, *, asked: bool) -> Iterator[Fact]:
    """What the runtime kept: as of the end, whatever the rest is told as of."""
    if found is None:
        return
    holder = f"taken last by {named([found.holder], report.names)}" if found.holder else "taken by nobody"
    if found.holder and found.given_back:
        holder += ", which gave it back"
    if found.previous_holder:
        holder += f", its life before by {named([found.previous_holder], report.names)}"
    granted = f", granted at seq {found.alloc_seq}" if found.alloc_seq is not None else ""
    when = "" if asked else "at the end: "
    state = f"{when}life {found.life}{granted}, {found.state or 'state unknown'}, {holder}"
    writer = "never written"
    if found.writer is not None:
        where = stream(found.writer_stream, report.streams)
        place = f"launch {found.writer} on {where} at seq {found.writer_seq}"
        writer = f"written last by {place}, in life {found.writer_life}"
    fence = f"; retired last behind fence {found.fence}" if found.fence else ""
    yield Fact("kept facts", f"{state}; {writer}{fence}", (found.query,))


def _touched(story: PageStory, life: int, worded: Callable[[Touched], str], *, whole: bool) -> str:
    def listed(mode: str) -> str:
        items = [found for found in story.touched if found.life == life and found.mode == mode]
        more = f" and {len(items) - LISTED} more kernels" if len(items) > LISTED else ""
        return ", ".join(map(worded, items[:LISTED])) + more

    wrote, read = listed("write"), listed("read")
    nobody = "nobody" if whole else "nobody in the recorded window"
    return f"written by {wrote or nobody}; read by {read or nobody}"


def _in_life(page: int, life: int) -> str:
    """A page's life; the device's start comes before the first."""
    return f"in {page_name(page, life)}" if life else "before it was granted to anybody,"


def _times(found: Touched) -> str:
    times = "once" if found.times == 1 else f"{found.times} times"
    return f"{found.kernel} on {found.stream_name} {times}"


def _short(found: Touched) -> str:
    return f"{found.kernel} {found.times}x"
