"""What failed decides what is its cause: an earlier mistake that has nothing to do with it is none."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from tracert_analysis.load import Dump
from tracert_analysis.report import trials
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import Edited
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.causes import Causes
from tracert_analysis.report.counterfactual import counterfactual
from tracert_analysis.report.failure import failure
from tracert_analysis.report.findings import findings
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Report
from tracert_analysis.report.stories.content import WrongRange
from tracert_analysis.report.trials import Trials

from tests.analysis.history import History, use
from tests.analysis.report.histories import (
    COMPUTE,
    TRANSFER,
    arrive,
    begun,
    double_free,
    leaked_page,
    stale_mapping,
    turn,
    unordered_publish,
    unordered_reuse,
)
from tests.analysis.report.joined import joined


def ran(history: History) -> History:
    """Its last launch was running when the device failed."""
    last = next(event for event in reversed(history.events) if "ordinal" in event)
    history.error(last["stream"])
    history.progress[last["stream"]] = (last["ordinal"], last["ordinal"] - 1)
    return history


def another(history: History) -> History:
    """A launch of a request that has nothing to do with what was before; it ran when the device failed."""
    turn(history, 30, 9, 1, arrive(history, 30, [20, 21]), step=9)
    return ran(history)


def unlike(history: History, used: dict[str, Any] | None = None, request: int = 40) -> History:
    """The last launch, or one more with that use of a row, gave a value that is not finite."""
    if used is not None:
        history.forward(COMPUTE, used, step=9)
    last = next(event for event in reversed(history.events) if event.get("uses"))
    row = last["uses"][-1]["row"]
    history.event("nonfinite", launch=last["launch"], request=request, row=row, position=1, layer=-1)
    return history


def ended(history: History, reason: str, error: dict[str, Any] | None) -> History:
    """A dump with that header."""
    history.header |= {"reason": reason, "error": error}
    return history


def killed() -> History:
    """kill -9, while a launch was running."""
    history = ran(joined(leaked_page(), unordered_publish()))
    history.events.pop()
    history.seq -= 1
    return ended(history, "killed", {"code": -9, "name": "SIGKILL", "message": "killed by SIGKILL"})


def raised(name: str, message: str, *, last: bool) -> History:
    """An exception of the engine; the double free was its last act, or another launch came after it."""
    history = joined(unordered_reuse(), double_free())
    if not last:
        turn(history, 30, 9, 1, arrive(history, 30, [20, 21]), step=9)
    error = {"code": -1, "name": name, "message": message, "observed_at": "engine"}
    history.event("error", **error)
    return ended(history, "exception", error)


def hung(*, starved: bool) -> History:
    """Silent: no launch runs, and a request waits; there is room for it, or there is none."""
    history = leaked_page()
    history.header["config"]["kv_pages"] = 6 if starved else 32
    history.event("arrive", request=50, id="waits", prompt_tokens=40 if starved else 4, max_tokens=1)
    return ended(history, "hang", {"code": 0, "name": "HANG", "message": "no progress"})


def stuck() -> History:
    """A launch does not end, and nothing is wrong with it; an unrelated double free came before."""
    history = double_free()
    turn(history, 30, 9, 1, arrive(history, 30, [20, 21]), step=9)
    history.progress[COMPUTE] = (history._ordinals[COMPUTE], history._ordinals[COMPUTE] - 1)
    return ended(history, "hang", {"code": 0, "name": "HANG", "message": "no progress"})


def by_row() -> History:
    """A launch followed a row too early; a later one over the same row fails, ordered after everything."""
    history = joined(leaked_page(), unordered_publish())
    history.sync()
    history.forward(COMPUTE, use(19, 2, 6, 7), step=1004)
    return ran(history)


def by_page() -> History:
    """A launch reads the life of a page that another one wrote without order."""
    history = joined(leaked_page(), unordered_reuse())
    page, life, _, _ = history.events[-1]["writes"][0]
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, reads=[[page, life, 0, 4]], kernel="checksum")
    return ran(history)


def by_what_was_stored() -> History:
    """A launch computed by a row that names another's page, and the reader of that page fails."""
    history = joined(leaked_page(), stale_mapping())
    launch = [event for event in history.events if event.get("uses")][-1]
    row = launch["uses"][0]
    entries = [event for event in history.events if event.get("row") == row["row"] and "entries" in event][-1]
    page = entries["entries"][1][1:]
    history.forward(COMPUTE, reads=[[*page, 0, 1]], kernel="checksum")
    return ran(history)


