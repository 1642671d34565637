"""What was new about the launch, and the findings beside the verdict, with why they follow if they do."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tracert_analysis.report.causes import REPEATED, SAME_ORDER
from tracert_analysis.report.document import Fact, Facts, Section
from tracert_analysis.report.phrases import LISTED
from tracert_analysis.report.report import Act, Finding, Novelty, Report

TRAITS, SETS = 4, 2
"""So many traits, and sets of traits, are printed; JSON has them all."""


def novelties(report: Report) -> Section:
    """The rarest traits of the launch, the smallest sets that it alone had, and where all are told.

    What is new at some time whatever happens is left to the query.
    """
    rows = tuple(_new(report)) if report.what_was_new else ()
    act, shown = _about(report), report.access.act if report.access is not None else None
    which = "THIS LAUNCH"
    if act is not None and shown is not None and act.launch != shown.launch:
        which = f"LAUNCH {act.launch}, WHICH KEPT THE BLOCK"
    return Section("new", f"WHAT WAS NEW ABOUT {which}", (Facts(rows),), folded=True)


def _about(report: Report) -> Act | None:
    """The launch that it is told of: of scratch that was kept the one that kept it."""
    again = report.verdict.repetition
    if again is not None and again.consequence:
        return report.verdict.act
    return report.access.act if report.access is not None else None


def _new(report: Report) -> Iterator[Fact]:
    telling = [item for item in report.what_was_new if not item.ever_new]
    traits = [item for item in telling if item.trait is not None]
    traits.sort(key=lambda item: item.support)
    sets = [item for item in telling if item.trait is None]
    if not telling:
        return
    yield Fact(
        "counted",
        f"how many launches of its kernel before it{_where(report)}, at most the last 5,000, had that, too: "
        "hints at a path that had not run, no causes",
        (),
        "quiet",
    )
    for item in traits[:TRAITS]:
        yield Fact(_count(item), _trait(item), (item.query,))
    for item in sets[:SETS]:
        one = " and ".join(f"{count} of {item.of}" for count in item.alone)
        yield Fact(_count(item), f"together: {item.value} (each alone: {one})", (item.query,))
    act = _about(report)
    left = len(report.what_was_new) - len(traits[:TRAITS]) - len(sets[:SETS])
    if left and act is not None:
        query = report.what_was_new[0].query
        yield Fact("more", f"{left} more: tracert sql DUMP 'FROM what_was_new({act.launch})'", (query,))


def _where(report: Report) -> str:
    return "" if report.evidence.whole else ", in the recorded window,"


def _count(item: Novelty) -> str:
    return f"{item.support} of {item.of}"


def _trait(item: Novelty) -> str:
    """A trait and what it was: a number stands behind a colon, with its `at least`."""
    trait, value = str(item.trait), str(item.value)
    name, comma, bound = trait.rpartition(", at ")
    if comma:
        return f"{name}: at {bound} {value}"
    return f"{trait}: {value}" if value.isdigit() and not trait.endswith(" at") else f"{trait} {value}"


def others(report: Report) -> Section:
    """Findings after the verdict, and whether they follow from it; those of one kind on one line."""
    return Section("others", "OTHER FINDINGS", (Facts((*_others(report), *_in_all(report))),))


def _others(report: Report) -> Iterator[Fact]:
    groups: dict[tuple[str, str | None, bool], list[Finding]] = {}
    again = report.verdict.repetition
    # What the report tells of is no other finding.
    told = (report.verdict.code, again.seq, again.resource) if again is not None else None
    for item in report.findings[1:]:
        if (item.code, item.seq, item.resource) == told:
            continue
        groups.setdefault((item.code, item.follows, item.independent), []).append(item)
    for (code, follows, independent), items in list(groups.items())[:LISTED]:
        alone = "Not seen to follow from the verdict."
        if independent:
            alone = "Also broken, independent of this failure."
        # That they share something is a fact, that one comes of the other is not.
        why = f"Taken for a consequence: {follows}." if follows else alone
        if follows == SAME_ORDER:
            why = f"{follows.capitalize()}."
        if follows == REPEATED:
            shown = int(told is not None and code == report.verdict.code)
            known = report.verdict.times if code == report.verdict.code else 0
            number = max(known - 1 - shown, len(items))
            yield Fact(code, f"{number:,} more of the same, at seq {_seqs(items, number)}")
        else:
            times = f" ({len(items)} of them, until seq {items[-1].seq})" if len(items) > 1 else ""
            yield Fact(code, f"at seq {items[0].seq}{times}: {items[0].sentence} {why}")
    if len(groups) > LISTED:
        yield Fact("", f"and {len(groups) - LISTED} more")


def _in_all(report: Report) -> Iterator[Fact]:
    """How many findings there are with those that are told of above; none where some are left out."""
    found = report.findings
    if len(found) < 2 or report.evidence.cut:
        return
    above = 2 if report.verdict.repetition is not None else 1
    symptoms = sum(item.category == "symptom" for item in found)
    where = "both told of above" if len(found) == above else f"{above} of them told of above"
    what = f", {symptoms} of them {'symptoms' if symptoms > 1 else 'a symptom'}" if symptoms else ""
    yield Fact("in all", f"{len(found)} findings{what}; {where}")


def _seqs(items: Sequence[Finding], number: int) -> str:
    """Where so many findings are, of which `items` are listed: those of one event together."""
    places = Counter(item.seq for item in items)
    shown = list(places.items())[:LISTED]
    told = ", ".join(f"{seq} ({times} of them)" if times > 1 else str(seq) for seq, times in shown)
    left = number - sum(times for _, times in shown)
    return f"{told} and {left:,} more" if left else told
