"""The CUDA device keeps the contract that the simulated one keeps."""

import subprocess
import sys

import pytest
import torch

from tests.device.contract import DeviceContract, Make, numbers, put
from tests.device.telling import ACCESS, TellingRecorder
from tracert.device.cuda import CudaDevice
from tracert.device.device import DeviceError, Progress
from tracert.device.open import open_device

pytestmark = pytest.mark.gpu

LONG = 2_000_000_000
"""Cycles for which a kernel that only waits keeps a stream busy: about a second."""


def wait_cycles(cycles: int) -> None:
    """A kernel that does nothing for so long."""
    torch.cuda._sleep(cycles)  # type: ignore[no-untyped-call]


@pytest.fixture
def make() -> Make:
    """New devices, all on the first GPU."""

    def make(recorder: TellingRecorder) -> CudaDevice:
        return CudaDevice(recorder.as_recorder())

    return make


class TestCudaDevice(DeviceContract):
    """Sound programs give the one right result."""


def test_auto_is_cuda_unless_a_schedule_is_asked_for() -> None:
    """Schedules are the simulated device's."""
    recorder = TellingRecorder().as_recorder()

    assert open_device(recorder, "auto").name.startswith("cuda:0 ")
    assert open_device(recorder, "auto", schedule="fifo").name == "sim"


def test_a_missing_fence_overtakes_a_busy_stream(make: Make) -> None:
    """A consumer on another stream runs before its producer, which the progress words show."""
    device = make(TellingRecorder())
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device, 1)
    device.launch(one, put, x, 1, access=ACCESS)
    device.sync_all()
    device.launch(one, wait_cycles, LONG, access=ACCESS)
    device.launch(one, put, x, 2, access=ACCESS)
    device.launch(two, put, x, 3, access=ACCESS)
    device.sync_stream(two)
    between = device.progress()
    early = device.read(x).tolist()
    device.sync_all()

    assert (between[1].finished, between[2]) == (1, Progress(1, 1, 1))
    assert (early, device.read(x).tolist()) == ([3], [2])


def test_a_synchronise_gives_up() -> None:
    """A launch that takes longer than allowed is an error, and the device says that it is unusable."""
    device = CudaDevice(TellingRecorder().as_recorder(), hang_seconds=0.05)
    stream = device.stream("only")
    device.launch(stream, wait_cycles, LONG, access=ACCESS)
    with pytest.raises(DeviceError) as error:
        device.sync_stream(stream)

    assert (error.value.code, error.value.name) == (702, "LAUNCH_TIMEOUT")
    assert error.value.detail == {"timed_out_on": {"stream": stream.id}}
    assert device.state == "unusable"
    torch.cuda.synchronize()


def test_a_fault_is_learnt_and_stays() -> None:
    """`check_fault` in a process of its own, since CUDA does not recover in this one."""
    program = (
        "from tests.device.contract import check_fault; from tests.device.telling import TellingRecorder; "
        "from tracert.device.cuda import CudaDevice; check_fault(CudaDevice(TellingRecorder().as_recorder()))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)

    assert ended.returncode == 0, ended.stderr
