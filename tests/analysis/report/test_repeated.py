"""Several findings: the same again, what follows from another, and what is a mistake of its own."""

from pathlib import Path

import pytest
from tracert_analysis.report import findings
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.causes import REPEATED, SAME_ORDER

from tests.analysis.history import History
from tests.analysis.report.histories import (
    COMPUTE,
    LEGACY,
    TRANSFER,
    arrive,
    begun,
    turn,
    use_after_free,
)
from tests.analysis.report.reports import report, told


def thrice(*, fail: bool = False) -> History:
    """The same publish is unordered three times; only the last finds a row that names other pages."""
    history = begun()
    for step, row in enumerate((3, 4), 1):
        turn(
            history,
            row,
            row,
            1,
            arrive(history, row, [2 * row, 2 * row + 1]),
            publish_on=LEGACY,
            ordered=False,
            step=step,
        )
    history.sync(COMPUTE)
    history.sync(LEGACY)
    history.event("finish", request=3, row=3, reason="stop")
    history.give_back([(6, 1), (7, 1)], "request:3")
    history.release(3, 1, 3)
    turn(history, 9, 3, 2, arrive(history, 9, [20, 21]), publish_on=LEGACY, ordered=False, step=3)
    if fail:
        history.progress[COMPUTE] = (4, 3)
        history.error(COMPUTE)
    return history


def test_the_verdict_is_the_first_of_its_kind() -> None:
    """The earliest finding is the root cause, the others are listed as the same again."""
    made = told(thrice)
    first = made.verdict.first
    assert first is not None
    assert (first.seq, first.launch) == (made.findings[0].seq, made.findings[0].launch)
    assert [item.follows for item in made.findings] == [None, REPEATED, REPEATED]
    assert made.verdict.sentence.startswith("Launch 7 (forward) on compute follows row 3, and nothing orders")
    assert (
        f"There it could do harm: it is number 3 (event {made.findings[2].seq}) of 3 times that the same "
        "order is missing between these kernels; the "
        f"first was at event {first.seq}: launch 3 (forward) on compute" in made.verdict.sentence
    )
    assert made.title == (
        "tracert: TR102 unordered-publish: row 3 (generation 2): launch 7 forward on compute is not ordered "
        "after launch 6 copy_row on legacy (number 3 of 3; first at seq "
        f"{first.seq}: launch 3 forward on compute, row 3 (generation 1))"
    )
    text = " ".join(render(made).split())
    assert f"first broken seq {first.seq}: launch 3 forward on compute, row 3" in text
    assert text.index("could harm") < text.index("first broken")
    assert "compute is a non-blocking stream: the legacy stream orders nothing there by itself" in text
    # The call is told of the pair in the title; where it lacked first comes behind.
    assert "missing edge launch 6 copy_row (stream 0 legacy, number 3) -> launch 7 forward" in text
    assert "device.wait(compute, fence)`, after launch 6, before launch 7 known order launch 7 is" in text
    assert "missing first launch 2 copy_row (stream 0 legacy, number 1) -> launch 3 forward" in text
    assert f"1 more of the same, at seq {made.findings[1].seq}\n" in render(made)
    assert made.verdict.counterfactual is not None
    assert "all 3 times that this code ran" in made.verdict.counterfactual
    assert made.verdict.counterfactual.endswith("all 3 findings are gone")


def test_without_a_crash_the_access_that_could_do_harm_is_shown() -> None:
    """The third launch may have read pages 6 and 7, which are nobody's by then."""
    made = told(thrice)
    assert made.access is not None
    assert (made.access.request, made.access.row, made.access.generation) == (9, 3, 2)
    assert [entry.left_page for entry in made.rows[0].leftovers] == [6, 7]
    assert [(strip.seq, strip.pages) for strip in made.rows[0].entries] == [
        (9, ((6, 1), (7, 1))),
        (25, ((20, 1), (21, 1))),
    ]
    text = " ".join(render(made).split())
    assert "published seq 25, generation 2" in text
    assert "entries 0 to 1: pages 20.1 to 21.1" in text
    assert "meant for launch 7, which may have found another number in entry 0" in text
    assert "not meant for launch 7, which may have found them by entry 0" in text
    assert "launch 7 is not counted as having touched it: that was meant, and it may not have" in text
    meant = next(page for page in made.pages if page.page == 20)
    assert not [found for found in meant.touched if found.life == 1 and found.kernel == "forward"]
    assert "is meant to read positions 0 to 5 of the sequence" in text
    assert made.verdict.confidence == "proven"
    assert made.access.why is not None
    assert "where the row still named pages that are not meant" in made.access.why


