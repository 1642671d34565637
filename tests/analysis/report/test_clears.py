"""A clear that ran in time over the wrong positions: the report tells its range, and repairs that."""

from typing import Any

import pytest
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.analysis.findings.test_tr104 import restored
from tests.analysis.history import History, Launched, use
from tests.analysis.report.test_bytes_story import COMPUTE, begun

TAILS: dict[str, Any] = {"page_size": 4, "kv_pages": 32, "stale_pages": "clear-tail"}


def late() -> tuple[History, Launched]:
    """Pages 5 and 6 had keys and values; the clear behind their next tails begins one position late."""
    history = begun()
    history.header["config"] = TAILS
    clears = []
    for page, request in ((5, 1), (6, 3)):
        before = history.alloc([page], f"request:{request}")
        history.forward(COMPUTE, writes=[[page, 1, 0, 4]])
        history.give_back(before, f"request:{request}")
        after = history.alloc([page], f"request:{request + 1}")
        clears.append(history.clear(COMPUTE, [[page, 2, 3, 4]]))
        history.acquire(0, request, request + 1)
        history.publish(COMPUTE, 0, request, after)
        history.forward(COMPUTE, use(0, request, 0, 2, covers="page"))
        history.release(0, request, request + 1)
    return history, clears[0]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Launched]:
    """The report of the late clear, and the clear."""
    history, clear = late()
    return build(history.read(tmp_path_factory.mktemp("late"))), clear


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Launched]:
    """Three positions of a restored page are valid, and the clear behind it begins at the third."""
    history = begun()
    history.header["config"] = TAILS
    _, clear = restored(history, first=2, behind=True)
    history.forward(COMPUTE, use(0, 1, 3, 4, covers="page"))
    return build(history.read(tmp_path_factory.mktemp("early"))), clear


def flat(report: Report) -> str:
    """The text without its line breaks."""
    return " ".join(render(report).split())


def test_a_clear_that_left_a_position_is_told_everywhere(left: tuple[Report, Launched]) -> None:
    """No line of the report says that none ran, and the first repair is its range."""
    report, clear = left
    verdict, text = report.verdict, flat(report)
    told = f"launch {clear.launch} clear_pages on compute cleared position 3 of page 5.2, and left position 2"
    assert "TR301" == verdict.code
    assert f"Let the clear reach all that is not valid: {told}." == verdict.fix[0]
    assert [told in option for option in verdict.options] == [True]
    assert f"clears none of these positions; {told}" in text
    wrong = (
        "no clear stands",
        "clears none of these positions since they were written",
        "leaves it out",
        "leaves the clear out",
        "cleared none",
    )
    assert [words for words in wrong if words in text] == []
    range_ = as_json(report)["verdict"]["wrong_range"]
    assert (3, 4, 2, 3, False) == tuple(
        range_[name] for name in ("first", "end", "wrong_first", "wrong_end", "reaches")
    )


def test_a_wider_clear_is_checked(left: tuple[Report, Launched]) -> None:
    """At every place where one left something."""
    report, clear = left
    assert str(report.verdict.counterfactual).endswith(
        f"; with the clear of launch {clear.launch} reaching position 2 (and 1 more like it), and every rule "
        "checked again, all 2 findings are gone"
    )


def test_a_clear_that_reached_too_far_lacks_no_order(reached: tuple[Report, Launched]) -> None:
    """Both launches are ordered: what must change is its range, and that is checked."""
    report, clear = reached
    verdict, text = report.verdict, flat(report)
    told = (
        f"launch {clear.launch} clear_pages on compute cleared positions 2 to 3 of page 5.1, of which "
        "position 2 was valid"
    )
    assert "TR104" == verdict.code
    assert (f"Let the clear begin behind what is valid: {told}.",) == verdict.fix
    assert (
        f"with the clear of launch {clear.launch} leaving position 2 out, and every rule checked again, the "
        "finding is gone"
    ) == verdict.counterfactual
    assert (f"--stale-pages clear-tail was on: {told}",) == verdict.options
    assert "no call orders them" not in text
    assert "leaves out the call" not in text
    assert "which code clears what it must leave" in text
