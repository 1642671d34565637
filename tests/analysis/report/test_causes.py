"""What explains what: two bugs are two, and one bug with several symptoms is one."""

from functools import cache
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tracert_analysis.report.again import Left
from tracert_analysis.report.build import build
from tracert_analysis.report.causes import Causes
from tracert_analysis.report.consequence import follows
from tracert_analysis.report.findings import findings
from tracert_analysis.report.questions import Questions

from tests.analysis.history import History, use
from tests.analysis.report.histories import BROKEN, COMPUTE, TRANSFER, arrive, begun, turn, unordered_publish
from tests.analysis.report.joined import joined
from tests.some import a_few

PAIRS = [pair for pair in permutations(BROKEN, 2) if set(pair) != {"TR101", "TR202"}]
"""Two that lack the same order have one cause: nothing orders transfer behind compute's forwards."""


def clusters(history: History, folder: Path) -> list[list[str]]:
    """The codes of the findings of a history, those together of which the first explains the others."""
    questions = Questions(history.read(folder).connection)
    rows = findings(questions).rows
    causes = Causes(questions, rows)
    found = [[row["code"] for row in cluster] for cluster in causes.alone()]
    others = [row["finding"] for cluster in causes.alone() for row in cluster]
    return [[row["code"] for row in rows if row["finding"] not in others], *found]


@cache
def alone(code: str) -> list[list[str]]:
    """Those of one bug, read once."""
    with TemporaryDirectory() as folder:
        return clusters(BROKEN[code](), Path(folder))


@pytest.mark.parametrize("code", BROKEN)
def test_one_bug_is_one_cause(code: str) -> None:
    """However many rules it breaks, the first finding explains them."""
    (found,) = alone(code)
    assert found[0] == code


@pytest.mark.parametrize("pair", a_few(6, PAIRS[::11] + [pair for n, pair in enumerate(PAIRS) if n % 11]))
def test_two_bugs_are_two(tmp_path: Path, pair: tuple[str, str]) -> None:
    """Other pages, rows and requests, on the same streams: each explains what it brought about alone."""
    first, second = pair
    assert alone(first) + alone(second) == clusters(joined(BROKEN[first](), BROKEN[second]()), tmp_path)


def test_an_order_that_both_lack_is_one_cause(tmp_path: Path) -> None:
    """The one call would have prevented both."""
    (found,) = clusters(joined(BROKEN["TR101"](), BROKEN["TR202"]()), tmp_path)
    assert found == ["TR101", "TR202"]


def test_the_verdict_names_what_it_does_not_explain(tmp_path: Path) -> None:
    """By code and event: nothing failed, so the earliest is the verdict."""
    made = build(joined(BROKEN["TR204"](), unordered_publish()).read(tmp_path))
    (other,) = (item for item in made.findings if item.code == "TR102")
    assert ("TR204", None) == (made.verdict.code, made.verdict.explains_failure)
    assert made.verdict.sentence.endswith(
        f" Not seen to follow from this: TR102 unordered-publish at seq {other.seq}."
    )
    assert (None, False) == (other.follows, other.independent)


def test_what_follows_from_the_second_bug_names_it(tmp_path: Path) -> None:
    """Of a later bug the consequences are told as its own."""
    made = build(joined(BROKEN["TR204"](), BROKEN["TR201"]()).read(tmp_path))
    told = [(item.code, item.follows) for item in made.findings]
    freed = made.findings[1]
    assert told[:2] == [("TR204", None), ("TR201", None)]
    assert ("TR402", f"of TR201 at seq {freed.seq}, the same launch {freed.launch}") in told[2:]


def test_the_call_of_the_verdict_repairs_nothing_else(tmp_path: Path) -> None:
    """Another order is missing elsewhere: it still is when the first one is there."""
    made = build(joined(unordered_publish(), BROKEN["TR101"]()).read(tmp_path))
    counterfactual = made.verdict.counterfactual or ""
    assert counterfactual.startswith("with the call added to the recorded history (once)")
    assert counterfactual.endswith("1 of 2 findings is left: TR101")


