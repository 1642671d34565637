"""The report of several ranks: that of the one which broke a rule first, and beside it what each says."""

from dataclasses import replace

from tracert_analysis.ranks import Rank, Ranks
from tracert_analysis.report.build import build
from tracert_analysis.report.facts import RankFact
from tracert_analysis.report.report import Report

FIRST = """
SELECT f.code, f.name, f.confidence, f.sentence, f.seq, e.t FROM finding AS f JOIN event AS e USING (seq)
ORDER BY f.finding LIMIT 1"""

DECISIONS = "SELECT count(*) FROM main.decision WHERE rank = ?"


def build_ranks(ranks: Ranks, page: int | None = None) -> Report:
    """The report of the rank whose first finding is the earliest; without one, of the first that failed.

    `page` and errors as for `build`.
    """
    facts = {rank.number: _fact(rank) for rank in ranks.ranks}
    broken = [fact for fact in facts.values() if fact.at_ns is not None]
    failed = [fact for fact in facts.values() if fact.error is not None]
    if broken:
        told = min(broken, key=lambda fact: (fact.at_ns, fact.rank)).rank
    else:
        told = (failed or list(facts.values()))[0].rank
    shown = next(rank for rank in ranks.ranks if rank.number == told)
    return replace(build(shown.dump, page), rank=told, ranks=tuple(facts.values()), one_clock=ranks.one_clock)


def _fact(rank: Rank) -> RankFact:
    connection = rank.dump.connection
    first = connection.execute(FIRST).fetchone()
    code, name, confidence, sentence, seq, t = first or (None,) * 6
    decisions = connection.execute(DECISIONS, [rank.number]).fetchall()[0][0]
    error = rank.dump.header.get("error")
    return RankFact(
        rank=rank.number,
        dump=rank.dump.name,
        code=code,
        name=name,
        confidence=confidence or "none",
        sentence=sentence,
        seq=seq,
        at_ns=None if t is None else t + rank.offset_ns,
        error=str(error.get("name") or error.get("code")) if isinstance(error, dict) else None,
        decisions=decisions,
        last_seq=rank.dump.evidence.last_seq,
    )
