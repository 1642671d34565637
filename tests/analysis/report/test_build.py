"""Reports of small histories: the verdict and what stands around it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_analysis import library
from tracert_analysis.explain import pages
from tracert_analysis.load import DumpError, open_dump
from tracert_analysis.report import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Resource

from tests.analysis.history import History, use
from tests.analysis.report.histories import (
    BROKEN,
    COMPUTE,
    sound,
    unordered_publish,
)
from tests.analysis.report.reports import acquitted, opened, report, told


@pytest.mark.parametrize("code", BROKEN)
def test_the_verdict_is_the_first_finding(code: str) -> None:
    """Each planted mistake is named; code, name and confidence come from the finding."""
    made = told(BROKEN[code])
    assert made.verdict.code == code
    assert made.verdict.name == pages()[code].name
    assert made.findings[0].code == code
    assert made.verdict.fix
    assert made.title.startswith(f"tracert: {code} {pages()[code].name}: ")


@pytest.mark.parametrize("code", BROKEN)
def test_the_page_of_a_finding_confirms_it(code: str) -> None:
    """The query that `tracert explain` gives finds the same event on a dump that has the finding."""
    dump, made = opened(BROKEN[code])
    result = dump.connection.execute(pages()[code].query())
    names = [column[0] for column in result.description]
    rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    seq = made.verdict.seq
    assert rows
    if "ordered" in names:
        assert [row["ordered"] for row in rows] == [False] * len(rows)
    if "finish_seq" in names:
        assert rows[0]["finish_seq"] == seq
    else:
        assert rows[0]["seq"] == seq


@pytest.mark.parametrize("code", BROKEN)
def test_every_query_of_a_report_runs_as_it_stands(code: str) -> None:
    """What stands behind a line can be asked again, and numbers in the report name queries that are there."""
    dump, made = opened(BROKEN[code])
    for query in made.queries:
        dump.connection.execute(query.sql).fetchall()
    known = {query.id for query in made.queries}
    cited = {made.verdict.query, made.evidence.query, *(item.query for item in made.acquitted)}
    assert cited <= known
    assert sorted(known) == list(range(1, len(known) + 1))


def test_an_unordered_publish_names_row_launches_and_call() -> None:
    """The whole answer to the second seed: row, publish, launch, streams, and the call between them."""
    made = told(unordered_publish)
    edge = made.verdict.missing_edge
    assert made.verdict.resource == Resource("row", 3, generation=2)
    assert edge is not None
    assert (edge.earlier.kind, edge.earlier.stream_name, edge.earlier.row) == ("publish", "legacy", 3)
    assert (edge.later.kernel, edge.later.stream_name, edge.later.step) == ("forward", "compute", 3)
    assert edge.later.launch == made.verdict.launch
    assert edge.reaches == 0
    assert edge.call == "fence = device.record(legacy); device.wait(compute, fence)"
    assert made.verdict.fix[0].startswith("enqueue copy_row on stream compute")


def test_the_failing_access_names_the_request_and_its_row() -> None:
    """The public id, the row's generation, how far it reads and walks."""
    access = told(unordered_publish).access
    assert access is not None
    assert (access.request, access.request_id) == (12, "cmpl-12")
    assert (access.row, access.generation, access.positions, access.walked) == (3, 2, (0, 6), 2)


def test_no_finding_says_what_was_checked() -> None:
    """Confidence none, counts in the sentence, no fix."""
    made = told(sound)
    assert made.title == "tracert: no finding"
    assert made.verdict.confidence == "none"
    assert made.verdict.code is None
    looked = f"{len(library.FINDINGS)} rules were checked on 7 launches on 2 streams, 3 publishes"
    assert looked in made.verdict.sentence
    assert "error" not in made.verdict.sentence
    assert made.access is None


def test_an_error_without_a_finding_is_not_explained_away(tmp_path: Path) -> None:
    """The sentence says that the history does not explain it; the launch that was running is acquitted."""
    history = sound()
    history.progress[COMPUTE] = (4, 3)
    history.error(COMPUTE)
    made = report(history, tmp_path)
    assert made.verdict.confidence == "none"
    assert "The recorded history does not explain the error." in made.verdict.sentence
    assert made.error is not None
    assert not made.error.misleading
    assert made.access is not None
    assert (made.access.act.kernel, made.access.act.state) == ("forward", "running")
    assert "owners are right" in acquitted(made)


def test_a_launch_failure_misleads_when_the_cause_is_order(tmp_path: Path) -> None:
    """Its name points to a kernel's address; an index out of range would be just that."""
    history = unordered_publish()
    history.error(COMPUTE)
    error = report(history, tmp_path).error
    assert error is not None
    assert (error.code, error.name, error.stream, error.misleading) == (
        719,
        "LAUNCH_FAILURE",
        "compute",
        True,
    )
    history = BROKEN["TR401"]()
    history.error(COMPUTE)
    error = report(history, tmp_path).error
    assert error is not None
    assert not error.misleading


def test_launches_that_had_not_finished_are_listed(tmp_path: Path) -> None:
    """Running and waiting, by the progress words of the stream."""
    history = unordered_publish()
    history.forward(COMPUTE, kernel="sample", phase="sample", step=3)
    history.progress[COMPUTE] = (4, 3)
    compute = next(fact for fact in report(history, tmp_path).in_flight if fact.name == "compute")
    assert (compute.launched, compute.started, compute.finished) == (5, 4, 3)
    assert [act.kernel for act in compute.running] == ["forward"]
    assert [act.kernel for act in compute.waiting] == ["sample"]


