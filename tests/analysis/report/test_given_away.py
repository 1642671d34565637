"""The counterfactual of rows that changed hands: what came to them too late is left out, and nothing else."""

from pathlib import Path

from tracert_analysis.report.build import build
from tracert_analysis.report.counterfactual import NO_CALL
from tracert_analysis.report.given_away import FIXES

from tests.analysis.history import History, Page, use

COMPUTE = 1
POISON = (2**31 - 1, 0)


def tenant(history: History, request: int, pages: list[int]) -> list[Page]:
    """A request has row 0 and computes six positions."""
    granted = history.alloc(pages, f"request:{request}")
    history.acquire(0, request, request)
    history.event("map", row=0, generation=request, index=0, pages=[list(page) for page in granted])
    history.publish(COMPUTE, 0, request, granted)
    history.forward(COMPUTE, use(0, request, 0, 6))
    return granted


def ended(history: History, request: int, pages: list[Page]) -> None:
    """It gives the row back, which is poisoned, and its pages."""
    history.event("unmap", row=0, generation=request, index=0, pages=[list(page) for page in pages])
    history.release(0, request, request)
    history.publish(COMPUTE, 0, request, [POISON] * len(pages))
    history.give_back(pages, f"request:{request}")


def begun() -> History:
    """A device that has just started."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    history.alloc([0], "reserved:0")
    return history


def counterfactual(history: History, folder: Path) -> tuple[str | None, str | None]:
    """The verdict's code, and what would have helped."""
    verdict = build(history.read(folder)).verdict
    return verdict.code, verdict.counterfactual


def test_late_publishes_and_uses_are_left_out(tmp_path: Path) -> None:
    """Both of the tenant before; the poison that is published when a row is given back stays."""
    history = begun()
    former = tenant(history, 1, [5, 6])
    ended(history, 1, former)
    tenant(history, 2, [7, 8])
    history.publish(COMPUTE, 0, 1, former[:1])
    history.forward(COMPUTE, use(0, 2, 6, 7))
    assert counterfactual(history, tmp_path) == (
        "TR201",
        "without the 1 publish of a row that came after the row was given to another, and every rule checked "
        "again, all 2 findings are gone",
    )
    history.publish(COMPUTE, 0, 2, [(7, 1)])
    history.forward(COMPUTE, use(0, 1, 6, 7), use(0, 2, 7, 8))
    code, told = counterfactual(history, tmp_path)
    assert code == "TR201"
    assert told is not None
    assert told.startswith("without the 1 publish of a row and 1 use of a row that came after the row was")
    assert told.endswith("findings are gone")


def test_what_mends_it_is_told_by_what_the_launch_met(tmp_path: Path) -> None:
    """A publish or a launch that comes too late, or two who have the row; what was left is another matter."""
    late = begun()
    former = tenant(late, 1, [5, 6])
    ended(late, 1, former)
    tenant(late, 2, [7, 8])
    late.publish(COMPUTE, 0, 1, former[:1])
    late.forward(COMPUTE, use(0, 2, 6, 7))
    verdict = build(late.read(tmp_path)).verdict
    assert (FIXES["published"], ()) == (verdict.fix, verdict.options)
    stale = begun()
    ended(stale, 1, tenant(stale, 1, [5, 6]))
    tenant(stale, 2, [7, 8])
    stale.forward(COMPUTE, use(0, 1, 6, 7))
    assert FIXES["used late"] == build(stale.read(tmp_path)).verdict.fix
    both = begun()
    tenant(both, 1, [5, 6])
    tenant(both, 2, [7, 8])
    both.forward(COMPUTE, use(0, 1, 6, 7))
    assert FIXES["both"] == build(both.read(tmp_path)).verdict.fix
    left = begun()
    former = tenant(left, 1, [5, 6])
    left.release(0, 1, 1)
    left.alloc([7], "request:2")
    left.acquire(0, 2, 2)
    left.event("map", row=0, generation=2, index=0, page=7, life=1)
    left.forward(COMPUTE, use(0, 2, 0, 1))
    report = build(left.read(tmp_path))
    assert (
        "The entry was left by request 1 (generation 1), which had the row before" in report.verdict.sentence
    )
    assert report.verdict.fix[0].startswith("Publish from the list that was mapped")


def test_it_is_not_asked_of_what_the_tenant_does_itself(tmp_path: Path) -> None:
    """Another bug of the same history is what the launch follows: there nothing came too late."""
    history = begun()
    pages = tenant(history, 1, [5, 6])
    history.give_back(pages[:1], "request:1")
    history.forward(COMPUTE, use(0, 1, 6, 7))
    history.event("unmap", row=0, generation=1, index=0, pages=[list(page) for page in pages])
    history.release(0, 1, 1)
    history.give_back(pages[1:], "request:1")
    tenant(history, 2, [7, 8])
    history.publish(COMPUTE, 0, 1, pages[:1])
    history.forward(COMPUTE, use(0, 2, 6, 7))
    assert counterfactual(history, tmp_path) == ("TR201", NO_CALL["lifetime"])
