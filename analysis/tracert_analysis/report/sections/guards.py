"""What guarded kernels saw: the one part of a report that was not inferred."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from tracert_analysis.report.document import Fact, Facts, Section, Tone
from tracert_analysis.report.phrases import LISTED, named, page_name, place
from tracert_analysis.report.report import Report
from tracert_analysis.report.stories.guard import GuardedEntry, GuardedValue, GuardStory


def guards(report: Report) -> Section:
    """Entries that the launch found, beside those that had been published; the first value not finite."""
    facts = tuple(_facts(report.guard, report.names)) if report.guard is not None else ()
    return Section("guards", "WHAT THE GUARDED KERNELS SAW", (Facts(facts),))


def _facts(story: GuardStory, names: Mapping[str, str]) -> Iterator[Fact]:
    counts, found, value = (*story.queries[:3], 0, 0, 0)[:3]
    wrong = [f"in {count} of them {what}" for count, what in _wrong(story) if count]
    agree = "; ".join(wrong) or (
        "every entry that they followed is what had been published, and they followed as many as they were to"
    )
    tone: Tone = "bad" if wrong else "good"
    told = f"{_count(story.told, 'row')} of {_count(story.launches, 'launch', 'es')}"
    yield Fact("told", f"{told}, {_count(story.followed, 'entr', 'ies', 'y')}; {agree}", (counts,), tone)
    if story.act is not None:
        yield from _entries(story, found)
    if story.value is not None:
        yield from _value(story.value, names, value)
    else:
        yield Fact("not finite", "none: what was stored, and what attention gave, is finite", (value,))


def _wrong(story: GuardStory) -> Iterator[tuple[int, str]]:
    """How many rows of launches, and what kernels saw in them."""
    yield story.differing, "what the history does not say should be there"
    if not story.differing:
        yield story.unpublished, "an entry in which nothing is known to have been published"
    yield story.unmeant, "an entry that had been published, though the host had not meant it"
    yield story.longer, "more entries than the launch was to follow"
    yield story.shorter, "fewer entries than the launch was to follow"


def _count(count: int, noun: str, several: str = "s", one: str = "") -> str:
    return f"{count} {noun}{one if count == 1 else several}"


def _entries(story: GuardStory, query: int) -> Iterator[Fact]:
    assert story.act is not None
    walked = f"{_count(story.walked or 0, 'entr', 'ies', 'y')} of row {story.row}"
    differs = story.declared is not None and story.declared != story.walked
    if differs:
        walked += f", and was to follow {story.declared}"
    if not story.entries:
        as_meant = "what it followed is as meant" if differs else "all as meant"
        line = f"{place(story.act)} followed {walked}: {as_meant}"
        yield Fact("followed", line, (query,), "bad" if differs else "plain")
        return
    yield Fact("followed", f"{place(story.act)} followed {walked}, and found:", (query,), "bad")
    lines = list(_grouped(story.entries))
    for line in lines[:LISTED]:
        yield Fact("", line, tone="bad")
    if len(lines) > LISTED:
        yield Fact("", f"and {len(lines) - LISTED} more like these")
    count = sum(bool(entry.differs) for entry in story.entries)
    if count:
        what = "1 entry is" if count == 1 else f"{count} entries are"
        yield Fact(
            "difference",
            f"{what} not what the history says had been published: the kernel itself found it so, which is "
            "evidence and no inference",
            tone="bad",
        )
    if story.left_out:
        yield Fact("left out", "nothing of the row was loaded or stored, for an entry of it names no page")


def _grouped(entries: tuple[GuardedEntry, ...]) -> Iterator[str]:
    """Entries that name the same thing on one line; those that name pages one by one."""

    def alike(entry: GuardedEntry) -> tuple[object, ...]:
        return entry.page, entry.index if entry.is_page else None, entry.published_page is None, entry.differs

    for _, group in groupby(entries, key=alike):
        found = list(group)
        first, last = found[0], found[-1]
        at = f"entry {first.index}" if first is last else f"entries {first.index} to {last.index}"
        what = f"page {first.page}" if first.is_page else f"{first.page}, which is no page"
        if first.page == 0:
            what = "0, which is nobody's page"
        if first.published_page is None:
            meant = "nothing is known to have been published there"
        else:
            meant = f"{page_name(first.published_page, first.published_life)} had been published there"
            meant += " ..." if first is not last else ""
            if first.is_page and first.differs is False:
                meant += ", though the host had not meant it"
        yield f"{at}: {what}; {meant}"


def _value(found: GuardedValue, names: Mapping[str, str], query: int) -> Iterator[Fact]:
    holder = f"request:{found.request}"
    whose = f" of {named([holder], {**names, **({holder: found.request_id} if found.request_id else {})})}"
    page = f", which lies in {page_name(found.page, found.life)}" if found.page is not None else ""
    at = f"at position {found.position}{whose}{page} (launch {found.launch}, told at seq {found.seq})"
    if found.layer is None or found.layer < 0:
        yield Fact(
            "not finite",
            f"the logits {at}, and nothing that was stored or attended to before",
            (query,),
            "bad",
        )
        return
    what = (
        "what attention gave" if found.value_class == "attention" else "the keys and values that were stored"
    )
    yield Fact("not finite", f"first in layer {found.layer}, in {what}, {at}", (query,), "bad")
    if found.value_class == "attention":
        yield Fact(
            "",
            "the keys and values that the launch stored up to that layer are finite: what it read is not",
        )
