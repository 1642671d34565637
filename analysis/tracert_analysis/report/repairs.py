"""What to do about a verdict: what repairs it, what makes it harder to break, shows it sooner, only masks it.

From the page of the finding, less what its case does not need, and with what the engine had switched on, or
off, when the history was made: an option that was on repairs nothing once more.
"""

import re
from typing import Any, NamedTuple

from tracert_analysis.explain import Page
from tracert_analysis.report.again import Edited
from tracert_analysis.report.edges import order
from tracert_analysis.report.facts import Edge
from tracert_analysis.report.questions import Questions

CASE = re.compile(r"(Where [^:,]+): (.)")
"""How an item of a page begins that is for one case only."""

ONE = "One is enough"

UNREPAIRED = (
    "none is known: what was tried leaves the finding there, or breaks another rule (see counterfactual)"
)
UNCHECKED = "not checked on this history"

TRIED = {
    "clear": re.compile(r"\bclear", re.IGNORECASE),
    "narrow": re.compile(r"leave out what is not valid|read no further than the frontier"),
    "staging": re.compile(r"let the host wait for it before it writes that buffer", re.IGNORECASE),
    "copied": re.compile(r"until a fence behind the copy has passed", re.IGNORECASE),
    "whole": re.compile(r"all positions of the plan before it is called done", re.IGNORECASE),
    "before": re.compile(r"when it is granted and before anything else", re.IGNORECASE),
    "kept": re.compile(r"give a launch's scratch back", re.IGNORECASE),
    "oldest": re.compile(r"let the launch wait until one of them has ended", re.IGNORECASE),
}
"""What items of pages say that was tried, by its name in `Edited`."""

# Clears of granted pages before an event: that of the arena at the start names none.
CLEARS = """
SELECT count(*) AS clears FROM event
WHERE kind = 'clear' AND seq < $at AND len(list_filter(target, lambda t: t[2] > 0)) > 0"""


class Advice(NamedTuple):
    """What to do, a sentence each."""

    repair: tuple[str, ...] = ()
    how: str = ""
    """How the repairs belong together, where there are several."""
    hardening: tuple[str, ...] = ()
    detection: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()


def advice(
    page: Page,
    repair: tuple[str, ...],
    cases: dict[str, bool],
    config: dict[str, Any],
    uncleared: bool,
    edited: Edited | None = None,
    wider: str = "",
    waiting: str = "",
) -> Advice:
    """A page's advice in the case of this history.

    `repair`: what works here, where the history says it better than the page; `waiting`: what works beside
    it, and was not tried. `cases`: whether each case
    that a page tells of is the one at hand; what is not in it is told with its condition. `uncleared`: no
    clear of the bytes in question has been recorded. `wider`: how to repair a clear that ran, and left them.
    What was tried, and leaves the verdict, is no repair.
    """
    failed = [TRIED[name] for name in edited.fails if name in TRIED] if edited is not None else []
    policy = f"`--stale-pages {config.get('stale_pages')}`"
    fixes = repair or tuple(
        _in_force(page.code, fix, config, uncleared)
        for fix in fitting(page.fixes(), cases)
        if not any(tried.search(fix) for tried in failed) and not (wider and policy in fix)
    )
    if wider and not repair:
        fixes = (wider, *fixes)
    if edited is not None and edited.repaired is False:
        fixes = ()
    untried = _untried(fixes, bool(repair), wider, edited) if edited is not None else set()
    if fixes and repair and waiting:
        fixes = (*fixes, waiting)
        untried.add(waiting)
    seen = tuple(_switched_off(item, config) for item in fitting(page.detection(), cases))
    how = (ONE if repair else page.how()) if len(fixes) > 1 else "" if fixes else UNREPAIRED
    return Advice(
        *told_unchecked(fixes, untried, how),
        hardening=tuple(fitting(page.hardening(), cases)),
        detection=seen,
        masks=tuple(fitting(page.masks(), cases)),
    )


def told_unchecked(fixes: tuple[str, ...], untried: set[str], how: str) -> tuple[tuple[str, ...], str]:
    """The repairs and how they belong together, with words about those that were not tried on the history."""
    if fixes and len(untried) == len(fixes):
        return fixes, f"{how}, {UNCHECKED}" if how else UNCHECKED.capitalize()
    return tuple(_unchecked(fix) if fix in untried else fix for fix in fixes), how


def _unchecked(fix: str) -> str:
    end = "." if fix.endswith(".") else ""
    return f"{fix.removesuffix('.')} ({UNCHECKED}){end}"


def _untried(fixes: tuple[str, ...], derived: bool, wider: str, edited: Edited) -> set[str]:
    """Of the repairs those that were not tried on the history; what was derived from it was, as a whole."""
    if derived:
        return set() if edited.repaired else set(fixes)
    helped = [TRIED[name] for name in edited.helps if name in TRIED]
    return {
        fix
        for fix in fixes
        if not any(tried.search(fix) for tried in helped) and not (fix == wider and "range" in edited.helps)
    }


def fitting(items: list[str], cases: dict[str, bool]) -> list[str]:
    """The items less those of other cases; those of the case at hand without their condition."""
    found = []
    for item in items:
        case = CASE.match(item)
        fits = cases.get(case.group(1)) if case else None
        if case is None or fits is None:
            found.append(item)
        elif fits:
            found.append(case.group(2).upper() + item[case.end() :])
    return found


def cleared(questions: Questions, code: str, at: int) -> int | None:
    """How many launches had cleared granted pages before event `at`; None unless bytes are the matter."""
    if code not in ("TR301", "TR302"):
        return None
    told = questions.ask(f"which launches cleared granted pages before event {at}?", CLEARS, at=at)
    return int(told.first["clears"]) if told.first else None


def missing_edge(edges: tuple[Edge, ...], moved: str) -> tuple[str, ...]:
    """The derived calls where order is missing; else nothing.

    `moved` is another way that was seen to help; empty where none was.
    """
    if not edges:
        return ()
    return (moved, f"or {order(edges)}") if moved else (order(edges),)


def _in_force(code: str, fix: str, config: dict[str, Any], uncleared: bool) -> str:
    """The repair; where the option that it names was on, what is left to do about it."""
    policy = config.get("stale_pages")
    if code not in ("TR301", "TR302") or not policy or f"`--stale-pages {policy}`" not in fix:
        return fix
    if policy == "inert":
        return "Let this kernel leave out what is not valid, too: `--stale-pages inert` was on."
    but = ", and cleared none of these positions after they were written" if uncleared else ""
    return (
        "Find the path that leaves the clear out, and clear there, too, on the stream that uses the page "
        f"next: `--stale-pages {policy}` was on{but}."
    )


def _switched_off(item: str, config: dict[str, Any]) -> str:
    if "`--no-preflight`" in item and config.get("preflight") is False:
        return item.replace("(`--no-preflight` switches that off)", "(it was off: `--no-preflight`)")
    return item
