"""The clocks, the graph and the simulated device on the table of what a host may rely on."""

import pytest

from tests.analysis.happens_before.cases import CASES, Case, played, ran, verdicts
from tracert.record.access import Compute
from tracert.record.recorder import NullRecorder

simulated = pytest.importorskip("tracert.device.simulated")

SCHEDULES = ("eager", "fifo", *(f"random:{seed}" for seed in range(60)))


def test_the_table_is_as_large_as_it_should_be() -> None:
    """Every program once, each with a reason."""
    assert 60 <= len({case.program for case in CASES}) == len(CASES)
    assert all(case.why.endswith(".") and case.verdicts for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program)
def test_clocks_and_graph_give_the_verdict(case: Case) -> None:
    """Both, for each pair that the case tells of, and never the other way round."""
    program, jobs = played(case)
    reaches = program.reaches()
    for a, b, ordered in verdicts(case):
        one, other = jobs[a], jobs[b]
        assert ordered == program.before(one, other), case.why
        assert ordered == bool(reaches[other] >> one & 1), case.why
        assert not program.before(other, one)
        assert not reaches[one] >> other & 1


@pytest.mark.parametrize("case", [case for case in CASES if case.device], ids=lambda case: case.program)
def test_the_device_agrees(case: Case) -> None:
    """What is ordered, no schedule turns round; what isn't, some does."""
    orders = set()
    for schedule in SCHEDULES:
        device = simulated.SimDevice(NullRecorder(), schedule=schedule)
        orders.add(ran(case, device, Compute("test", 0)))
    orders.discard(None)
    assert orders
    for a, b, ordered in verdicts(case):
        kept = {order.index(a) < order.index(b) for order in orders if order}
        assert ({True} if ordered else {True, False}) == kept, case.why