def test_lanes_are_told_as_they_were_recorded(tmp_path: Path) -> None:
    """Frontier, committed, provisional and the open transaction of each row."""
    history = unordered_publish()
    history.states.append(
        {
            "kind": "lane_state",
            "row": 3,
            "generation": 2,
            "request": 12,
            "frontier": 6,
            "committed": 0,
            "provisional": 6,
            "transaction": 9,
        }
    )
    (lane,) = report(history, tmp_path).lanes
    assert (lane.row, lane.request, lane.frontier, lane.committed, lane.transaction) == (3, 12, 6, 0, 9)


def test_what_was_new_is_counted() -> None:
    """The stream of the row's publish and the second-hand row are new among the launches before."""
    new = {item.what: (item.support, item.of) for item in told(unordered_publish).what_was_new}
    assert new["row published on legacy"] == (0, 2)
    assert new["tenancy row 3 generation 2"] == (0, 2)


def test_the_planted_fault_s_name_changes_nothing(tmp_path: Path) -> None:
    """The reader is never told: with the name in the header the report is the same."""
    history = unordered_publish()
    first = report(history, tmp_path)
    history.header["fault"] = "ninfer-unordered-publish"
    history.header["config"]["scenario"] = "ninfer-unordered-publish"
    assert report(history, tmp_path) == first


def test_a_history_without_its_beginning_says_what_it_cannot_know(tmp_path: Path) -> None:
    """Lost events and the start of the window stand in the evidence and in the sentence."""
    history = History(first_seq=1000)
    history.forward(COMPUTE, use(3, 1, 0, 4))
    made = report(history, tmp_path)
    assert made.verdict.confidence == "none"
    assert made.evidence.lost == 999
    assert made.evidence.unknown
    assert "Part of the history is missing" in made.verdict.sentence


def test_a_truncated_dump_is_called_so(tmp_path: Path) -> None:
    """Without its end line a dump is read as far as it goes."""
    path = tmp_path / "cut.jsonl"
    path.write_bytes(b"".join(unordered_publish().lines()))
    made = build(open_dump(str(path)))
    assert made.evidence.truncated
    assert made.verdict.code == "TR102"
    assert "truncated: the end of the file is missing" in render(made)


def test_the_recorded_command_is_told_as_it_was(tmp_path: Path) -> None:
    """The runtime knows best how it was started; where it did not say, nothing is made up."""
    history = sound()
    made = report(history, tmp_path)
    assert (made.reproduce.command, made.reproduce.schedule) == ("", None)
    asked = [(one.request, one.id, one.prompt_tokens, one.max_tokens) for one in made.reproduce.requests]
    assert asked == [(number, f"cmpl-{number}", 6, 4) for number in (10, 11, 12)]
    assert "answered at most, in this order: cmpl-10: 6 + 4, cmpl-11: 6 + 4" in " ".join(render(made).split())
    history.header["config"] |= {"command": "tracert serve --kv-pages 32", "schedule": "fifo"}
    again = report(history, tmp_path).reproduce
    assert (again.command, again.schedule) == ("tracert serve --kv-pages 32", "fifo")


VALUES: st.SearchStrategy[object] = st.sampled_from(
    [None, 0, 1, 5, 99, 2**31 - 1, -1, "x", [], [[1, 2, 3]], {}]
)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_damaged_history_has_a_report_too(data: st.DataObject) -> None:
    """Events that are missing, repeated or nonsense: a report, or one line that says why there is none."""
    history = data.draw(st.sampled_from([sound, *BROKEN.values()]))()
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(history.events) - 1))
        event = history.events[place]
        damage = data.draw(st.sampled_from(["drop", "repeat", "change"]))
        if damage == "drop":
            del history.events[place]
        elif damage == "repeat":
            history.events.insert(place, dict(event))
        else:
            event[data.draw(st.sampled_from(sorted(event)))] = data.draw(VALUES)
    refused = ""
    with TemporaryDirectory() as folder:
        try:
            made = report(history, Path(folder))
        except DumpError as error:
            refused = str(error)
    if refused:
        assert len(refused.splitlines()) == 1
        return
    assert render(made, show_sql=True).startswith("tracert: ")
    assert as_json.render(made)


def test_a_question_that_fails_is_told_in_the_evidence(tmp_path: Path) -> None:
    """The rest of the report stands."""
    dump = unordered_publish().read(tmp_path)
    dump.connection.execute("ALTER TABLE lane_state RENAME TO gone")
    made = build(dump)
    assert made.verdict.code == "TR102"
    assert made.lanes == ()
    assert any(
        item.startswith("not answered: frontier and transaction of each row")
        for item in made.evidence.unknown
    )


def test_findings_that_cannot_be_asked_for_are_no_acquittal(tmp_path: Path) -> None:
    """Without the findings there is no report, and never one that says that nothing is wrong."""
    dump = unordered_publish().read(tmp_path)
    dump.connection.execute("ALTER TABLE finding RENAME TO gone")
    with pytest.raises(DumpError, match="cannot be checked"):
        build(dump)
