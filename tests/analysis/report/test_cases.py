"""Which case of a finding's page is at hand is told by what the finding was made of, not by its words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tracert_analysis.report.cases import cases
from tracert_analysis.report.findings import findings
from tracert_analysis.report.questions import Questions

from tests.analysis.findings.test_tr501 import (
    OTHER,
    cached,
    computed,
    match,
    started_behind,
    through_the_host,
)
from tests.analysis.history import History, use
from tests.analysis.report.histories import COMPUTE


def in_another_order() -> History:
    """Request 2 reads the two pages that it hit in the other order."""
    history = begun()
    pages = computed(history)
    match(history, pages, tokens=8)
    history.hold(pages, "request:2")
    started_behind(history, [*pages[::-1], *history.alloc([9], "request:2")], 8)
    return history


def hit_by_name() -> History:
    """Of other tokens."""
    history = begun()
    match(history, cached(history), digest=OTHER)
    return history


def slot_filled_anew() -> History:
    """It is loaded for the prefix that it had before."""
    history = begun()
    through_the_host(history, OTHER, again=True)
    return history


def mapped_otherwise() -> History:
    """The host maps pages 5 and 6, and publishes 6 and 5."""
    return published(swapped=True)


def given_back() -> History:
    """Page 6 is mapped and published, and was given back."""
    return published(swapped=False)


def published(*, swapped: bool) -> History:
    """Row 0 has pages 5 and 6."""
    history = begun()
    pages = history.alloc([5, 6], "request:1")
    if not swapped:
        history.give_back(pages[1:], "request:1")
    history.acquire(0, 1, 1)
    history.event("map", row=0, generation=1, index=0, pages=[list(page) for page in pages])
    history.publish(COMPUTE, 0, 1, pages[::-1] if swapped else pages)
    history.forward(COMPUTE, use(0, 1, 0, 4, walked=2))
    return history


def begun() -> History:
    """The arena is cleared, page 0 is reserved."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    return history


@pytest.mark.parametrize(
    ("history", "code", "case"),
    [
        (in_another_order, "TR501", "Where other positions stand there"),
        (hit_by_name, "TR501", "Where it was hit by a name"),
        (slot_filled_anew, "TR501", "Where a slot of the host tier has another page"),
        (mapped_otherwise, "TR402", "Where the host means another page"),
        (given_back, "TR402", "Where the row names what was given back"),
    ],
)
def test_one_case_is_at_hand(tmp_path: Path, history: Callable[[], History], code: str, case: str) -> None:
    """Whatever the sentence says: here it says nothing."""
    questions = Questions(history().read(tmp_path).connection)
    root = next(row for row in findings(questions).rows if row["code"] == code)
    told = cases(questions, {**root, "sentence": ""}, None, None, False)
    assert [case] == [name for name, at_hand in told.items() if at_hand]
