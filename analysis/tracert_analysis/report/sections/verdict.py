"""The verdict: confidence, error, the missing call, fixes, and what the counterfactual says."""

from collections.abc import Iterator

from tracert_analysis.report.document import Fact, Facts, Section, Tone
from tracert_analysis.report.errors import SUBCODES
from tracert_analysis.report.facts import Act, Edge
from tracert_analysis.report.phrases import ordered, place
from tracert_analysis.report.report import ErrorFact, Repetition, Report, Verdict

IN_COMMON = "in common"
"""Of what is told of the others, what sets apart what broke the rule: it points at a place in the code."""
LEGACY = 0
"""The number of the legacy stream."""


def verdict(report: Report) -> Section:
    """What somebody at three in the morning reads first."""
    return Section("verdict", "", (Facts(tuple(_facts(report))),))


def _facts(report: Report) -> Iterator[Fact]:
    found = report.verdict
    name = f"{found.code} {found.name}, " if found.code else ""
    tone: Tone = "bad" if found.code else "plain"
    scope = f" ({found.standing.scope})" if found.standing is not None else ""
    told = f"{name}confidence: {found.confidence}{scope}" if found.code else "no finding"
    yield Fact("verdict", told, (found.query,), tone)
    if report.error is not None:
        yield from _error(report.error)
    if found.repetition is not None:
        yield from _repetition(found, found.repetition)
    yield from _edges(report)
    for item in report.contrast:
        if item.label == IN_COMMON:
            yield Fact(item.label, item.text, (item.query,))
    yield from _advice(found)
    if found.counterfactual:
        yield Fact("counterfactual", found.counterfactual)
        if found.uncounted is not None:
            stay = f"; what was seen stays in it and is not counted: {', '.join(found.uncounted)}"
            left = stay if found.uncounted else ""
            yield Fact("", f"in an edited history: nothing was run again{left}")
    if found.standing is not None:
        known = found.standing
        parts = (("observed", known.observed), ("inferred", known.inferred), ("open", known.open))
        for label, items in parts:
            if items:
                yield Fact(label, "; ".join(items))
    if found.code:
        yield Fact("more", f"tracert explain {found.code}", (), "quiet")


def _advice(found: Verdict) -> Iterator[Fact]:
    """What repairs it, and how the repairs belong together; what only hardens, shows or masks it."""
    if found.fix_how:
        yield Fact("fix", f"{found.fix_how}:" if found.fix else found.fix_how, (), "good")
    for number, fix in enumerate(found.fix):
        label = "" if number or found.fix_how else "fix"
        yield Fact(label, f"{number + 1}. {fix}" if len(found.fix) > 1 else fix, (), "good")
    beside = (
        ("hardening", found.hardening),
        ("detection", found.detection),
        ("only masks", found.masks),
        ("option", found.options),
    )
    for label, items in beside:
        for number, item in enumerate(items):
            yield Fact("" if number else label, item)


def _repetition(found: Verdict, again: Repetition) -> Iterator[Fact]:
    """Which event broke the rule first, and which one the report tells of: they are one bug."""
    seen = "; nothing went visibly wrong there" if again.visible else ""
    if again.consequence:
        seen = ": by then the launch had ended, and the block was not given back"
    broken = found.first or found
    first = Fact("first broken", f"seq {broken.seq}: {_by(broken.act)}, {broken.resource}{seen}")
    same = f"number {again.number} of {again.of} of the same bug: the same kernels on the same streams"
    if again.consequence:
        same = "that block was live then"
    label = "went wrong" if again.visible else "could harm"
    shown = Fact(label, f"seq {again.seq}: {_by(again.act)}, {again.resource}; {same}", (), "bad")
    # In the order of the sentence: a kept block comes before who lacks it.
    yield from (first, shown) if again.consequence else (shown, first)


def _by(act: Act | None) -> str:
    return place(act) if act is not None else "the host"


def _error(error: ErrorFact) -> Iterator[Fact]:
    at = f", learnt at {error.observed_at}" if error.observed_at else ""
    yield Fact("error", f"{error.code} {error.name} {error.message!r}{at}")
    yield Fact("misleading" if error.misleading else "", error.remark)
    if error.detail:
        yield Fact("", ", ".join(_detail(name, value) for name, value in error.detail.items()))


def _detail(name: str, value: object) -> str:
    meaning = SUBCODES.get((name, value)) if isinstance(value, int) else None
    told = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{name}={told}" + (f" ({meaning})" if meaning else "")


def _edges(report: Report) -> Iterator[Fact]:
    """The order that lacks: that of the title first, then where it lacked first, and what lacks beside it."""
    found = report.verdict
    if found.missing_edge is not None:
        yield from _edge(found.missing_edge, report)
    first = found.first.missing_edge if found.first is not None else None
    if first is not None:
        told = f"{ordered(first.earlier)} -> {ordered(first.later)}"
        yield Fact("missing first", f"{told}: the same call", (first.query,), "bad")
    for edge in found.missing_beside:
        yield from _edge(edge, report, "and missing")


def _edge(edge: Edge, report: Report, label: str = "missing edge") -> Iterator[Fact]:
    earlier, later = edge.earlier, edge.later
    yield Fact(label, f"{ordered(earlier)} -> {ordered(later)}", (), "bad")
    between = f"after {earlier.name}, before {later.name}"
    call = f"`{edge.call}`," if "(" in edge.call else f"{edge.call},"
    yield Fact("missing call", f"{call} {between}", (), "good")
    if edge.misplaced is not None:
        yield Fact("there is", edge.misplaced.told)
    name = earlier.stream_name
    known = f"nothing on {name}"
    if edge.reaches:
        known = f"{name} up to number {edge.reaches}, not {earlier.ordinal}"
    elif not report.evidence.whole:
        known = f"nothing on {name} that the recorded window has; what lies before it is not known"
    if earlier.launch:
        yield Fact(
            "known order", f"{later.name} is ordered after {known}{_implied(edge, report)}", (edge.query,)
        )


def _implied(edge: Edge, report: Report) -> str:
    """Whether the legacy stream, being one of the two, orders the other one without a call."""
    streams = {edge.earlier.stream, edge.later.stream}
    if LEGACY not in streams:
        return ""
    other = next((found for found in report.in_flight if found.stream in streams - {LEGACY}), None)
    if other is None or other.blocking is not False:
        return ""
    return f"; {other.name} is a non-blocking stream: the legacy stream orders nothing there by itself"
