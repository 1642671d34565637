"""The missing call, and what the history is with it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.counterfactual import NO_CALL

from tests.analysis.history import History
from tests.analysis.report.histories import (
    COMPUTE,
    TRANSFER,
    arrive,
    begun,
    double_free,
    non_finite,
    stale_mapping,
    turn,
    unordered_access,
    unordered_publish,
    unordered_reuse,
    use_after_free,
)
from tests.analysis.report.reports import opened, report, told


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


def test_a_counterfactual_leaves_the_dump_as_it_was() -> None:
    """A second report of the same loaded dump is equal to the first."""
    dump, made = opened(unordered_publish)
    assert build(dump) == made


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


def test_numbers_that_nobody_counts_to_are_in_nobodys_way(tmp_path: Path) -> None:
    """A damaged dump whose fences, records and ordinals leave no room for the ones that are added."""
    history = unordered_access()
    most = (1 << 64) - 1
    history.event("fence_record", fence=most, stream=COMPUTE, ordinal=most)
    history.event("fence_wait", fence=most, stream=COMPUTE, record_seq=most)
    counterfactual = report(history, tmp_path).verdict.counterfactual
    assert counterfactual is not None
    assert counterfactual.endswith("the finding is gone")


def reused(*, by_nic: bool = False) -> History:
    """Page 5 was read on two streams, or on one and by a network card; its next life waits for neither."""
    history = begun()
    history.names[3] = "checks"
    pages = arrive(history, 10, [5, 6])
    turn(history, 10, 3, 1, pages)
    history.order(COMPUTE, TRANSFER)
    history.order(COMPUTE, 3)
    if by_nic:
        history.sync()
        history.begin("nic", reads=[[5, 1, 0, 4]])
    history.moved("offload", TRANSFER, [(0, 5, 1)])
    if not by_nic:
        history.forward(3, reads=[[5, 1, 0, 4]], kernel="checksum")
    history.give_back(pages, "request:10")
    taken = arrive(history, 11, [5])
    history.forward(COMPUTE, writes=[[*taken[0], 0, 4]], kernel="fill", step=2)
    return history


def test_all_edges_that_lack_are_told_and_added() -> None:
    """One of two calls leaves the finding there; both are the repair, and no launch need move."""
    verdict = told(reused).verdict
    assert verdict.missing_edge is not None
    edges = (verdict.missing_edge, *verdict.missing_beside)
    assert ["checksum", "offload_pages"] == [edge.earlier.kernel for edge in edges]
    assert {"fill"} == {edge.later.kernel for edge in edges}
    assert verdict.counterfactual == (
        "with both calls added to the recorded history (all 2 times that this code ran) and every rule "
        "checked again, the finding is gone"
    )
    calls = [
        f"behind launch {edge.earlier.launch}: fence = device.record({name}); device.wait(compute, fence)"
        for edge, name in zip(edges, ("checks", "transfer"), strict=True)
    ]
    assert verdict.fix[0] == f"order launch {edges[0].later.launch} after all 2, {'; '.join(calls)}"
    assert not any("enqueue" in fix for fix in verdict.fix)
    assert 2 == render(told(reused)).count("missing call ")
    asked = opened(reused)[0].connection.execute('SELECT from_launch, "call" FROM missing_edge(1)').fetchall()
    assert [(edge.earlier.launch, edge.call) for edge in edges] == asked


def test_what_leaves_the_finding_there_is_told_as_no_repair(tmp_path: Path) -> None:
    """The call orders the stream, and not the network card, which nobody has seen done."""
    made = report(reused(by_nic=True), tmp_path)
    assert (made.verdict.counterfactual or "").endswith("1 of 1 findings is left: TR202")
    assert () == made.verdict.fix
    assert "what was tried leaves the finding there" in made.verdict.fix_how
    assert "fix none is known: what was tried leaves" in " ".join(render(made).split())


def saved(*, loaded: bool) -> History:
    """Page 5 is offloaded on a stream that does not wait for who wrote it; then it is loaded there."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]))
    history.moved("offload", TRANSFER, [(0, 5, 1)])
    if loaded:
        history.moved("load", TRANSFER, [(0, *arrive(history, 11, [9])[0])])
    return history


@pytest.mark.parametrize("loaded", [False, True])
def test_a_launch_is_moved_only_where_that_was_seen_to_help(tmp_path: Path, loaded: bool) -> None:
    """Moved to the writer's stream, the offload is no longer in order before the load of its slot."""
    fixes = report(saved(loaded=loaded), tmp_path).verdict.fix
    moved = ["enqueue offload_pages on stream compute" in fix for fix in fixes]
    assert moved == ([False] if loaded else [True, False])
    assert "order the two streams" in fixes[-1]
