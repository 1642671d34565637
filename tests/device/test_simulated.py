"""The simulated device: what real devices do too, but rarely enough to hide it."""

import pytest
import torch

from tests.device.contract import copy, numbers, put
from tests.device.telling import ACCESS, TellingRecorder
from tracert.device.device import DeviceError, Progress, Stall
from tracert.device.simulated import SimDevice


def make(schedule: str, **options: float) -> SimDevice:
    """A device whose recorder nobody asks."""
    return SimDevice(TellingRecorder().as_recorder(), schedule=schedule, **options)  # type: ignore[arg-type]


def fail(*_: object) -> None:
    """A kernel that breaks."""
    raise IndexError("page 99 of row 3")


def hang(*_: object) -> None:
    """A kernel that never returns."""
    raise Stall


def test_fifo_runs_nothing_before_it_must() -> None:
    """What the host did not synchronise on has not run, though another stream's later launch has."""
    device = make("fifo")
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device)
    device.launch(one, put, x, 1, access=ACCESS)
    device.launch(two, put, x, 2, access=ACCESS)
    device.launch(one, put, x, 3, access=ACCESS)
    before = device.progress()
    device.sync_stream(two)
    after = device.progress()

    assert (Progress(2, 0, 0), Progress(1, 0, 0)) == (before[1], before[2])
    assert (Progress(2, 1, 1), Progress(1, 1, 1)) == (after[1], after[2])


def test_staging_is_read_when_the_copy_runs() -> None:
    """A buffer rewritten before its copy ran is copied as it is then; eager copies at once."""
    results = {}
    for schedule in ("eager", "fifo"):
        device = make(schedule)
        stream = device.stream("only")
        x, staging = numbers(device), device.pinned((4,), torch.int64)
        staging.fill_(1)
        device.launch(stream, copy, x, staging, access=ACCESS)
        staging.fill_(2)
        device.sync_stream(stream)
        results[schedule] = device.read(x).tolist()

    assert results == {"eager": [1] * 4, "fifo": [2] * 4}


@pytest.mark.parametrize("schedule", ["eager", "fifo"])
def test_a_fault_is_not_told_by_launches(schedule: str) -> None:
    """Launches, records, waits and allocations after the fault succeed, and nothing of them runs."""
    device = make(schedule)
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device)
    device.launch(one, put, x, 1, access=ACCESS)
    device.launch(one, fail, x, access=ACCESS)
    device.launch(one, put, x, 2, access=ACCESS)
    device.wait(two, device.record(one))
    device.launch(two, put, x, 3, access=ACCESS)
    device.allocate(8)

    assert device.state == "ok"
    with pytest.raises(DeviceError) as error:
        device.sync_all()
    assert (
        error.value.code,
        error.value.name,
        error.value.message,
    ) == (719, "LAUNCH_FAILURE", "unspecified launch failure")
    assert (error.value.stream, error.value.observed_at, error.value.detail) == (None, "sync_all", {})
    assert error.value.__cause__ is None
    assert error.value.__context__ is None
    assert {0: Progress(0, 0, 0), 1: Progress(3, 2, 1), 2: Progress(1, 0, 0)} == device.progress()


@pytest.mark.parametrize("schedule", ["eager", "fifo"])
def test_a_hang_meets_the_deadline_at_once(schedule: str) -> None:
    """When nothing can run, no time is spent: the rest is run and the device is drained."""
    device = make(schedule, hang_seconds=1e9)
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device)
    device.launch(one, hang, access=ACCESS)
    device.launch(two, put, x, 1, access=ACCESS)
    with pytest.raises(DeviceError) as error:
        device.sync_stream(one)

    assert (error.value.code, error.value.name) == (702, "LAUNCH_TIMEOUT")
    assert error.value.detail == {"timed_out_on": {"stream": 1}}
    assert device.state == "drained"
    assert (Progress(1, 1, 0), Progress(1, 1, 1)) == (device.progress()[1], device.progress()[2])
