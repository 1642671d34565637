"""Repairs that a report tells were tried on the history, or are told as not tried."""

from pathlib import Path

import pytest
from tracert_analysis.explain import pages
from tracert_analysis.report import counterfactual, moved
from tracert_analysis.report.edges import call, order
from tracert_analysis.report.facts import Act, Edge
from tracert_analysis.report.repairs import TRIED

from tests.analysis.history import History
from tests.analysis.report.reports import report
from tests.analysis.report.test_bytes_story import COMPUTE, TRANSFER, begun


def copied(*, on: int | None = None) -> History:
    """A copy on transfer of a page that compute wrote; a launch on a stream reads what was copied."""
    history = begun()
    history.alloc([5, 6], "request:1")
    history.forward(COMPUTE, writes=[[5, 1, 0, 4]])
    history.forward(COMPUTE)
    history.copy(TRANSFER, [[5, 1, 0, 4]], [[6, 1, 0, 4]])
    if on == COMPUTE:
        history.order(TRANSFER, COMPUTE)
    if on is not None:
        history.forward(on, kernel="gather", reads=[[6, 1, 0, 4]])
    return history


def test_a_launch_may_be_enqueued_where_the_other_is(tmp_path: Path) -> None:
    """It is told as a repair, and what came of it under the counterfactual."""
    verdict = report(copied(on=COMPUTE), tmp_path).verdict
    assert "TR101" == verdict.code
    assert ("enqueue copy_pages on stream compute", "or order the two streams,") == (
        verdict.fix[0][:36],
        verdict.fix[1][:25],
    )
    assert str(verdict.counterfactual).endswith(
        "; with copy_pages enqueued on stream compute, and every rule checked again, the finding is gone"
    )
    assert "One is enough" == verdict.fix_how


def test_a_move_that_breaks_another_rule_is_no_repair(tmp_path: Path) -> None:
    """The launch behind the copy came in order, as long as both were on transfer."""
    verdict = report(copied(on=TRANSFER), tmp_path).verdict
    assert "TR101" == verdict.code
    (fix,) = verdict.fix
    assert fix.startswith("order the two streams")
    assert "enqueued" not in str(verdict.counterfactual)
    assert "" == verdict.fix_how


def test_what_was_not_tried_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call of a history that is too long, and what no edit of a history can show."""
    history = begun()
    held = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, held)
    history.give_back(held, "request:1")
    history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    verdict = report(history, tmp_path).verdict
    assert "TR201" == verdict.code
    assert "The one that fits the case, not checked on this history" == verdict.fix_how
    for module in (counterfactual, moved):
        monkeypatch.setattr(module, "EVENTS_MAX", 1)
    verdict = report(copied(), tmp_path).verdict
    (fix,) = verdict.fix
    assert fix.startswith("order the two streams")
    assert "Not checked on this history" == verdict.fix_how


def test_several_edges_are_told_apart_where_they_end_apart() -> None:
    """Those that end at one launch are told as its order; others each as what lies between two launches."""
    acts = [
        Act(number, number, "launch", "forward", number % 3, f"s{number % 3}", number) for number in range(5)
    ]
    one, two, other = (
        Edge(acts[early], acts[late], call(acts[early], acts[late]), 0, 1)
        for early, late in ((1, 3), (2, 3), (1, 4))
    )
    assert order((one, two)).startswith("order launch 3 after all 2, behind launch 1: fence =")
    told = order((one, other))
    assert told.startswith("order all 2, between launch 1 and launch 3: fence =")
    assert "; between launch 1 and launch 4: fence =" in told


def test_items_of_pages_that_were_tried_are_known() -> None:
    """Each name of what can be tried is an item of some page."""
    fixes = [fix for page in pages().values() for fix in page.fixes()]
    for name, tried in TRIED.items():
        assert any(tried.search(fix) for fix in fixes), name


def test_a_stream_whose_first_launch_is_number_zero_is_moved_to(tmp_path: Path) -> None:
    """Such a dump is damaged, and has a report all the same."""
    history = copied(on=COMPUTE)
    history.events[0]["ordinal"] = 0
    assert "TR101" == report(history, tmp_path).verdict.code
