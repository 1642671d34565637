"""How the life ended that was touched when its page was used again, and whose answers are suspect by it."""

from collections.abc import Callable

from tests.analysis.history import History, use
from tests.analysis.report.histories import COMPUTE, TRANSFER, arrive, begun, turn
from tests.analysis.report.reports import told
from tests.analysis.report.test_counterfactual import reused


def loaded_again() -> History:
    """Page 5 was offloaded while the next owner wrote it; request 12 has the slot loaded and reads it."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.order(COMPUTE, TRANSFER)
    history.moved("offload", TRANSFER, [(0, 5, 1)])
    history.give_back(pages, "request:10")
    turn(history, 11, 4, 1, arrive(history, 11, [5, 7]), publish_on=COMPUTE, ordered=False, step=2)
    taken = arrive(history, 12, [9, 10])
    history.moved("load", TRANSFER, [(0, 9, 1)])
    turn(history, 12, 6, 1, taken, step=3)
    return history


def by_label(make: Callable[[], History]) -> dict[str, str]:
    """What the report tells beside its verdict."""
    made = told(make)
    assert made.verdict.code == "TR202"
    return {found.label: found.text for found in made.contrast}


def test_a_page_freed_without_a_fence_is_told_against_the_others() -> None:
    """Freed at once, though the host did not know the end of the launch; none of all lives was retired."""
    found = by_label(loaded_again)
    assert "page 5.1 was freed at seq " in found["its end"]
    assert (
        "without being retired behind a fence; the host did not know by then that launch " in found["its end"]
    )
    assert found["the others"] == (
        "lives of pages that ended: 2, of which none was retired behind a fence; of those that offload_pages "
        "on transfer touched: 1, of which none was retired behind a fence"
    )


def test_who_reads_what_was_copied_while_it_was_written_is_suspect() -> None:
    """Not the new owner, which reads what itself wrote: who has the slot loaded."""
    found = by_label(loaded_again)
    assert found["suspect"].startswith(
        "request 12 (cmpl-12) read a copy of what may have been written while it was copied, from seq "
    )
    assert "11" not in found["suspect"].split(", from")[0]


def test_nobody_is_suspect_where_nobody_reads_it() -> None:
    """The slot is not loaded, and the next owner only wrote."""
    assert by_label(reused)["suspect"] == "no request read what raced, nor what was copied of it"


def late_write() -> History:
    """Request 10's page is written late on the transfer stream, when it is request 11's, which reads it."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.order(COMPUTE, TRANSFER)
    history.forward(TRANSFER, writes=[[5, 1, 0, 4]], kernel="fill")
    fence = history.record(COMPUTE)
    history.drop(pages, "request:10")
    history.retire(pages, fence)
    history.passed(fence)
    history.free(pages)
    turn(history, 11, 4, 1, arrive(history, 11, [5, 7]), publish_on=COMPUTE, ordered=False, step=2)
    history.forward(COMPUTE, use(4, 1, 6, 7), step=3)
    return history


def test_a_fence_on_another_stream_is_told_as_one_that_does_not_cover() -> None:
    """Retired, as it should be, behind a fence that does not stand behind who still writes."""
    found = by_label(late_write)
    assert "retired behind fence" in found["its end"]
    assert "of compute, which does not cover launch " in found["its end"]
    assert found["the others"].startswith(
        "lives of pages that ended: 2, of which 2 were retired behind a fence"
    )
    assert "request 11 (cmpl-11) read a page that may have been written too late" in found["suspect"]
