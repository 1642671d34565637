"""What ties a finding to what failed: bytes that are still there, copies, and pages that were stored into."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from tracert_analysis.report.build import build

from tests.analysis.history import History, Page, use
from tests.analysis.report.histories import COMPUTE, TRANSFER
from tests.analysis.report.test_failure import ran


def started() -> History:
    """The arena is cleared, and the host has seen it."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    return history


def row_of(
    history: History, row: int, request: int, pages: list[Page], *, generation: int = 1, stream: int = COMPUTE
) -> None:
    """A request has a row over pages that it holds."""
    history.acquire(row, generation, request)
    history.event("map", row=row, generation=generation, index=0, pages=[list(page) for page in pages])
    history.publish(stream, row, generation, pages)


def granted(history: History, row: int, request: int, pages: list[int], *, generation: int = 1) -> list[Page]:
    """It is granted them, too."""
    held = history.alloc(pages, f"request:{request}")
    row_of(history, row, request, held, generation=generation)
    return held


def state_rows(history: History, page: int) -> None:
    """A snapshot had the page, and left its rows there."""
    rows = history.alloc([page], "snapshot:9")
    history.forward(COMPUTE, kernel="store_row", writes=[[*rows[0], 0, 4]], **{"class": "rows"})
    history.give_back(rows, "snapshot:9")


def not_finite(history: History, request: int, row: int, position: int, page: Page) -> History:
    """The last launch gave a value that is not finite, in that page."""
    launch = history.events[-1]["launch"]
    history.event("nonfinite", launch=launch, request=request, row=row, position=position, pages=[list(page)])
    return history


def out_of_pool(history: History, row: int, page: int) -> None:
    """A row of another request is published with a page that the pool does not have."""
    history.acquire(row, 1, 2)
    held = history.alloc([page], "request:2")
    history.event("map", row=row, generation=1, index=0, pages=[list(one) for one in held])
    history.publish(COMPUTE, row, 1, [(99999, 1)])


def astray() -> History:
    """A row is published too late: its launch may store where the row led before, by now another's page."""
    history = started()
    first = granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 2))
    history.release(0, 1, 1)
    history.sync()
    history.give_back(first, "request:1")
    granted(history, 1, 2, [5])
    history.forward(COMPUTE, use(1, 1, 0, 2))
    row_of(history, 0, 3, history.alloc([7], "request:3"), generation=2, stream=TRANSFER)
    history.forward(COMPUTE, use(0, 2, 0, 2))
    history.forward(COMPUTE, use(1, 1, 2, 3))
    return not_finite(history, 2, 1, 2, (5, 2))


def staged() -> History:
    """A staging buffer is written again too early: one row may lead where the other's pages are."""
    history = started()
    for row, page in ((0, 5), (1, 6)):
        held = history.alloc([page], f"request:{row + 1}")
        history.acquire(row, 1, row + 1)
        history.event("map", row=row, generation=1, index=0, pages=[list(one) for one in held])
        history.event("stage", staging=1, bytes=4)
        history.publish(TRANSFER, row, 1, held, staging=1)
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, use(0, 1, 0, 2))
    history.forward(COMPUTE, use(1, 1, 0, 2))
    return not_finite(history, 2, 1, 0, (6, 1))


def two_copies() -> History:
    """A page is written twice without order, and the value comes of a copy of its copy."""
    history = started()
    granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 3))
    history.forward(TRANSFER, kernel="fix", writes=[[5, 1, 0, 3]])
    history.sync()
    for row, page in ((1, 6), (2, 7)):
        held = history.alloc([page], f"request:{row + 1}")
        history.copy(COMPUTE, [[page - 1, 1, 0, 3]], [[page, 1, 0, 3]])
        row_of(history, row, row + 1, held)
        history.forward(COMPUTE, use(row, 1, 3, 4))
    return not_finite(history, 3, 2, 3, (7, 1))


def another_generation() -> History:
    """State rows were met in pages that the request lost; the value comes of a copy that was torn."""
    history = started()
    state_rows(history, 5)
    lost = granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"), step=1)
    history.event("preempt", request=1, row=0, step=2, reason="room")
    history.release(0, 1, 1)
    history.give_back(lost, "request:1")
    source = granted(history, 1, 2, [8])
    history.forward(COMPUTE, use(1, 1, 0, 4), step=2)
    target = history.alloc([9], "request:1")
    history.event("copy_plan", transaction=1, source=[[8, 1, 0, 2]], target=[[9, 1, 0, 2]])
    history.order(COMPUTE, TRANSFER)
    history.copy(TRANSFER, [[8, 1, 0, 2]], [[9, 1, 0, 2]])
    history.release(1, 1, 2)
    history.give_back(source, "request:2")
    granted(history, 1, 3, [8], generation=2)
    history.forward(COMPUTE, use(1, 2, 0, 4), step=3)
    history.order(TRANSFER, COMPUTE)
    row_of(history, 0, 1, target, generation=2)
    history.forward(COMPUTE, use(0, 2, 2, 3), step=4)
    return not_finite(history, 1, 0, 2, (9, 1))