def test_after_a_crash_the_access_that_was_running_is_shown(tmp_path: Path) -> None:
    """In JSON, too: the verdict is the time that the sentence tells of; `first` is the first one."""
    made = report(thrice(fail=True), tmp_path)
    assert made.access is not None
    assert (made.access.act.state, made.access.request) == ("running", 9)
    assert made.verdict.first_seq == made.findings[0].seq
    assert made.verdict.confidence == "observed"
    assert f"There it visibly went wrong: it is number 3 (event {made.access.act.seq}) of 3 times" in (
        made.verdict.sentence
    )
    again = made.verdict.repetition
    assert again is not None
    assert (again.number, again.of, again.visible, again.consequence) == (3, 3, True, False)
    assert (again.act, again.seq) == (made.access.act, made.access.act.seq)
    verdict = as_json(made)["verdict"]
    first = verdict["first"]
    shared = ("seq", "resource", "act", "missing_edge")
    assert [verdict[name] for name in shared] == [verdict["repetition"][name] for name in shared]
    assert {"kind": "row", "id": 3, "generation": 2} == verdict["resource"]
    assert (7, 6, 7) == (
        verdict["launch"],
        verdict["missing_edge"]["from"]["launch"],
        verdict["missing_edge"]["to"]["launch"],
    )
    assert {"kind": "row", "id": 3, "generation": 1} == first["resource"]
    assert (first["seq"], first["launch"], 3) == (
        made.findings[0].seq,
        made.findings[0].launch,
        first["missing_edge"]["to"]["launch"],
    )


def test_what_went_wrong_is_looked_for_before_the_list_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third time is told of, and counted, though only the first is listed beside what was seen."""
    monkeypatch.setattr(findings, "LISTED", 1)
    made = report(thrice(fail=True), tmp_path)
    assert ("observed", 2) == (made.verdict.confidence, len(made.findings))
    assert made.verdict.repetition is not None
    assert (3, 3, 3) == (made.verdict.repetition.number, made.verdict.repetition.of, made.verdict.times)
    assert "number 3 of 3 of the same bug" in render(made)


def test_consequences_are_told_from_other_mistakes(tmp_path: Path) -> None:
    """The stale mapping of the same launch follows from the use after free; a later double free does not."""
    history = use_after_free()
    other = arrive(history, 13, [20])
    history.give_back(other, "request:13")
    history.drop(other, "request:13")
    found = report(history, tmp_path).findings
    follows = {(item.code, item.resource.id): item.follows for item in found[1:]}
    assert follows["TR402", 5] == "the same launch 4"
    assert follows["TR203", 20] is None


def test_what_lacks_the_verdict_s_order_has_its_cause(tmp_path: Path) -> None:
    """Two kernels of one stream read unordered what one of another wrote; a third stream does, too."""
    history = begun()
    pages = arrive(history, 10, [5, 6, 7, 8])
    history.forward(COMPUTE, writes=[[page, life, 0, 4] for page, life in pages[:3]])
    history.copy(TRANSFER, [[*pages[0], 0, 4]], [[*pages[3], 0, 4]])
    history.forward(TRANSFER, reads=[[*pages[1], 0, 4]])
    history.forward(LEGACY, reads=[[*pages[2], 0, 4]])
    made = report(history, tmp_path)
    follows = {item.resource.id: item.follows for item in made.findings}
    assert follows == {5: None, 6: SAME_ORDER, 7: None}
    assert "The same order is missing." in render(made)


def test_what_follows_from_a_repetition_follows_from_the_verdict(tmp_path: Path) -> None:
    """The launch that broke the rule a second time gave NaN."""
    history = thrice()
    last = [event for event in history.events if event["kind"] == "launch"][-1]
    launch, row = last["launch"], last["uses"][0]["row"]
    history.event("nonfinite", launch=launch, request=99, row=row, position=5, pages=[], layer=-1)
    found = report(history, tmp_path).findings
    assert [item.follows for item in found if item.code == "TR902"] == [f"the same launch {launch}"]
    assert found[0].launch != launch
