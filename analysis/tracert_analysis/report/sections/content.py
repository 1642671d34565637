"""Whose bytes a page has when the verdict's launch meets it, who left them, and what would only hide it."""

from collections.abc import Iterator
from itertools import combinations

from tracert_analysis.report.document import Fact, Facts, Section, Tone
from tracert_analysis.report.phrases import LISTED, counted, hold, page_name, place, positions
from tracert_analysis.report.report import Report
from tracert_analysis.report.sections.whose import alike, whose
from tracert_analysis.report.stories.content import BytesStory, Uncomputed


def content(report: Report) -> Section:
    """The page as the launch meets it, then whose the wrong bytes are and what is missing."""
    facts = tuple(_facts(report.content, report)) if report.content is not None else ()
    return Section("bytes", "WHOSE BYTES", (Facts(facts),))


def _facts(story: BytesStory, report: Report) -> Iterator[Fact]:
    written, owner, end, clears = (*story.queries[:4], 0, 0, 0, 0)[:4]
    yield Fact("page", f"{page_name(story.page, story.life)}, as the launch meets it", (written,))
    groups = list(alike(story.runs))
    for group in groups[:LISTED]:
        tone: Tone = "bad" if group[0].stale else "plain"
        place_of = positions(group[0].first, group[-1].end)
        yield Fact(place_of, whose(group, report.names), (written,), tone)
    if len(groups) > LISTED:
        yield Fact("", f"and {len(groups) - LISTED} more runs of positions")
    left_out = report.uncomputed
    if left_out is not None:
        yield Fact("not computed", uncomputed(left_out), (left_out.query,), "bad")
    zeros = left_out is not None and left_out.blank
    if not any(found.stale for found in story.runs) and story.clears is None and not zeros:
        where = "" if report.evidence.whole else " in the recorded window"
        yield Fact("the rest", f"nothing wrote or cleared it{where}", (written,), "bad")
    if story.owner is not None:
        writer = next((found.origin or found.writer for found in story.runs if found.stale), None)
        if writer is not None:
            yield Fact("their writer", f"{place(writer)}, seq {writer.seq}", (written,))
        whole = report.evidence.whole
        yield Fact("their owner", hold(story.owner, "life", report.names, whole=whole), (owner,))
        yield from _beside(story, report)
    if story.ended_seq is not None:
        yield Fact("its end", _end(story, story.ended_seq), (end,))
    if story.clears is not None:
        told = "none of these positions since they were written"
        if story.clears:
            told = f"{counted(story.clears, 'clears')} of some of these positions since they were written"
        wrong = report.verdict.wrong_range
        if wrong is not None and not story.clears:
            told = f"none of these positions; {wrong}"
        yield Fact("clears", told, (clears,))
    if story.nonfinite is not None:
        yield Fact("not finite", story.nonfinite, story.queries[-1:])


def uncomputed(found: Uncomputed) -> str:
    """Which valid positions nobody computed, and between which launches they were left out."""
    sequence = f"the sequence of request {found.request}" if found.request is not None else "the sequence"
    if found.before is None or found.first is None or found.end is None:
        return f"{place(found.act)} takes positions before {found.start} of {sequence} for valid"
    left_out = f"{positions(found.first, found.end)} of {sequence}"
    ended = f"{place(found.before)}, seq {found.before.seq}, ended before"
    return f"{left_out}: {ended}, and {place(found.act)} starts at {found.start}"


def _beside(story: BytesStory, report: Report) -> Iterator[Fact]:
    """Who else held that life, and whether what each stored there lies apart."""
    whole = report.evidence.whole
    beside, placed = story.queries[4:5], story.queries[5:6]
    for number, found in enumerate(story.sharers[:LISTED]):
        text = hold(found, "life", report.names, whole=whole)
        yield Fact("shared with" if number == 0 else "", text, beside)
    if len(story.sharers) > LISTED:
        yield Fact("", f"and {len(story.sharers) - LISTED} more")
    if len(story.slots) > 1:
        told = ", ".join(
            f"bytes {positions(first, end)} snapshot {snapshot}"
            for snapshot, first, end in story.slots[:LISTED]
        )
        over = any(
            one[0] != other[0] and one[1] < other[2] and other[1] < one[2]
            for one, other in combinations(story.slots, 2)
        )
        apart = "two of these overlap" if over else "they lie apart, and none was stored over another"
        yield Fact("its slots", f"{told}: {apart}", placed, "bad" if over else "plain")


def _end(story: BytesStory, ended: int) -> str:
    """When the life ended, behind which fence, and what that fence stands for."""
    if story.fence is None:
        return f"seq {ended}, when its last holder gave it back; without a fence"
    text = f"seq {ended}, when its last holder gave it back; retired behind fence {story.fence}"
    use, recorded = story.last_use, story.fence_record_seq
    if use is not None and recorded is not None and story.covered is not None:
        does = "covers" if story.covered else "does not cover"
        text += f", recorded at seq {recorded}, which {does} the last launch that touched that life, "
        text += f"{place(use)}, seq {use.seq};"
    if story.fence_passed_seq is None:
        return f"{text.rstrip(';')}; it is not seen to pass"
    return f"{text.rstrip(';')}; it passed at seq {story.fence_passed_seq}"
