"""What was new about the launch, and the findings beside the verdict, with why they follow if they do."""

from collections.abc import Iterator

from tracert_analysis.report.causes import REPEATED, SAME_ORDER
from tracert_analysis.report.document import Fact, Facts, Section
from tracert_analysis.report.phrases import LISTED
from tracert_analysis.report.report import Finding, Report


def novelties(report: Report) -> Section:
    """Traits of the launch that few before it had."""
    facts = tuple(
        Fact("", f"{item.what}: {item.support} of {item.of} before it", (item.query,))
        for item in report.what_was_new
    )
    hint = Fact(
        "",
        "hints at a path that had not run before, no causes: the first of a kind is not wrong",
        (),
        "quiet",
    )
    rows = (*facts, hint) if facts else ()
    return Section("new", "WHAT WAS NEW ABOUT THIS LAUNCH", (Facts(rows, indent=0),), folded=True)


def others(report: Report) -> Section:
    """Findings after the verdict, and whether they follow from it; those of one kind on one line."""
    return Section("others", "OTHER FINDINGS", (Facts(tuple(_others(report))),))


def _others(report: Report) -> Iterator[Fact]:
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
            yield Fact(code, f"{len(items)} more of the same, at seq {places}{rest}")
        else:
            times = f" ({len(items)} of them, until seq {items[-1].seq})" if len(items) > 1 else ""
            yield Fact(code, f"at seq {items[0].seq}{times}: {items[0].sentence} {why}")
    if len(groups) > LISTED:
        yield Fact("", f"and {len(groups) - LISTED} more")
