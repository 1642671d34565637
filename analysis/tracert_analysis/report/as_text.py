"""The report as text for a terminal or a ticket: the answer first, the evidence after it. Knows no SQL.

`[3]` behind a line is the number of the query that gave it; the queries stand at the end, when asked for.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from tracert_analysis.answers import printable
from tracert_analysis.report.bytes_text import bytes_lines
from tracert_analysis.report.facts import Lane, StreamFact
from tracert_analysis.report.findings import REPEATED, SAME_ORDER
from tracert_analysis.report.phrases import (
    LISTED,
    fence,
    hold,
    leftovers,
    more,
    named,
    place,
    when,
    write,
)
from tracert_analysis.report.report import Access, Finding, HostAct, Report
from tracert_analysis.report.stories import PageStory, RowStory, WorkspaceStory
from tracert_analysis.report.timeline import draw
from tracert_analysis.report.workspace_drawing import draw_workspace

WIDTH = 110


def render(report: Report, show_sql: bool = False) -> str:
    """The whole report, sections in the order in which somebody at three in the morning wants them.

    `show_sql` adds the queries; without it a line says how many there are.
    """
    parts = [
        [report.title, "", *wrap(report.verdict.sentence)],
        verdict(report),
        section(
            "ACCESS THAT BREAKS THE RULE" if report.findings else "LAST LAUNCH TO START",
            access(report.access),
        ),
        section("WHAT THE HOST DID", host(report.host)),
        *(section(f"ROW {story.row}", row(story, report)) for story in report.rows),
        *(section(f"PAGE {story.page}", page(story, report)) for story in report.pages),
        section("WHOSE BYTES", content(report)),
        section("WORKSPACE", workspace(report.workspace)),
        section("ACQUITTED", acquitted(report)),
        section("LAUNCHES AT THE END", streams(report.in_flight)),
        section("LANES", lanes(report)),
        section("WHAT WAS NEW ABOUT THIS LAUNCH", novelties(report)),
        section("OTHER FINDINGS", others(report)),
        section("EVIDENCE", evidence(report)),
        section("REPRODUCE", reproduce(report)),
        section("QUERIES (tracert sql DUMP '...')", queries(report) if show_sql else ()),
        behind(report) if report.queries and not show_sql else (),
    ]
    shown = [[printable(line) for line in part] for part in parts]
    return "\n\n".join("\n".join(lines) for lines in shown if lines) + "\n"


def verdict(report: Report) -> Iterator[str]:
    """Confidence, error, missing call, fixes, counterfactual."""
    found = report.verdict
    name = f"{found.code} {found.name}, " if found.code else ""
    yield f"verdict        {name}confidence: {found.confidence}{cite(found.query)}"
    if report.error is not None:
        error = report.error
        at = f", learnt at {error.observed_at}" if error.observed_at else ""
        yield f"error          {error.code} {error.name} {error.message!r}{at}"
        yield from hanging("misleading" if error.misleading else "", error.remark)
        if error.detail:
            yield from hanging("", ", ".join(f"{name}={value}" for name, value in error.detail.items()))
    if found.missing_edge is not None:
        edge = found.missing_edge
        yield from hanging("missing edge", f"{place(edge.earlier)} -> {place(edge.later)}")
        between = f"after launch {edge.earlier.launch}, before launch {edge.later.launch}"
        yield from hanging("missing call", f"{edge.call}   {between}")
        earlier, name = edge.earlier, edge.earlier.stream_name
        known = (
            f"{name} up to number {edge.reaches}, not {earlier.ordinal}"
            if edge.reaches
            else f"nothing on {name}"
        )
        reach = f"launch {edge.later.launch} is ordered after {known}{cite(edge.query)}"
        yield from hanging("known order", reach)
    for number, fix in enumerate(found.fix):
        yield from hanging("fix" if number == 0 else "", f"{number + 1}. {fix}")
    if found.counterfactual:
        yield from hanging("counterfactual", found.counterfactual)
    if found.code:
        yield f"more           tracert explain {found.code}"


def access(found: Access | None) -> Iterator[str]:
    """Who did it, for whom, and against which earlier act."""
    if found is None:
        return
    act = found.act
    phase = f", {act.phase}, step {act.step}" if act.phase else ""
    yield from hanging("launch", f"{place(act)}{phase}, {when(act)}{cite(found.query)}")
    if found.request is not None:
        named = f" ({found.request_id})" if found.request_id else ""
        yield from hanging("request", f"{found.request}{named}")
    if found.row is not None:
        walks = f", walks {found.walked} entries" if found.walked is not None else ""
        reads = f", reads positions {found.positions[0]}..{found.positions[1]}" if found.positions else ""
        yield from hanging("row", f"{found.row}, generation {found.generation}{walks}{reads}")
    if found.other is not None:
        yield from hanging("against", f"{place(found.other)}, {when(found.other)}")
        if found.other.stream != act.stream:
            yield from hanging("last fence", f"{fence(found.fence, found.other)}{cite(found.fence_query)}")


def host(found: HostAct | None) -> Iterator[str]:
    """What the host did, where no launch breaks the rule, and which launch it concerns."""
    if found is None:
        return
    yield from hanging("event", f"{found.kind}, seq {found.seq}{cite(found.query)}")
    if found.request is not None:
        named = f" ({found.request_id})" if found.request_id else ""
        yield from hanging("request", f"{found.request}{named}")
    if found.other is not None:
        yield from hanging("against", f"{place(found.other)}, {when(found.other)}")
    if found.concerned is not None:
        yield from hanging("concerns", f"{place(found.concerned)}, {when(found.concerned)}")


def row(story: RowStory, report: Report) -> Iterator[str]:
    """Owners and publishes of a row, what a launch that is too early finds in it, its generations."""
    yield from hanging(
        "last owner", f"{hold(story.last_owner, 'generation', report.names)}{cite(*story.queries[:1])}"
    )
    yield from hanging("previous owner", f"{hold(story.previous_owner, 'generation', report.names)}")
    yield from hanging("last writer", f"{write(story.last_writer)}{cite(*story.queries[1:2])}")
    yield from hanging("before that", f"{write(story.previous_writer)}")
    yield from hanging(
        "last fence", f"{fence(story.last_fence, story.last_writer.act if story.last_writer else None)}"
    )
    if story.leftovers:
        yield f"until the publish has executed, the row holds{cite(*story.queries[2:3])}:"
        yield from leftovers(story.leftovers, report.names)
    yield ""
    yield from draw(f"row {story.row}", story.lives, *window(report), mark=report.moment)


def page(story: PageStory, report: Report) -> Iterator[str]:
    """Owners, writer and fence of a page, its lives."""
    yield from hanging("why", f"{story.why}")
    also = f"; also held by {named(story.also_held_by, report.names)}" if story.also_held_by else ""
    yield from hanging(
        "last owner", f"{hold(story.last_owner, 'life', report.names)}{also}{cite(*story.queries[:1])}"
    )
    first = story.previous_owner is None and story.life == 1
    previous = "none: this is its first life" if first else hold(story.previous_owner, "life", report.names)
    yield from hanging("previous owner", previous)
    yield from hanging("last writer", f"{write(story.last_writer)}{cite(*story.queries[1:2])}")
    writer = story.last_writer.act if story.last_writer else None
    told = "none needed: writer and reader are on one stream" if writer else "none needed: nobody wrote it"
    if writer and story.needs_fence:
        told = fence(story.last_fence, writer)
    yield from hanging("last fence", f"{told}{cite(*story.queries[2:3])}")
    yield ""
    yield from draw(str(story.page), story.lives, *window(report), mark=report.moment)


def content(report: Report) -> Iterator[str]:
    """What stands in the page, who left it there, and what would only hide it."""
    story = report.content
    if story is not None:
        for label, text, query in bytes_lines(story, report.names):
            yield from hanging(label, f"{text}{cite(*story.queries[query : query + 1])}")


def workspace(story: WorkspaceStory | None) -> Iterator[str]:
    """What is live and whose it is, what was to fit in, and what would only hide it."""
    if story is None:
        return
    if story.planned is not None:
        need = f"launch {story.launch} planned {story.planned} bytes in one piece"
        room = f"the largest room is {story.room} of {story.capacity}"
        yield from hanging("planned", f"{need}; {room}{cite(*story.queries[1:2])}")
    for number, block in enumerate(story.live[:LISTED]):
        named = f", for {block.request_id}" if block.request_id else ""
        what = f"{block.kernel} {block.phase or ''}".strip() if block.kernel else "unnamed"
        yield from hanging(
            "live" if number == 0 else "",
            f"{block.nbytes} bytes at {block.offset}: launch {block.launch} ({what}{named}), "
            f"{block.age} launches old, taken at seq {block.seq}{cite(*story.queries[:1])}",
        )
    yield from more(story.live)
    if story.mask is not None:
        yield from hanging("only masks", f"{story.mask}{cite(*story.queries[2:3])}")
    yield from draw_workspace(story)


def acquitted(report: Report) -> Iterator[str]:
    """What was checked and found right, and why; why there is nothing, where there is nothing."""
    if report.host is not None and not report.acquitted:
        concerned = report.host.concerned
        yield (
            "nothing: the host broke the rule, and no launch of the history is over that row or request"
            if concerned is None
            else f"nothing: of what launch {concerned.launch} touches, findings tell, or it touches no page"
        )
    for item in report.acquitted:
        yield from hanging(str(item.resource), f"{item.why}{cite(item.query)}", indent=24)


def streams(facts: Sequence[StreamFact]) -> Iterator[str]:
    """Progress of each stream and what had not finished."""
    for fact in facts:
        words = f"launched {fact.launched:<6} started {fact.started:<6} finished {fact.finished:<6}"
        yield f"{fact.stream} {fact.name:<12} {words}".rstrip()
        for label, acts in (("running", fact.running), ("waiting", fact.waiting)):
            for act in acts[:LISTED]:
                phase = f" {act.phase}, step {act.step}" if act.phase else ""
                yield f"    {label}  launch {act.launch} {act.kernel}{phase}"
            yield from more(acts)


def lanes(report: Report) -> Iterator[str]:
    """Frontier and transaction of each row."""
    if not report.lanes:
        return
    names = [field.name for field in fields(Lane)]
    cells = [
        ["-" if (cell := getattr(lane, name)) is None else str(cell) for name in names]
        for lane in report.lanes
    ]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    for line in (names, *cells):
        yield "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))


def novelties(report: Report) -> Iterator[str]:
    """Traits of the launch that few before it had."""
    for item in report.what_was_new:
        yield f"{item.what}: {item.support} of {item.of} before it{cite(item.query)}"


def others(report: Report) -> Iterator[str]:
    """Findings after the verdict, and whether they follow from it; those of one kind on one line."""
    groups: dict[tuple[str, str | None], list[Finding]] = {}
    for item in report.findings[1:]:
        groups.setdefault((item.code, item.follows), []).append(item)
    for (code, follows), items in list(groups.items())[:LISTED]:
        why = f"A consequence: {follows}." if follows else "On its own."
        if follows == SAME_ORDER:
            why = f"{follows.capitalize()}."
        if follows == REPEATED:
            places = ", ".join(str(item.seq) for item in items[:LISTED])
            rest = f" and {len(items) - LISTED} more" if len(items) > LISTED else ""
            yield from hanging(code, f"{len(items)} more of the same, at seq {places}{rest}")
        else:
            times = f" ({len(items)} of them, until seq {items[-1].seq})" if len(items) > 1 else ""
            yield from hanging(code, f"at seq {items[0].seq}{times}: {items[0].sentence} {why}")
    yield from more(list(groups))


def evidence(report: Report) -> Iterator[str]:
    """Which dump was read, how much of the history it has, and what it cannot say."""
    found = report.evidence
    name, reason = report.dump.get("name"), report.dump.get("reason")
    if name:
        yield from hanging("dump", f"{name}, written for: {reason}" if reason else str(name))
    span = f", seq {found.first_seq} to {found.last_seq}" if found.first_seq is not None else ""
    whole = "truncated: the end of the file is missing" if found.truncated else "not truncated"
    yield f"{found.events} events{span}; lost {found.lost}, torn {found.torn}; {whole}{cite(found.query)}"
    if found.checked:
        yield "checked: " + ", ".join(f"{count} {what}" for what, count in found.checked.items())
    for item in found.unknown:
        yield from hanging("unknown", item)


def reproduce(report: Report) -> Iterator[str]:
    """The command, the schedule that it asked for, and what else it takes."""
    yield from hanging("command", report.reproduce.command)
    if report.reproduce.schedule:
        yield f"schedule       {shorten(report.reproduce.schedule)}"
    yield from hanging(
        "requests",
        "the same ones, in the same order: a dump has the lengths of prompts and answers (events of kind "
        "arrive and finish), not their text",
    )


def behind(report: Report) -> Iterator[str]:
    """Where the SQL is."""
    count = len(report.queries)
    yield f"[n] is the query behind a line: --show-sql prints all {count}, --format json has them."


def queries(report: Report) -> Iterator[str]:
    """The SQL behind each line."""
    for query in report.queries:
        yield f"[{query.id}] {query.about}"
        yield from (f"    {line}" for line in query.sql.splitlines())


def section(title: str, lines: Iterable[str]) -> list[str]:
    """The lines under a title; nothing at all when there are none."""
    body = list(lines)
    return [title, *(f"  {line}".rstrip() for line in body)] if body else []


def window(report: Report) -> tuple[int, int]:
    """First and last seq of the history."""
    return report.evidence.first_seq or 0, report.evidence.last_seq or 1


def cite(*numbers: int) -> str:
    """References to queries."""
    return "".join(f" [{number}]" for number in numbers if number)


def hanging(label: str, text: str, indent: int = 15) -> list[str]:
    """A label and its text, wrapped under itself."""
    return textwrap.wrap(
        text,
        WIDTH - 2,
        initial_indent=f"{label:<{indent - 1}} ",
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrap(text: str) -> list[str]:
    """A paragraph."""
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def shorten(text: str) -> str:
    """A long string with its middle left out; JSON has it whole."""
    return text if len(text) <= WIDTH else f"{text[:60]}...{text[-30:]} ({len(text)} characters)"
