"""How good the evidence is, how to run it again, and the queries behind it all."""

from collections.abc import Iterator

from tracert_analysis.report.document import Fact, Facts, Listing, Section
from tracert_analysis.report.phrases import LISTED, counted
from tracert_analysis.report.report import Arrival, Report, Reproduce


def evidence(report: Report) -> Section:
    """Which dump was read, how much of the history it has, and what it cannot say."""
    return Section("evidence", "EVIDENCE", (Facts(tuple(_evidence(report))),))


def reproduce(report: Report) -> Section:
    """The command, the schedule that it asked for, and what else it takes."""
    return Section("reproduce", "REPRODUCE", (Facts(tuple(_reproduce(report))),))


def queries(report: Report) -> Section:
    """The SQL behind each line."""
    return Section(
        "queries",
        "QUERIES (tracert sql DUMP '...')",
        tuple(Listing(query.id, query.about, query.sql) for query in report.queries),
        folded=True,
    )


def _evidence(report: Report) -> Iterator[Fact]:
    found = report.evidence
    name, reason = report.dump.get("name"), report.dump.get("reason")
    if name:
        yield Fact("dump", f"{name}, written on: {reason}" if reason else str(name))
    device = report.dump.get("device")
    if isinstance(device, dict) and device.get("name") == "sim":
        yield Fact(
            "device", "simulated: streams, fences and faults as a GPU has them, kernels run on the CPU"
        )
    span = f", seq {found.first_seq} to {found.last_seq}" if found.first_seq is not None else ""
    whole = "truncated: the end of the file is missing" if found.truncated else "not truncated"
    yield Fact(
        "window",
        f"{counted(found.events, 'events')}{span}; lost {found.lost}, torn {found.torn}; {whole}",
        (found.query,),
    )
    if any(page.lives for page in report.pages) or report.rows:
        yield Fact(
            "reading",
            "page 9.3 is page 9 in its third life; numbers of events (seq) have gaps where a record was long",
        )
    if found.checked:
        yield Fact("checked", ", ".join(counted(count, what) for what, count in found.checked.items()))
    for number, item in enumerate(found.unknown):
        yield Fact("unknown" if number == 0 else "", item, (), "bad")


def _reproduce(report: Report) -> Iterator[Fact]:
    yield Fact("command", report.reproduce.command or "not recorded")
    if report.reproduce.command:
        named = "`tracert sql DUMP 'SELECT fault FROM header'` names it"
        yield Fact("", f"a bug that was planted, if one was, takes --fault besides: {named}", (), "quiet")
    if report.reproduce.schedule:
        yield Fact("schedule", report.reproduce.schedule)
    yield from _requests(report.reproduce)


def _requests(found: Reproduce) -> Iterator[Fact]:
    """Who asked for how much, in order; the texts are in no dump."""
    if not found.requests:
        yield Fact("requests", "the dump tells of none that came in its window")
        return
    listed = [_asked(one) for one in found.requests[:LISTED]]
    left = found.arrived - len(listed)
    rest = f"; and {left:,} more (events of kind arrive)" if left > 0 else ""
    told = f"tokens of the prompt, and answered at most, in this order: {', '.join(listed)}{rest}"
    yield Fact("requests", told, (found.query,))
    text = "a dump has no texts: prompts that shared a prefix must share one again (events of kind match)"
    yield Fact("", text, (), "quiet")


def _asked(one: Arrival) -> str:
    name = one.id or f"request {one.request}"
    prompt = "?" if one.prompt_tokens is None else one.prompt_tokens
    most = "?" if one.max_tokens is None else one.max_tokens
    return f"{name}: {prompt} + {most}"
