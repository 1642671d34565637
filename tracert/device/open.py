"""Opens the device that the command line names."""

from collections.abc import Callable
from typing import Literal

import torch

from tracert.device.cuda import CudaDevice
from tracert.device.device import Device
from tracert.device.simulated import SimDevice
from tracert.record.recorder import Recorder


class DeviceUnavailable(ValueError):
    """The device that was asked for is not there, or cannot do what was asked."""


def open_device(
    recorder: Recorder,
    name: Literal["auto", "cpu", "cuda"],
    *,
    schedule: str = "eager",
    memory_limit: int | None = None,
    hang_seconds: float = 60.0,
    progress: Callable[[int], memoryview] | None = None,
) -> Device:
    """The device called `name`; `auto` is CUDA where there is one and no schedule is asked for.

    `eager` asks for none: both devices run launches as soon as they can. Every other schedule is the
    simulated device's alone. `memory_limit`, in bytes, holds for the simulated device. Raises
    DeviceUnavailable, and ScheduleError for a schedule that cannot be read.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise DeviceUnavailable(f"unknown device {name!r}; use auto, cpu or cuda")
    found = torch.cuda.is_available()
    if name == "cuda" and not found:
        raise DeviceUnavailable("no CUDA device found; use --device cpu, or a torch built with CUDA")
    if name == "cuda" and schedule != "eager":
        raise DeviceUnavailable(
            f"schedule {schedule[:40]!r} needs the simulated device; use --device cpu or no --schedule"
        )
    if found and name != "cpu" and schedule == "eager":
        return CudaDevice(recorder, hang_seconds=hang_seconds, progress=progress)
    return SimDevice(
        recorder,
        schedule=schedule,
        memory_limit=memory_limit,
        hang_seconds=hang_seconds,
        progress=progress,
    )
