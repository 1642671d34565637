"""Reports of small histories: who, which launch, which call; what is acquitted and what is not."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracert_analysis.explain import pages
from tracert_analysis.load import DumpError, open_dump
from tracert_analysis.report import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import NoSuchPage, build
from tracert_analysis.report.causes import REPEATED, SAME_ORDER
from tracert_analysis.report.counterfactual import NO_CALL
from tracert_analysis.report.report import Report, Reproduce, Resource

from tests.analysis.history import History, use
from tests.analysis.report.histories import (
    BROKEN,
    COMPUTE,
    LEGACY,
    TRANSFER,
    arrive,
    begun,
    double_free,
    non_finite,
    sound,
    stale_mapping,
    turn,
    unordered_access,
    unordered_publish,
    unordered_reuse,
    use_after_free,
)


def report(history: History, folder: Path, page: int | None = None) -> Report:
    """The report of a history that was written and read."""
    return build(history.read(folder), page)


@cache
def told(history: Callable[[], History]) -> Report:
    """The report of one of the histories of this folder; several tests look at the same one."""
    with TemporaryDirectory() as folder:
        return report(history(), Path(folder))


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
def test_the_page_of_a_finding_confirms_it(code: str, tmp_path: Path) -> None:
    """The query that `tracert explain` gives finds the same event on a dump that has the finding."""
    dump = BROKEN[code]().read(tmp_path)
    result = dump.connection.execute(pages()[code].query())
    names = [column[0] for column in result.description]
    rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    seq = build(dump).verdict.seq
    assert rows
    if "ordered" in names:
        assert [row["ordered"] for row in rows] == [False] * len(rows)
    if "finish_seq" in names:
        assert rows[0]["finish_seq"] == seq
    else:
        assert rows[0]["seq"] == seq


@pytest.mark.parametrize("code", BROKEN)
def test_every_query_of_a_report_runs_as_it_stands(code: str, tmp_path: Path) -> None:
    """What stands behind a line can be asked again, and numbers in the report name queries that are there."""
    dump = BROKEN[code]().read(tmp_path)
    made = build(dump)
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


def test_the_row_s_story_names_its_owners_and_publishes() -> None:
    """Request 12 has the row, request 10 had it; one publish each."""
    (row,) = told(unordered_publish).rows
    assert row.last_owner is not None
    assert row.previous_owner is not None
    assert (row.last_owner.holder, row.previous_owner.holder) == ("request:12", "request:10")
    assert row.last_writer is not None
    assert row.previous_writer is not None
    assert (row.last_writer.act.stream, row.previous_writer.act.stream) == (LEGACY, TRANSFER)
    assert [life.owner for life in row.lives] == ["request:10", "request:12"]


def test_the_row_s_story_tells_whose_page_is_read_too_early() -> None:
    """Entry 0 still names page 5, which is request 11's by now; entry 1 names the same page as before."""
    made = told(unordered_publish)
    (entry,) = made.rows[0].leftovers
    assert (entry.index, entry.page, entry.left_page, entry.left_holder) == (0, 8, 5, "request:11")
    assert entry.left_in_pool
    stories = {page.page: page for page in made.pages}
    assert sorted(stories) == [5, 8]
    owner, before = stories[5].last_owner, stories[5].previous_owner
    assert owner is not None
    assert before is not None
    assert (owner.holder, owner.life, before.holder, before.life) == ("request:11", 2, "request:10", 1)


def test_requests_are_named_by_their_public_ids() -> None:
    """All that hold something in the stories."""
    names = {f"request:{number}": f"cmpl-{number}" for number in (10, 11, 12)}
    assert told(unordered_publish).names == names
    assert "now held by request:11 (cmpl-11)" in render(told(unordered_publish))