def test_a_chain_leads_back_to_its_beginning(tmp_path: Path) -> None:
    """A page is freed while held, granted again and written: two owners, no order between their lives."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.hold(pages[1:], "prefix:1")
    history.free(pages[:1])
    taken = arrive(history, 11, [5])
    history.forward(TRANSFER, writes=[[*taken[0], 0, 4]])
    history.forward(COMPUTE, use(3, 1, 6, 7), step=2)
    (found,) = clusters(history, tmp_path)
    assert found[0] == "TR203"
    assert {"TR202", "TR205"} <= set(found)


def test_a_clear_that_comes_too_late_is_the_cause_of_what_was_met_before(tmp_path: Path) -> None:
    """Request 11 meets stale bytes in its page, which is cleared behind that, and what it stored, too."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.sync()
    history.give_back(pages, "request:10")
    history.release(3, 1, 10)
    (page,) = arrive(history, 11, [5])
    history.acquire(3, 2, 11)
    history.publish(COMPUTE, 3, 2, [page])
    met = history.forward(COMPUTE, use(3, 2, 0, 2, covers="page"), step=2)
    late = history.clear(COMPUTE, [[*page, 0, 4]])
    history.forward(COMPUTE, reads=[[*page, 0, 1]], step=3)
    history.sync()
    history.give_back([page], "request:11")
    history.release(3, 2, 11)
    (page,) = arrive(history, 12, [5])
    history.acquire(3, 3, 12)
    history.publish(COMPUTE, 3, 3, [page])
    history.forward(COMPUTE, use(3, 3, 0, 1, covers="page"), step=4)
    history.clear(COMPUTE, [[*page, 0, 4]])
    made = build(history.read(tmp_path))
    assert [("TR104", late.seq, None), ("TR301", met.seq, "the clear of its page came behind it")] == [
        (item.code, item.seq, item.follows) for item in made.findings
    ]
    # To move only the clear that wiped something lets request 12 find what that would have left.
    assert made.verdict.counterfactual == (
        "with every clear by this code moved to before the first use of its page, and every rule checked "
        "again, all 2 findings are gone"
    )
    assert "when it is granted and before anything else" in made.verdict.fix[0]


def test_what_the_verdict_s_repair_mends_has_its_cause(tmp_path: Path) -> None:
    """What is left with the repair stands on its own; what is gone follows, whatever it is about."""
    questions = Questions(joined(unordered_publish(), BROKEN["TR203"]()).read(tmp_path).connection)
    rows = findings(questions).rows
    causes = Causes(questions, rows)
    causes.absorb(Left(rows[1:], len(rows)))
    assert [["TR203"]] == [[row["code"] for row in cluster] for cluster in causes.alone()]
    causes.absorb(Left([], len(rows)))
    assert [] == causes.alone()
    assert [None, "what repairs the verdict repairs it"] == list(causes.why.values())


def row(**fields: Any) -> dict[str, Any]:
    """A finding, as little as it takes."""
    return {
        "seq": 1, "code": "TR101", "class": "order", "launch": None, "row": None, "generation": None,
        "request": None, "resource_kind": "page", "resource_id": None, "life": None, "other_launch": None,
        **fields,
    }  # fmt: skip


PAGE = {"resource_id": 5, "life": 2}
OTHER = {"resource_id": 9, "life": 1}
NAN = {"code": "TR902", "class": "symptom"}
STALE = {"code": "TR301", "class": "content"}
NAMES = {"code": "TR402", "class": "mapping"}
LEAK = {"code": "TR204", "class": "lifetime"}
FREED = {"code": "TR203", "class": "lifetime", **PAGE}
ROW = {"row": 3, "generation": 2}


@pytest.mark.parametrize(
    ("cause", "effect", "why"),
    [
        (PAGE, {**PAGE, "code": "TR205", "class": "lifetime"}, "page 5 again"),
        (PAGE, {**PAGE, "life": 3}, None),
        (FREED, {**PAGE, "life": 3}, "page 5 in its next life"),
        (FREED, {**PAGE, "life": 4}, None),
        (FREED, {**PAGE, "life": 1}, None),
        (PAGE, {**PAGE, **LEAK}, None),
        ({**LEAK, **PAGE}, {**PAGE, "life": 3}, None),
        ({"launch": 7, **PAGE}, {"launch": 7, **OTHER}, None),
        ({"launch": 7}, {"launch": 7, **NAN, "request": 9}, "the same launch 7"),
        ({"code": "TR102", **ROW}, {**NAMES, **ROW}, "row 3 in the same generation"),
        ({"code": "TR102", **ROW}, {**NAMES, "row": 3, "generation": 3}, None),
        ({"code": "TR102", **ROW}, {**STALE, **ROW, **PAGE}, None),
        ({**STALE, **ROW, **PAGE}, {**NAN, **ROW}, "row 3 in the same generation"),
        ({"launch": 7, **PAGE}, {**STALE, "other_launch": 7, **OTHER}, "what launch 7 stored"),
        ({"code": "TR501", "class": "content", "request": 4}, {"request": 4}, "the same request 4"),
        ({"request": 4}, {"request": 4}, None),
        ({"request": 4}, {"request": 4, "class": "symptom"}, "the same request 4"),
        ({"seq": 3, **PAGE}, {"seq": 2, **PAGE}, None),
    ],
)  # fmt: skip
def test_what_ties_two_findings(cause: dict[str, Any], effect: dict[str, Any], why: str | None) -> None:
    """A page in its life, a row in its generation, a launch with what it touched; no number alone."""
    assert why == follows(row(**{"seq": 2, **effect}), row(**cause))
