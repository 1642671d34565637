"""The access that breaks the rule, or what the host did in its stead, among the launches around it."""

from collections.abc import Iterator

from tracert_analysis.report.document import Block, Drawing, Fact, Facts, Section
from tracert_analysis.report.drawings import streams
from tracert_analysis.report.drawings.legend import legend
from tracert_analysis.report.phrases import counted, fence, ordered, place, spelt, when
from tracert_analysis.report.report import Access, HostAct, Report
from tracert_analysis.report.sections.verdict import IN_COMMON


def access(report: Report) -> Section:
    """Who did it, for whom, and against which earlier act."""
    title = "ACCESS THAT BREAKS THE RULE" if report.findings else "LAST LAUNCH TO START"
    doubtful = any(row.leftovers for row in report.rows)
    whole = report.evidence.whole
    facts = tuple(_access(report.access, report, doubtful, whole)) if report.access is not None else ()
    others = Facts(tuple(_others(report)) if facts else ())
    return Section("access", title, (Facts(facts), *_around(report, facts), others))


def host(report: Report) -> Section:
    """What the host did, where no launch breaks the rule, and which launch it concerns."""
    facts = tuple(_host(report.host)) if report.host is not None else ()
    others = Facts(tuple(_others(report)) if facts else ())
    return Section("host", "WHAT THE HOST DID", (Facts(facts), *_around(report, facts), others))


def _access(found: Access, report: Report, doubtful: bool, whole: bool) -> Iterator[Fact]:
    act = found.act
    if found.why:
        yield Fact("which", found.why)
    phase = f", {act.phase}" if act.phase else ""
    phase += f", step {act.step}" if act.phase and act.step is not None else ""
    apart = found.other is not None and found.other.stream != act.stream
    named = ordered if apart else place
    yield Fact("launch", f"{named(act)}{phase}, {when(act)}", (found.query,), "bad")
    yield from _request(found.request, found.request_id)
    if found.row is not None:
        walks = f", walks {counted(found.walked, 'entries')}" if found.walked is not None else ""
        does = "is meant to read" if doubtful else "reads"
        reads = f", {does} {spelt(*found.positions)} of the sequence" if found.positions else ""
        yield Fact("row", f"{found.row}, generation {found.generation}{walks}{reads}")
    if found.other is not None and found.other != act:
        yield Fact("against", f"{named(found.other)}, {when(found.other)}")
        if apart:
            told = fence(found.fence, found.other, report.streams, whole=whole)
            yield Fact("last fence", told, (found.fence_query,))


def _others(report: Report) -> Iterator[Fact]:
    """How others of the same kind fared."""
    before = ""
    for found in report.contrast:
        if found.label == IN_COMMON:
            continue
        yield Fact(found.label if found.label != before else "", found.text, (found.query,))
        before = found.label


def _host(found: HostAct) -> Iterator[Fact]:
    yield Fact("event", f"{found.kind}, seq {found.seq}", (found.query,), "bad")
    yield from _request(found.request, found.request_id)
    if found.other is not None:
        yield Fact("against", f"{place(found.other)}, {when(found.other)}")
    if found.concerned is not None:
        yield Fact("concerns", f"{place(found.concerned)}, {when(found.concerned)}")


def _request(number: int | None, name: str | None) -> Iterator[Fact]:
    if number is not None:
        yield Fact("request", f"{number} ({name})" if name else str(number))


def _around(report: Report, facts: tuple[Fact, ...]) -> Iterator[Block]:
    """The drawing of the launches around the act, where there is a section for it to stand in."""
    around = report.surroundings
    if around is None or not facts:
        return
    act = report.access.act if report.access is not None else None
    other = report.access.other if report.access is not None else report.host.other if report.host else None
    edge = around.missing
    drawn = streams.signs(around, act, other)
    yield Facts((Fact("around it", "launches in the order of events, a column a stream", (around.query,)),))
    yield Drawing(
        "launches around the act in question, by stream, with the fences between them",
        tuple(streams.draw(around, act, edge, other)),
        streams.figure(around, act, edge, other),
        legend(streams.MEANINGS, drawn),
    )