def test_poison_in_a_row_is_no_page(tmp_path: Path) -> None:
    """A released row that was overwritten with an impossible id: the report says so, and tells no story."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]))
    history.sync(COMPUTE)
    history.publish(COMPUTE, 3, 1, [(2**31 - 1, 0), (2**31 - 1, 0)])
    history.release(3, 1, 10)
    turn(history, 12, 3, 2, arrive(history, 12, [8, 9]), publish_on=LEGACY, ordered=False, step=2)
    made = report(history, tmp_path)
    assert made.verdict.code == "TR102"
    assert [(entry.left_page, entry.left_in_pool) for entry in made.rows[0].leftovers] == [
        (2**31 - 1, False)
    ] * 2
    assert [page.page for page in made.pages] == [8]
    assert "there was 2147483647, which is no page of the pool" in render(made)


def thrice(*, fail: bool) -> History:
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


def test_the_verdict_is_the_first_of_its_kind(tmp_path: Path) -> None:
    """The earliest finding is the root cause, the others are listed as the same again."""
    made = report(thrice(fail=False), tmp_path)
    assert made.verdict.seq == made.findings[0].seq
    assert [item.follows for item in made.findings] == [None, REPEATED, REPEATED]
    assert "The same order is missing 2 more times" in made.verdict.sentence
    assert "2 more of the same, at seq " in render(made)
    assert made.verdict.counterfactual is not None
    assert "in all 3 places" in made.verdict.counterfactual
    assert made.verdict.counterfactual.endswith("all 3 findings are gone")


def test_without_a_crash_the_access_that_could_do_harm_is_shown(tmp_path: Path) -> None:
    """The third launch may have read pages 6 and 7, which are nobody's by then."""
    made = report(thrice(fail=False), tmp_path)
    assert made.access is not None
    assert (made.access.request, made.access.row, made.access.generation) == (9, 3, 2)
    assert [entry.left_page for entry in made.rows[0].leftovers] == [6, 7]
    assert made.verdict.confidence == "proven"
    assert "where the row still named pages that are not meant" in made.verdict.sentence


def test_after_a_crash_the_access_that_was_running_is_shown(tmp_path: Path) -> None:
    """The verdict stays the first one, and is observed, because one of its kind visibly went wrong."""
    made = report(thrice(fail=True), tmp_path)
    assert made.access is not None
    assert (made.access.act.state, made.access.request) == ("running", 9)
    assert made.verdict.seq == made.findings[0].seq
    assert made.verdict.confidence == "observed"
    assert "where it visibly went wrong, launch " in made.verdict.sentence


def test_the_call_follows_the_names_of_the_streams(tmp_path: Path) -> None:
    """It is derived from the two launches: another name of the stream gives another call, no more."""
    call = told(unordered_publish).verdict.missing_edge
    renamed = report(unordered_publish("upload"), tmp_path).verdict.missing_edge
    assert call is not None
    assert renamed is not None
    assert renamed.call == call.call.replace("device.record(legacy)", "device.record(upload)")


@pytest.mark.parametrize("history", [unordered_access, unordered_publish, unordered_reuse])
def test_the_counterfactual_is_checked(history: Callable[[], History]) -> None:
    """With the call added every rule is checked again, and the finding is gone."""
    counterfactual = told(history).verdict.counterfactual
    assert counterfactual is not None
    assert counterfactual.endswith("the finding is gone")


def test_a_counterfactual_leaves_the_dump_as_it_was(tmp_path: Path) -> None:
    """A second report of the same loaded dump is equal to the first."""
    dump = unordered_publish().read(tmp_path)
    assert build(dump) == build(dump)


def test_a_counterfactual_tells_what_the_call_does_not_repair(tmp_path: Path) -> None:
    """Another mistake later in the history stays."""
    history = unordered_publish()
    history.sync(COMPUTE)
    history.drop([(8, 1)], "request:10")
    counterfactual = report(history, tmp_path).verdict.counterfactual
    assert counterfactual is not None
    assert counterfactual.endswith("1 of 2 findings is left: TR203")


def test_without_a_lack_of_order_there_is_no_call_to_add() -> None:
    """A mistake of the host is not repaired by a fence, and the report says so."""
    for history in (use_after_free, double_free, stale_mapping, non_finite):
        made = told(history)
        assert made.verdict.missing_edge is None
        assert made.verdict.counterfactual == NO_CALL[made.findings[0].category]
        assert not any("device.record" in fix for fix in made.verdict.fix)


