"""How far things had come at the end: launches of each stream, and the lanes."""

from collections.abc import Iterator
from dataclasses import fields

from tracert_analysis.report.document import Block, Fact, Facts, Section, Table
from tracert_analysis.report.facts import Act, Lane, StreamFact
from tracert_analysis.report.phrases import LISTED
from tracert_analysis.report.report import Report

LANES = 64
"""So many rows are shown, those that somebody has first."""


def streams(report: Report) -> Section:
    """Progress of each stream and what had not finished."""
    facts = tuple(fact for stream in report.in_flight for fact in _stream(stream))
    return Section("streams", "LAUNCHES AT THE END", (Facts(facts),))


def lanes(report: Report) -> Section:
    """Frontier and transaction of each row."""
    return Section("lanes", "LANES", tuple(_lanes(report.lanes)), folded=True)


COMMITTED = (
    "frontier: positions that are computed or launched, those found cached among them; committed: of these, "
    "what the host knows to be computed, which is not yet that the answer was accepted: an error tells what "
    "was refused"
)


def _stream(fact: StreamFact) -> Iterator[Fact]:
    launched, started = f"launched {fact.launched},", f"started {fact.started},"
    words = f"{launched:<16} {started:<15} finished {fact.finished}"
    idle = "" if fact.running or fact.waiting else "; nothing running, nothing waiting"
    yield Fact(f"{fact.stream} {fact.name}", f"{words}{idle}")
    for label, acts in (("running", fact.running), ("waiting", fact.waiting)):
        for act in acts[:LISTED]:
            yield Fact("", f"{label}: {_unfinished(act)}", (), "bad" if label == "running" else "plain")
        if len(acts) > LISTED:
            yield Fact("", f"and {len(acts) - LISTED} more")


def _unfinished(act: Act) -> str:
    phase = f", {act.phase}" if act.phase and act.phase != act.kernel else ""
    step = f", step {act.step}" if act.phase and act.step is not None else ""
    return f"launch {act.launch} {act.kernel}{phase}{step}"


def _lanes(found: tuple[Lane, ...]) -> Iterator[Block]:
    if not found:
        return
    names = tuple(field.name for field in fields(Lane))
    shown = sorted(found, key=lambda lane: (lane.state != "held", lane.row))[:LANES]
    shown.sort(key=lambda lane: lane.row)
    yield Table(
        names,
        tuple(
            tuple("-" if (cell := getattr(lane, name)) is None else str(cell) for name in names)
            for lane in shown
        ),
    )
    yield Facts((Fact("", COMMITTED, (), "quiet"),), indent=0)
    if len(found) > len(shown):
        yield Facts((Fact("", f"and {len(found) - len(shown)} more rows"),), indent=0)
