"""What was checked and found right, and why; why there is nothing, where there is nothing."""

from tracert_analysis.report.document import Fact, Facts, Section
from tracert_analysis.report.facts import Resource
from tracert_analysis.report.report import Report


def acquitted(report: Report) -> Section:
    """Who is innocent, and how many things were looked at to say so."""
    facts = tuple(Fact(_name(item.resource), item.why, (item.query,)) for item in report.acquitted)
    if report.host is not None and not facts:
        concerned = report.host.concerned
        why = (
            "the host broke the rule, and no launch of the history is over that row or request"
            if concerned is None
            else f"of what launch {concerned.launch} touches, findings tell, or it touches no page"
        )
        return Section("acquitted", "ACQUITTED", (Facts((Fact("", f"nothing: {why}"),), indent=0),))
    return Section("acquitted", "ACQUITTED", (Facts(facts, indent=24),))


def _name(resource: Resource) -> str:
    """One thing by its name; without a number all of its kind that the launch touches."""
    return str(resource) if resource.id is not None else f"its {resource.kind}s"