def acquitted(made: Report) -> list[str]:
    """The first words of each acquittal."""
    return [item.why.split(" (")[0] for item in made.acquitted]


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
        Resource("row", 4),
        Resource("row", 3, generation=1),
    ]
    assert made.acquitted[-1].why.startswith("the publishes that it walks are ordered before it")


def test_what_is_wrong_is_not_acquitted() -> None:
    """Owners after a use after free and under a stale mapping, order on an unordered page."""
    assert "owners are right" not in acquitted(told(use_after_free))
    owners = told(stale_mapping).acquitted[0].why
    assert owners.endswith("left out, for a finding tells of it: page 5 (TR402)")
    order = next(item.why for item in told(unordered_access).acquitted if item.why.startswith("order"))
    assert order.endswith("left out, for a finding tells of it: page 5 (TR101)")
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
        "left out, for a finding tells of it: page 5 (TR202, TR303)"
    ]
    assert why[0].startswith("owners are right (1 checked)")
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
    assert owners.why.endswith("left out, for a finding tells of it: row 3 (TR103)")
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


def test_no_finding_says_what_was_checked() -> None:
    """Confidence none, counts in the sentence, no fix."""
    made = told(sound)
    assert made.title == "tracert: no finding"
    assert made.verdict.confidence == "none"
    assert made.verdict.code is None
    assert (
        f"{len(pages())} rules were checked on 7 launches on 2 streams, 3 publishes" in made.verdict.sentence
    )
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
    history = thrice(fail=False)
    launch = [event for event in history.events if event["kind"] == "launch"][-1]["launch"]
    history.event("nonfinite", launch=launch, request=99, row=9, position=5, pages=[], layer=-1)
    found = report(history, tmp_path).findings
    assert [item.follows for item in found if item.code == "TR902"] == [f"the same launch {launch}"]
    assert found[0].launch != launch


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


def test_a_page_can_be_asked_for(tmp_path: Path) -> None:
    """Owner, writer, lives of a page that the verdict is not about, as of the end."""
    made = report(sound(), tmp_path, page=5)
    (page,) = made.pages
    assert page.last_owner is not None
    assert page.last_writer is not None
    assert (page.life, page.last_owner.holder, page.last_writer.act.kernel) == (2, "request:11", "forward")
    assert [life.owner for life in page.lives] == ["request:10", "request:11"]


def test_a_shared_page_is_told_with_all_who_hold_it(tmp_path: Path) -> None:
    """The prefix cache has held it longest, request 11 reads it, request 10 is gone."""
    history = begun()
    pages = arrive(history, 10, [5, 6])
    history.hold(pages, "prefix:1")
    turn(history, 10, 3, 1, pages)
    history.sync(COMPUTE)
    history.drop(pages, "request:10")
    history.hold(pages, "request:11")
    (page,) = report(history, tmp_path, page=5).pages
    assert page.last_owner is not None
    assert page.previous_owner is not None
    assert (page.last_owner.holder, page.also_held_by) == ("prefix:1", ("request:11",))
    assert page.previous_owner.holder == "request:10"


def test_a_page_that_was_never_granted_has_no_story(tmp_path: Path) -> None:
    """Nothing is invented; only the clear of the arena wrote it."""
    (page,) = report(sound(), tmp_path, page=31).pages
    assert (page.life, page.last_owner, page.lives) == (None, None, ())
    assert page.last_writer is not None
    assert page.last_writer.act.kernel == "clear_pages"


@pytest.mark.parametrize("page", [-1, 32])
def test_a_page_outside_the_pool_is_refused(page: int, tmp_path: Path) -> None:
    """The message says which pages there are."""
    with pytest.raises(NoSuchPage, match=f"there is no page {page}: the pool has pages 0 to 31"):
        report(sound(), tmp_path, page=page)


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
    assert report(history, tmp_path).reproduce == Reproduce("", None)
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
