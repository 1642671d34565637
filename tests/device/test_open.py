"""Which device a name gives."""

from typing import Any, cast

import pytest
import torch

from tests.device.telling import TellingRecorder
from tracert.device.open import DeviceUnavailable, open_device
from tracert.device.replay import ScheduleError
from tracert.device.simulated import SimDevice


def open_named(name: str, **options: Any) -> Any:
    """Open with a recorder that nobody asks."""
    return open_device(TellingRecorder().as_recorder(), cast(Any, name), **options)


def test_cpu_is_the_simulated_device() -> None:
    """Eager unless said; every other schedule is taken; the limits are passed on."""
    device = open_named("cpu", memory_limit=10)

    assert isinstance(device, SimDevice)
    assert device.schedule_string() == "eager"
    assert open_named("cpu", schedule="random:4").schedule_string() == "replay:"
    with pytest.raises(MemoryError):
        device.allocate(11)


def test_auto_with_a_schedule_is_simulated() -> None:
    """Wherever it runs."""
    assert open_named("auto", schedule="fifo").name == "sim"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_auto_without_cuda_is_simulated() -> None:
    """Nothing to choose."""
    assert open_named("auto").name == "sim"


def test_a_schedule_with_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardware keeps to no schedule."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(DeviceUnavailable) as error:
        open_named("cuda", schedule="random:1")

    assert str(error.value) == (
        "schedule 'random:1' needs the simulated device; use --device cpu or no --schedule"
    )


def test_cuda_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do instead."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DeviceUnavailable) as error:
        open_named("cuda")

    assert str(error.value) == "no CUDA device found; use --device cpu, or a torch built with CUDA"


def test_other_bad_input_is_one_line() -> None:
    """An unknown name, an unknown schedule."""
    with pytest.raises(DeviceUnavailable, match="unknown device 'tpu'; use auto, cpu or cuda"):
        open_named("tpu")
    with pytest.raises(ScheduleError, match="unknown schedule 'lifo'"):
        open_named("cpu", schedule="lifo")
