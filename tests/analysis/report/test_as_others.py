"""The engine's own right way, tried on the history: a repair where it is one."""

from tests.analysis.history import History
from tests.analysis.report.histories import COMPUTE, LEGACY, arrive, begun, turn, unordered_publish
from tests.analysis.report.reports import told


def test_the_way_of_the_others_is_a_repair() -> None:
    """Two publishes of the kernel are in order on transfer: with the third there, too, nothing is broken."""
    verdict = told(unordered_publish).verdict
    assert verdict.fix[-1] == (
        "or enqueue copy_row on stream transfer, and let compute wait for a fence behind it: so the same "
        "kernel goes there, in order 2 of 2 times"
    )
    assert verdict.counterfactual is not None
    assert verdict.counterfactual.endswith(
        "with copy_row enqueued on stream transfer and waited for, and every rule checked again, the finding "
        "is gone"
    )


def alone() -> History:
    """The only publish there is lacks order: nobody shows how it goes."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]), publish_on=LEGACY, ordered=False)
    return history


def test_without_others_there_is_no_way() -> None:
    """Then the calls and the stream of who follows are all that is told."""
    verdict = told(alone).verdict
    assert verdict.code == "TR102"
    assert not [fix for fix in verdict.fix if "the same kernel" in fix]


def beside() -> History:
    """Another publish is in order for it is on the stream of who follows: that is told as a stream."""
    history = begun()
    turn(history, 10, 3, 1, arrive(history, 10, [5, 6]), publish_on=COMPUTE, ordered=False)
    turn(history, 11, 4, 1, arrive(history, 11, [7, 8]), publish_on=LEGACY, ordered=False, step=2)
    return history


def test_a_publish_on_the_stream_of_who_follows_needs_no_fence() -> None:
    """Nothing is told twice."""
    verdict = told(beside).verdict
    assert verdict.code == "TR102"
    assert verdict.fix[0].startswith("enqueue copy_row on stream compute")
    assert not [fix for fix in verdict.fix if "the same kernel" in fix]