def too_late() -> History:
    """The launch that failed came before the one that broke a rule over the same row, in order."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]))
    failed = history._ordinals[COMPUTE]
    history.forward(COMPUTE, use(3, 1, 6, 7, walked=5), step=2)
    history.error(COMPUTE)
    history.progress[COMPUTE] = (failed, failed - 1)
    return history


def no_room() -> History:
    """The device's memory ran out, and a request that ended keeps pages."""
    history = leaked_page()
    error = {"code": 2, "name": "OUT_OF_MEMORY", "message": "out of memory", "observed_at": "engine"}
    history.event("error", **error)
    return ended(history, "exception", error)


def one_launch(*, stale: bool) -> History:
    """A launch over two rows, in one of which a value is not finite: state rows lie in its page.

    The other row is published without order, or has a page with stale bytes, too.
    """
    history = begun()
    rows = history.alloc([5], "snapshot:9")
    history.forward(COMPUTE, kernel="store_row", writes=[[*rows[0], 0, 2]], **{"class": "rows"})
    history.give_back(rows, "snapshot:9")
    earlier = arrive(history, 7, [3])
    history.forward(COMPUTE, writes=[[*earlier[0], 0, 4]])
    history.give_back(earlier, "request:7")
    other = (3, 9, 3, COMPUTE) if stale else (3, 9, 9, TRANSFER)
    for row, request, page, stream in ((0, 2, 5, COMPUTE), other):
        history.acquire(row, 1, request)
        history.publish(stream, row, 1, arrive(history, request, [page]))
    told = history.forward(COMPUTE, *(use(row, 1, 0, 1, covers="page") for row in (0, 3)))
    history.event("nonfinite", launch=told.launch, request=2, row=0, position=0, pages=[[5, 2]])
    return history


def met_before() -> History:
    """Stale rows are met behind what is valid; later the row is followed too early, and a value is wrong."""
    history = begun()
    rows = history.alloc([5], "snapshot:9")
    history.forward(COMPUTE, kernel="store_row", writes=[[*rows[0], 0, 4]], **{"class": "rows"})
    history.give_back(rows, "snapshot:9")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, arrive(history, 1, [5, 6]))
    history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"), step=1)
    history.forward(COMPUTE, use(0, 1, 2, 4, covers="page"), step=2)
    history.forward(COMPUTE, use(0, 1, 4, 8), step=3)
    pages = history.alloc([7], "request:1")
    history.publish(TRANSFER, 0, 1, pages, first=2)
    return unlike(history, use(0, 1, 8, 9), 1)


def stored_before() -> History:
    """A launch meets stale rows, and writes a page of another request, whose row is followed too early."""
    history = begun()
    rows = history.alloc([5], "snapshot:9")
    history.forward(COMPUTE, kernel="store_row", writes=[[*rows[0], 0, 4]], **{"class": "rows"})
    history.give_back(rows, "snapshot:9")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, arrive(history, 1, [5]))
    shared = arrive(history, 2, [7])
    history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"), step=1, writes=[[*shared[0], 0, 4]])
    history.acquire(1, 1, 2)
    history.publish(TRANSFER, 1, 1, [*shared, *history.alloc([8], "request:2")])
    return unlike(history, use(1, 1, 4, 5), 2)


def one_fence() -> History:
    """A publish lacks order, and so does what its stream wrote before: the launch that reads that fails."""
    history = begun()
    pages = arrive(history, 1, [5, 6])
    history.forward(TRANSFER, kernel="upload", writes=[[*pages[1], 0, 2]])
    history.acquire(0, 1, 1)
    history.publish(TRANSFER, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 2, walked=1), step=1)
    history.forward(COMPUTE, use(0, 1, 2, 4, walked=1), step=2)
    history.forward(COMPUTE, use(0, 1, 6, 7), step=3)
    return ran(history)


class Case(NamedTuple):
    """A history, its verdict, whether that explains what failed, and what is independent of it."""

    history: Callable[[], History]
    code: str
    explains: bool | None
    independent: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    """Whose repair was tried to find it."""