def refused() -> History:
    """State rows were met and computed over; the result that is refused used a page that was given back."""
    history = started()
    state_rows(history, 5)
    held = granted(history, 0, 1, [5, 6, 7])
    history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"), step=1)
    history.forward(COMPUTE, use(0, 1, 2, 8), step=2)
    history.sync()
    history.give_back(held[2:], "request:1")
    granted(history, 1, 2, [7])
    history.forward(COMPUTE, use(1, 1, 0, 3))
    history.forward(COMPUTE, use(0, 1, 8, 9), step=4)
    error = {"code": 6, "name": "REFUSED", "observed_at": "commit", "detail": {"request": 1}}
    history.event("error", stream=COMPUTE, **error)
    history.header |= {"error": error, "reason": "exception"}
    return history


def too_far_before() -> History:
    """A launch follows its row too far, later ones do not; another row leads out of the pool."""
    history = started()
    granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 2, walked=2), step=1)
    history.forward(COMPUTE, use(0, 1, 2, 3), step=2)
    history.sync()
    out_of_pool(history, 1, 6)
    history.forward(COMPUTE, use(0, 1, 3, 4), use(1, 1, 0, 2), step=3)
    return ran(history)


def too_far_again() -> History:
    """The launch that fails follows it as far, and nothing else is wrong."""
    history = started()
    granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 2, walked=2), step=1)
    history.sync()
    history.forward(COMPUTE, use(0, 1, 2, 3, walked=2), step=2)
    return ran(history)


def twice_freed() -> History:
    """A page is granted to two, and the value is where one reads what the other put there."""
    history = started()
    held = granted(history, 0, 1, [5])
    history.forward(COMPUTE, use(0, 1, 0, 2))
    history.release(0, 1, 1)
    history.give_back(held, "request:1")
    history.free(held)
    granted(history, 0, 2, [5], generation=2)
    history.forward(COMPUTE, use(0, 2, 0, 2))
    rows = history.alloc([5], "snapshot:9")
    history.forward(COMPUTE, kernel="store_row", writes=[[*rows[0], 0, 4]], **{"class": "rows"})
    history.forward(COMPUTE, use(0, 2, 2, 3))
    return not_finite(history, 2, 0, 2, (5, 2))


def handed_on() -> History:
    """A request computes over stale rows, another goes on from its first page alone: what failed had that."""
    history = started()
    state_rows(history, 6)
    held = granted(history, 0, 1, [5, 6])
    history.forward(COMPUTE, use(0, 1, 0, 5, covers="page"), step=1)
    history.forward(COMPUTE, use(0, 1, 5, 8), step=2)
    history.hold(held, "request:2")
    following = history.alloc([7], "request:2")
    row_of(history, 1, 2, [*held, *following])
    history.forward(COMPUTE, use(1, 1, 8, 9), step=3)
    history.forward(COMPUTE, kernel="sum", reads=[[7, 1, 0, 1]])
    return ran(history)


class Case(NamedTuple):
    """A history, its verdict, by what what visibly went wrong follows from it, and what stands beside it."""

    history: Callable[[], History]
    code: str
    explains: bool | None
    why: str | None = None
    beside: tuple[str, ...] = ()
    """Not seen to follow, and never called independent."""


CASES = {
    "astray": Case(astray, "TR102", True, "launch 8 uses a page in which launch 7 may have stored"),
    "staged": Case(staged, "TR103", True, "launch 5 uses a page in which launch 4 may have stored"),
    "two copies": Case(two_copies, "TR101", True, "launch 10 uses what was copied from page 5.1"),
    "another generation": Case(another_generation, "TR303", True, None, ("TR301",)),
    "refused": Case(refused, "TR201", True, None, ("TR301",)),
    "too far before": Case(too_far_before, "TR401", True, None, ("TR403",)),
    "too far again": Case(too_far_again, "TR403", True),
    "twice freed": Case(twice_freed, "TR203", True, "launch 7 uses page 5.2", ("TR205",)),
    "handed on": Case(handed_on, "TR301", None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_ties_a_finding_to_what_failed(tmp_path: Path, name: str) -> None:
    """The verdict, by what the symptom follows from it, and that nothing is called independent of it."""
    case = CASES[name]
    report = build(case.history().read(tmp_path))
    assert (case.code, case.explains) == (report.verdict.code, report.verdict.explains_failure)
    assert not any(item.independent for item in report.findings)
    symptoms = [item.follows for item in report.findings if item.category == "symptom"]
    assert None not in symptoms
    if case.why is not None:
        assert [case.why] == symptoms
    alone = [item.code for item in report.findings[1:] if item.follows is None]
    assert list(case.beside) == alone
    assert ("Not seen to follow from this" in report.verdict.sentence) == bool(alone)
    unknown = "what others computed of it may have come there" in report.verdict.sentence
    assert unknown == (case.explains is None)
