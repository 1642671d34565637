"""The report of several ranks: that of the one which broke a rule first, and beside it what each says."""

from collections.abc import Sequence
from dataclasses import replace

from tracert_analysis.ranks import Rank, Ranks
from tracert_analysis.report.build import build
from tracert_analysis.report.facts import RankFact
from tracert_analysis.report.phrases import counted
from tracert_analysis.report.report import Report, Standing, Verdict

FIRST = """
SELECT f.code, f.name, f.confidence, f.sentence, f.seq, e.t FROM finding AS f JOIN event AS e USING (seq)
ORDER BY f.finding LIMIT 1"""

PARTING = "TR801"
NOT_CHECKED = "not checked: the histories have what was decided, and no rank can be made to decide again"
UNTIED = "whether it came of the parting of the ranks the histories do not say"

DECISIONS = "SELECT count(*) FROM main.decision WHERE rank = ?"

# Where the rank parted, what each decided there, and how many decisions before both of them made.
PARTED = """
SELECT d.rank, d.seq, d.what, p.before
FROM main.decision AS d JOIN (
    SELECT own.decision, (
        SELECT count(*) FROM main.decision AS b WHERE b.rank = own.rank AND b.decision < own.decision
    ) AS before
    FROM main.decision AS own WHERE own.rank = $rank AND own.seq = $seq
) AS p USING (decision)
ORDER BY d.rank"""
TOLD = 8
"""So many ranks are told of one by one."""


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
    report = build(shown.dump, page)
    verdict, error = report.verdict, report.error
    if verdict.code == PARTING:
        verdict = replace(
            verdict, standing=_standing(ranks, shown, verdict), counterfactual=NOT_CHECKED, uncounted=None
        )
        error = replace(error, misleading=False, remark=UNTIED) if error is not None else None
    # The report looks further than its finding does: it may be tied to what failed.
    if verdict.code == facts[told].code and verdict.first_seq == facts[told].seq:
        facts[told] = replace(facts[told], confidence=verdict.confidence)
    return replace(
        report,
        verdict=verdict,
        error=error,
        rank=told,
        ranks=tuple(facts.values()),
        one_clock=ranks.one_clock,
    )


def among(report: Report, remarks: Sequence[str]) -> Report:
    """The report, with lines that say which of several dumps it is of."""
    return replace(report, dump=report.dump | {"among": list(remarks)}) if remarks else report


def _standing(ranks: Ranks, shown: Rank, verdict: Verdict) -> Standing:
    """Of ranks that parted: what each decided is observed, and nothing else."""
    rows = ranks.connection.execute(PARTED, {"rank": shown.number, "seq": verdict.first_seq}).fetchall()
    said = [f"rank {rank} {what} (seq {seq})" for rank, seq, what, _ in rows[:TOLD]]
    if len(rows) > TOLD:
        said.append(f"{len(rows) - TOLD} more ranks: tracert sql DUMP... 'FROM decision'")
    before = rows[0][3] if rows else 0
    many = (
        f"{counted(before, 'decisions')} of rank {shown.number} before it {'was' if before == 1 else 'were'}"
    )
    alike = f"{many} the same in all that made them"
    strange = "events are missing, or not understood, that could show it otherwise"
    which = (
        "which of the two ranks decided wrongly: two that differ don't say"
        if len(rows) == 2
        else f"whether rank {shown.number} is wrong: it is the odd one out, and most may be wrong together"
    )
    return Standing(
        scope={"suspected": ranks.doubt or strange}.get(
            verdict.confidence, "that the ranks decided otherwise; nothing was seen to go wrong by it"
        ),
        observed=("in the histories: " + "; ".join(said), alike),
        inferred=("that it can do harm: the histories do not have what collectives exchanged",),
        open=(
            *([f"whether they are ranks of one engine: {ranks.doubt}"] if ranks.doubt else []),
            which,
            "what made them decide otherwise: the histories have what was decided, and not from what",
        ),
    )


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
