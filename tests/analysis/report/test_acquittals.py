"""What was looked up and is right, and what is not said to be."""

from pathlib import Path

from tracert_analysis.report.as_text import render
from tracert_analysis.report.report import Resource

from tests.analysis.history import History, use
from tests.analysis.report.histories import (
    BROKEN,
    COMPUTE,
    TRANSFER,
    arrive,
    begun,
    double_free,
    stale_mapping,
    unordered_access,
    unordered_publish,
    use_after_free,
)
from tests.analysis.report.reports import acquitted, report, told


def test_pages_are_acquitted_when_only_order_is_wrong() -> None:
    """Owners, writers, order on the pages and ids were looked up and are right."""
    made = told(unordered_publish)
    expected = [
        "owners are right",
        "no page has two holders for writing",
        "order on the pages is right",
        "page ids are right",
    ]
    assert acquitted(made) == expected
    assert all(item.checked > 0 and item.query for item in made.acquitted)


def test_other_rows_of_the_launch_are_acquitted(tmp_path: Path) -> None:
    """A launch uses two rows: the one whose publish is ordered is acquitted by number."""
    history = begun()
    sound_row, broken_row = arrive(history, 10, [5, 6]), arrive(history, 11, [7, 8])
    history.acquire(3, 1, 10)
    history.publish(TRANSFER, 3, 1, sound_row)
    history.order(TRANSFER, COMPUTE)
    history.acquire(4, 1, 11)
    history.publish(TRANSFER, 4, 1, broken_row)
    history.forward(COMPUTE, use(3, 1, 0, 6), use(4, 1, 0, 6))
    made = report(history, tmp_path)
    assert made.verdict.resource == Resource("row", 4, generation=1)
    assert [item.resource for item in made.acquitted if item.resource.kind == "row"] == [
        Resource("row"),
        Resource("row", 3, generation=1),
    ]
    ids, publishes = made.acquitted[-2:]
    # Two entries of each row.
    assert ids.why.startswith("page ids are right (4 entries checked)")
    told_of = "what was published in its entries is ordered before the launch (1 publish checked)"
    assert publishes.why == told_of


def test_what_is_wrong_is_not_acquitted() -> None:
    """Owners after a use after free and under a stale mapping, order on an unordered page."""
    assert "owners are right" not in acquitted(told(use_after_free))
    owners = told(stale_mapping).acquitted[0].why
    assert owners.endswith("left out, for findings tell of it: page 5 (TR402)")
    order = next(item.why for item in told(unordered_access).acquitted if item.why.startswith("order"))
    assert order.endswith("left out, for findings tell of it: page 5 (TR101)")
    assert "page ids are right" not in acquitted(told(BROKEN["TR401"]))


def test_no_acquittal_contradicts_another_finding(tmp_path: Path) -> None:
    """A copy reads page 5; a launch that the copy is not ordered before overwrites it in its next life."""
    history = begun()
    source, target = arrive(history, 10, [5]), arrive(history, 11, [9])
    history.forward(COMPUTE, writes=[[*source[0], 0, 4]])
    history.order(COMPUTE, TRANSFER)
    history.event("copy_plan", transaction=1, source=[[*source[0], 0, 4]], target=[[*target[0], 0, 4]])
    history.copy(TRANSFER, [[*source[0], 0, 4]], [[*target[0], 0, 4]])
    history.give_back(source, "request:10")
    again = arrive(history, 12, [5])
    history.forward(COMPUTE, writes=[[*again[0], 0, 4]])
    made = report(history, tmp_path)
    assert [item.code for item in made.findings] == ["TR303", "TR202"]
    why = [item.why for item in made.acquitted]
    assert [text.split("; ")[-1] for text in why if text.startswith("order on the pages is right (1 ")] == [
        "left out, for findings tell of it: page 5 (TR202, TR303)"
    ]
    assert why[0].startswith("owners are right (1 page checked)")
    assert why[0].endswith("page 5 (TR303)")


def restaged() -> History:
    """TR103: the host writes the buffer of row 3's publish again, and knows of no fence behind it."""
    history = begun()
    history.event("stage", staging=1)
    history.acquire(3, 1, 10)
    history.publish(TRANSFER, 3, 1, arrive(history, 10, [5, 6]), staging=1)
    history.event("stage", staging=1)
    return history


def test_what_a_row_holds_is_not_acquitted_where_its_staging_was_written_again(tmp_path: Path) -> None:
    """The launch over both rows: the pages of the other row are right, of this one's nothing is known."""
    history = restaged()
    history.order(TRANSFER, COMPUTE)
    history.acquire(4, 1, 11)
    history.publish(COMPUTE, 4, 1, arrive(history, 11, [7, 8]))
    launch = history.forward(COMPUTE, use(3, 1, 0, 6), use(4, 1, 0, 6))
    made = report(history, tmp_path)
    assert made.verdict.code == "TR103"
    assert made.access is None
    assert made.host is not None
    assert made.host.concerned is not None
    assert (made.host.kind, made.host.request, made.host.concerned.launch) == ("stage", 10, launch.launch)
    assert made.host.other is not None
    assert made.host.other.kind == "publish"
    owners, _, _, ids, publishes = made.acquitted
    assert (owners.checked, ids.checked, ids.resource) == (2, 2, Resource("row"))
    assert owners.why.endswith("left out, for findings tell of it: row 3 (TR103)")
    assert publishes.resource == Resource("row", 4, generation=1)
    assert "WHAT THE HOST DID\n  event          stage, seq" in render(made)


def test_a_host_act_without_launches_says_why_nothing_is_acquitted(tmp_path: Path) -> None:
    """Nobody follows the row: there is only the publish to look at, which touches no page."""
    made = report(restaged(), tmp_path)
    assert made.acquitted == ()
    assert "ACQUITTED\n  nothing: of what launch 2 touches, findings tell, or it touches no page" in render(
        made
    )


def test_a_double_free_acquits_what_its_request_launched() -> None:
    """The page of the finding apart, the pages of the last launch for the request are right."""
    made = told(double_free)
    assert made.host is not None
    assert made.host.kind == "drop"
    assert acquitted(made)[0] == "owners are right"
    assert made.acquitted[0].checked == 1
    assert made.acquitted[0].why.endswith("page 5 (TR203)")
