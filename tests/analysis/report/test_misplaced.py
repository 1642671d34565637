"""Calls that are there and order nothing are told of, and where they belong."""

from pathlib import Path

import pytest
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tests.analysis.history import History, use
from tests.analysis.report.histories import COMPUTE, TRANSFER
from tests.analysis.report.test_tie import granted, row_of, started


def copied(place: str) -> History:
    """A page is copied on another stream, and the calls behind that are in that place."""
    history = started()
    granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 3))
    target = history.alloc([6], "request:2")
    history.order(COMPUTE, TRANSFER)
    early = history.record(TRANSFER) if place == "too early" else None
    history.copy(TRANSFER, [[5, 1, 0, 3]], [[6, 1, 0, 3]])
    late = history.record(TRANSFER) if place in ("too late", "far too late") else None
    if place in ("too early", "in vain"):
        history.wait(COMPUTE, early)
    row_of(history, 1, 2, target)
    history.forward(COMPUTE, use(1, 1, 3, 4))
    if place == "far too late":
        history.forward(COMPUTE, use(0, 1, 3, 4))
    if late is not None:
        history.wait(COMPUTE, late)
    return history


TOLD = {
    "in vain": (
        "compute waits for fence 2 at seq 13, and nothing had recorded that: such a wait orders nothing",
        "or record fence 2 after copy_pages on transfer and before compute waits for it (seq 13): the wait "
        "is there, and finds no record",
    ),
    "too early": (
        "compute waits for fence 2 at seq 14, which is recorded at seq 12, before launch 4",
        "or move the record of fence 2 (seq 12) to after copy_pages on transfer and before compute waits for "
        "it (seq 14)",
    ),
    "too late": (
        "fence 2 is recorded behind launch 4, at seq 13, and compute waits for it at seq 18, after launch 6",
        "or move the wait for fence 2 (seq 18) to before forward on compute",
    ),
    "far too late": (
        None,
        "or order the two streams, after copy_pages on transfer and before forward on compute: "
        "fence = device.record(transfer); device.wait(compute, fence)",
    ),
}


@pytest.mark.parametrize("place", TOLD)
def test_calls_in_the_wrong_place_are_told_of(tmp_path: Path, place: str) -> None:
    """The fix moves them; where another launch stands between, they are another's."""
    there, fix = TOLD[place]
    report = build(copied(place).read(tmp_path))
    edge = report.verdict.missing_edge
    assert edge is not None
    assert ("TR101", there) == (report.verdict.code, edge.misplaced.told if edge.misplaced else None)
    assert fix in report.verdict.fix
    assert there == as_json(report)["verdict"]["missing_edge"]["misplaced"]
    text = " ".join(render(report).split())
    assert ("which code has the call in the wrong place" in text) == (there is not None)
    assert there is None or f"there is {there}" in text
    assert "step None" not in text
    assert "one event: " in text
    assert ("it covers no launch of transfer, and that is number 1" in text) == (place == "too early")
