"""The missing call, and what the history is with it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tracert_analysis.report.build import build
from tracert_analysis.report.counterfactual import NO_CALL

from tests.analysis.history import History
from tests.analysis.report.histories import (
    COMPUTE,
    double_free,
    non_finite,
    stale_mapping,
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
