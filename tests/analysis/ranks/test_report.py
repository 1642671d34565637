"""The report of several ranks: which of them broke a rule first."""

from pathlib import Path

from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.ranks import build_ranks

from tests.analysis.history import History, use
from tests.analysis.ranks.test_ranks import Decisions, opened
from tests.analysis.report.histories import double_free, unordered_publish


def unheld(rank: int, steps: int) -> Decisions:
    """A rank that, after so many steps, gives back a page that it does not hold."""
    history = Decisions(rank).decide(range(steps))
    history.drop(history.alloc([3], "request:1"), "request:2")
    return history


def test_the_rank_that_broke_a_rule_first_is_told(tmp_path: Path) -> None:
    """All share a clock; the others stand beside it."""
    report = build_ranks(opened(tmp_path, unheld(0, 3), unheld(1, 2), Decisions(2).decide(range(4))))
    assert (1, "TR203", True) == (report.rank, report.verdict.code, report.one_clock)
    assert "dump-1.jsonl" in report.dump["name"]
    assert [(0, "TR203", 14), (1, "TR203", 12), (2, None, None)] == [
        (fact.rank, fact.code, fact.seq) for fact in report.ranks
    ]
    assert [10, 8, 12] == [fact.decisions for fact in report.ranks]


def test_where_ranks_part_is_the_verdict_when_it_came_first(tmp_path: Path) -> None:
    """What the rank did afterwards follows."""
    parted = Decisions(1).decide(range(3), late=1)
    parted.drop(parted.alloc([3], "request:1"), "request:2")
    report = build_ranks(opened(tmp_path, Decisions(0).decide(range(4)), parted))
    assert (1, "TR801", "proven") == (report.rank, report.verdict.code, report.verdict.confidence)
    assert ["TR801", "TR203"] == sorted((finding.code for finding in report.findings), reverse=True)


def test_of_ranks_that_parted_what_each_decided_is_observed_and_nothing_else(tmp_path: Path) -> None:
    """No call is missing, no launch came before another, and its error is not said to mislead."""
    ranks = [Decisions(0).decide(range(4)), Decisions(1).decide(range(3), hit=0)]
    ranks[1].header["error"] = {"code": 719, "name": "LAUNCH_FAILURE", "message": "", "observed_at": "sync"}
    report = build_ranks(opened(tmp_path, *ranks))
    standing = report.verdict.standing
    assert standing is not None
    assert (
        "in the histories: rank 0 finds 8 tokens of request 2 cached (seq 5); "
        "rank 1 finds 0 tokens of request 2 cached (seq 5)",
        "3 decisions of rank 1 before it were the same in all that made them",
    ) == standing.observed
    assert "which of the two ranks decided wrongly: two that differ don't say" in standing.open
    text = " ".join(render(report).split())
    for wrong in ("which launch came before", "leaves out the call", "misleading", "no call between"):
        assert wrong not in text
    assert "it has parted from the others, and no rank breaks another rule" in text
    for rank in ranks:
        del rank.header["config"]["rank"]
    report = build_ranks(opened(tmp_path, *ranks))
    why = "no header says of which rank it is (config.rank)"
    assert report.sentence.startswith(f"Suspected only: {why}. Rank 1 finds 0 tokens")
    assert report.verdict.standing is not None
    assert f"whether they are ranks of one engine: {why}" in report.verdict.standing.open


def test_without_a_finding_the_rank_that_failed_is_told(tmp_path: Path) -> None:
    """Nothing is called a cause."""
    failed = Decisions(1).decide(range(2))
    failed.header["error"] = {"code": 719, "name": "LAUNCH_FAILURE", "message": "", "observed_at": "sync"}
    report = build_ranks(opened(tmp_path, Decisions(0).decide(range(2)), failed))
    assert (1, None) == (report.rank, report.verdict.code)
    assert [None, "LAUNCH_FAILURE"] == [fact.error for fact in report.ranks]


def test_the_text_says_of_each_rank_what_it_broke_and_when(tmp_path: Path) -> None:
    """Behind the verdict; the rank that the report is about has a mark."""
    ranks = [unheld(0, 3), unheld(1, 2), Decisions(2, boot=None).decide(range(4))]
    text = render(build_ranks(opened(tmp_path, *ranks)))
    section = text.partition("RANKS\n")[2].partition("\n\n")[0].splitlines()
    cells = [line.split() for line in section[1:4]]
    assert [
        ["0", "TR203", "double-free", "proven", "seq", "14", "0.002", "ms", "-", "10"],
        ["1", "*", "TR203", "double-free", "proven", "seq", "12", "0.000", "ms", "-", "8"],
        ["2", "none", "-", "-", "-", "-", "12"],
    ] == cells
    assert (
        "  *              this report is about rank 1; of all findings, its first is the earliest" in section
    )
    assert "the order of ranks in time is as good as their clocks" in " ".join(text.split())


def test_a_rank_s_counterfactual_is_checked_in_its_own_history(tmp_path: Path) -> None:
    """What other ranks broke is not counted."""
    alone = build(unordered_publish().read(tmp_path))
    report = build_ranks(opened(tmp_path, double_free(), unordered_publish()))
    assert (0, "TR203") == (report.rank, report.verdict.code)
    report = build_ranks(opened(tmp_path, unordered_publish(), History()))
    assert (0, alone.verdict.counterfactual) == (report.rank, report.verdict.counterfactual)


def published(history: Decisions, stream: int) -> Decisions:
    """A row is published on a stream, and used on stream 1."""
    history.acquire(9, 1, 9)
    history.publish(stream, 9, 1, history.alloc([7], "request:9"))
    history.forward(1, use(9, 1, 0, 2))
    return history


def test_what_ranks_decided_is_not_counted_where_one_of_them_is_checked_again(tmp_path: Path) -> None:
    """A call on one rank is no answer to where ranks parted."""
    sound = published(Decisions(0), 1).decide(range(4))
    report = build_ranks(opened(tmp_path, sound, published(Decisions(1), 0).decide(range(3), late=1)))
    assert [("TR102", None), ("TR801", None)] == [(item.code, item.follows) for item in report.findings]
    assert (report.verdict.counterfactual or "").endswith("the finding is gone")
