"""The simulated device keeps the contract under every schedule."""

import pytest

from tests.device.contract import DeviceContract, Make, check_fault
from tests.device.telling import TellingRecorder
from tracert.device.simulated import SimDevice

SCHEDULES = ["eager", "fifo", "replay:", *[f"random:{seed}" for seed in range(20)]]


@pytest.fixture(params=SCHEDULES)
def make(request: pytest.FixtureRequest) -> Make:
    """New devices, each under the schedule at hand."""

    def make(recorder: TellingRecorder) -> SimDevice:
        return SimDevice(recorder.as_recorder(), schedule=request.param)

    return make


class TestSimDevice(DeviceContract):
    """Everything sound gives the one right result, whatever the order."""

    def test_a_fault_is_learnt_late_and_stays(self, make: Make) -> None:
        """`check_fault`, which CUDA runs in a process of its own."""
        check_fault(make(TellingRecorder()))
