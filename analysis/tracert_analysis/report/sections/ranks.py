"""Of several ranks: what each one's dump says first, and when."""

from collections.abc import Iterator

from tracert_analysis.report.document import Fact, Facts, Section, Table
from tracert_analysis.report.facts import RankFact
from tracert_analysis.report.report import Report

COLUMNS = ("rank", "finding", "confidence", "at", "after the first", "error", "decisions")


def ranks(report: Report) -> Section:
    """A line a rank; where one dump of several was read, which; empty where there was but one."""
    if not report.ranks:
        among = report.dump.get("among", ())
        facts = tuple(Fact("read" if number == 0 else "", line) for number, line in enumerate(among))
        return Section("ranks", "SEVERAL DUMPS", (Facts(facts),) if facts else ())
    times = [fact.at_ns for fact in report.ranks if fact.at_ns is not None]
    rows = tuple(_row(fact, min(times, default=0), fact.rank == report.rank) for fact in report.ranks)
    return Section("ranks", "RANKS", (Table(COLUMNS, rows), Facts(tuple(_facts(report)))))


def _row(fact: RankFact, first_ns: int, told: bool) -> tuple[str, ...]:
    return (
        f"{fact.rank} *" if told else str(fact.rank),
        f"{fact.code} {fact.name}" if fact.code else "none",
        fact.confidence if fact.code else "-",
        f"seq {fact.seq}" if fact.seq is not None else "-",
        f"{(fact.at_ns - first_ns) / 1e6:.3f} ms" if fact.at_ns is not None else "-",
        fact.error or "-",
        str(fact.decisions) if fact.decisions else "not compared",
    )


def _facts(report: Report) -> Iterator[Fact]:
    yield Fact("*", f"this report is about rank {report.rank}; {_why(report)}")
    yield Fact(
        "clocks",
        "the ranks ran in one boot of one host, and share a clock"
        if report.one_clock
        else "not known to be one: the order of ranks in time is as good as their clocks",
    )
    for number, line in enumerate(report.dump.get("among", ())):
        yield Fact("read" if number == 0 else "", line)
    for fact in report.ranks:
        yield Fact(f"rank {fact.rank}", fact.dump)
        if fact.sentence and fact.rank != report.rank:
            yield Fact("", fact.sentence)


def _why(report: Report) -> str:
    broken = [fact for fact in report.ranks if fact.code]
    if len(broken) > 1:
        return "of all findings, its first is the earliest"
    if broken and broken[0].code == "TR801":
        return "it has parted from the others, and no rank breaks another rule"
    return "no other rank breaks a rule" if broken else "no rank breaks a rule"