CASES = {
    "running": Case(lambda: ran(joined(leaked_page(), unordered_publish())), "TR102", True, ("TR204",)),
    "nothing tied": Case(lambda: another(double_free()), "TR203", False),
    "two untied": Case(lambda: another(joined(leaked_page(), double_free())), "TR204", False, ("TR203",)),
    "a value": Case(lambda: unlike(joined(double_free(), stale_mapping())), "TR402", True, ("TR203",)),
    "killed": Case(killed, "TR204", None),
    "in good order": Case(
        lambda: ended(joined(leaked_page(), unordered_publish()), "exit", None), "TR204", None
    ),
    "the last act": Case(lambda: raised("KeyError", "7", last=True), "TR203", True),
    "an exception": Case(lambda: raised("KeyError", "7", last=False), "TR202", None),
    "the audit": Case(
        lambda: raised("InvariantError", "the audit of pages failed: page 53 is free", last=False),
        "TR203",
        True,
    ),
    "starved": Case(lambda: hung(starved=True), "TR204", True),
    "room enough": Case(lambda: hung(starved=False), "TR204", None),
    "stuck": Case(stuck, "TR901", False, ("TR203",)),
    "by row": Case(by_row, "TR102", True, ("TR204",)),
    "by page": Case(by_page, "TR202", True, ("TR204",)),
    "by what was stored": Case(by_what_was_stored, "TR402", True, ("TR204",)),
    "later": Case(too_late, "TR402", False),
    "no room": Case(no_room, "TR204", True),
    "another row": Case(lambda: one_launch(stale=False), "TR301", True, ("TR102",)),
    "two pages": Case(lambda: one_launch(stale=True), "TR301", True, ("TR301",)),
    "met before": Case(met_before, "TR102", True, (), ("TR301",)),
    "stored before": Case(stored_before, "TR102", True, (), ("TR301",)),
    "one fence": Case(one_fence, "TR102", True, (), ("TR102",)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_earliest_that_explains_what_failed_is_the_verdict(tmp_path: Path, name: str) -> None:
    """What is not tied to it is never its cause, though it came first; a history is tried only in doubt."""
    case, tried = CASES[name], list[str]()
    dump = case.history().read(tmp_path)
    questions = Questions(dump.connection)
    rows = findings(questions).rows
    tries = Trials(questions, Acts(questions), dump)

    def repair(repetitions: list[Row]) -> Edited:
        tried.append(repetitions[0]["code"])
        return tries.of_repeated(repetitions)

    causes = Causes(questions, rows, failure(questions, dump, rows), repair)
    independent = [cluster[0]["code"] for cluster in causes.independent()]
    assert (case.code, case.explains) == (causes.root["code"], causes.explains())
    assert list(case.independent) == [code for code in independent if code in case.independent]
    assert bool(case.independent) == bool(independent)
    assert list(case.tried) == tried


@pytest.mark.parametrize(("history", "code"), [(one_fence, "TR102"), (stored_before, "TR102")])
def test_what_cannot_be_tried_is_judged_by_how_it_is_tied(
    tmp_path: Path, history: Callable[[], History], code: str
) -> None:
    """What was only stored by the earlier one's launch gives way to what visibly went wrong."""
    dump = history().read(tmp_path)
    questions = Questions(dump.connection)
    rows = findings(questions).rows
    assert code == Causes(questions, rows, failure(questions, dump, rows)).root["code"]


def test_what_a_repair_leaves_has_another_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stale bytes stand aside, and the value goes with the order that lacks; each is tried once."""
    tried = list[str]()

    def counted(dump: Dump, root: Row, wrong: WrongRange | None) -> Edited:
        tried.append(root["code"])
        return counterfactual(dump, root, wrong)

    monkeypatch.setattr(trials, "counterfactual", counted)
    made = build(met_before().read(tmp_path))
    seqs = {item.code: item.seq for item in made.findings}
    assert ("observed", True) == (made.verdict.confidence, made.verdict.explains_failure)
    assert made.verdict.sentence.endswith(f": TR301 stale-bytes at seq {seqs['TR301']}.")
    assert ["TR301", "TR102"] == tried
    assert [("TR102", None, False), ("TR301", None, False), ("TR902", "the same launch 8", False)] == [
        (item.code, item.follows, item.independent) for item in made.findings
    ]


def test_what_a_repair_takes_away_follows(tmp_path: Path) -> None:
    """One fence behind the publish orders what its stream wrote before that, too."""
    made = build(one_fence().read(tmp_path))
    assert [("TR102", None), ("TR101", "what repairs the verdict repairs it")] == [
        (item.code, item.follows) for item in made.findings
    ]


def test_of_what_one_launch_met_it_is_what_the_value_came_from(tmp_path: Path) -> None:
    """Two rows of it have stale bytes; in one a value was not finite, and only that is called observed."""
    made = build(CASES["two pages"].history().read(tmp_path))
    assert (5, 2) == (made.verdict.resource.id, made.verdict.resource.life)
    assert {(5, "observed"), (3, "proven")} == {
        (item.resource.id, item.confidence) for item in made.findings if item.code == "TR301"
    }


@cache
def made(name: str) -> Report:
    """The report of a case."""
    with TemporaryDirectory() as folder:
        return build(CASES[name].history().read(Path(folder)))


def test_an_independent_finding_is_told_as_such() -> None:
    """In the sentence, in the list and in JSON; what to do and the error's remark are about the verdict."""
    report = made("running")
    told = as_json(report)
    assert report.verdict.sentence.endswith(
        f" Also broken, independent of this failure: TR204 leaked-page at seq {report.findings[1].seq}."
    )
    assert [("TR102", False), ("TR204", True)] == [(item.code, item.independent) for item in report.findings]
    assert ("TR102", True) == (told["verdict"]["code"], told["verdict"]["explains_failure"])
    assert "the cause found lies in the order of two acts" in told["error"]["remark"]
    assert any("device.record(legacy)" in fix for fix in report.verdict.fix)
    text = " ".join(render(report).split())
    assert "still holds page 6.1 and" not in text.partition("OTHER FINDINGS")[0]
    assert "Also broken, independent of this failure." in text.partition("OTHER FINDINGS")[2]


def test_where_no_finding_is_tied_to_the_failure_that_is_said() -> None:
    """In title and sentence; the error's words are not measured by what does not explain them."""
    report = made("nothing tied")
    last = report.in_flight[COMPUTE].running[0].launch
    assert report.title.endswith(" (this does not explain what failed)")
    assert report.verdict.sentence.endswith(
        " This does not explain the failure of the device: no rule that the history breaks is tied to launch "
        f"{last}, which was running, by a page, a row or a launch."
    )
    assert report.error is not None
    assert not report.error.misleading
    assert "the recorded history does not explain it" in report.error.remark
    assert any("at which launches the failure shows" == query.about for query in report.queries)


def test_a_symptom_that_nothing_explains_is_the_verdict_and_no_more() -> None:
    """What is broken beside it is not denied, and not taken for its cause."""
    report = made("stuck")
    known = report.verdict.standing
    assert known is not None
    assert not report.title.endswith("(this does not explain what failed)")
    assert (
        "in the history: what went wrong, and nothing tied to it that broke another rule" == known.observed[0]
    )
    assert "what brought it about: no rule that the history breaks is tied to it" == known.open[0]
    assert report.verdict.sentence.endswith(
        " No rule that the history breaks beside it is tied to it. Also broken, independent of this failure: "
        f"TR203 double-free at seq {report.findings[1].seq}."
    )


def test_what_is_tied_by_more_than_its_launch_is_inferred(tmp_path: Path) -> None:
    """Of pages that ran out, and of a launch with a row in common; else no cause is told."""
    standings = {
        name: build(CASES[name].history().read(tmp_path)) for name in ("no room", "by row", "an exception")
    }
    inferred = {
        name: one.verdict.standing.inferred[0] for name, one in standings.items() if one.verdict.standing
    }
    assert inferred["no room"].startswith("that it is behind what ended the engine (OUT_OF_MEMORY)")
    assert "which was running: they have a launch, a page or a row in common" in inferred["by row"]
    assert inferred["an exception"] == "that it can do harm: nothing that went wrong is tied to it here"
    told = standings["an exception"]
    assert told.error is not None
    assert "the recorded history does not explain it" in told.error.remark
    assert (
        "what brought about what ended the engine (KeyError)" == told.verdict.standing.open[0]
        if told.verdict.standing
        else ""
    )
