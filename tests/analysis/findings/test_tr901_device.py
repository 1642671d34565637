"""A launch that hangs on the simulated device, from its ring to the reader's verdict (TR901)."""

from pathlib import Path

import pytest
from tracert_analysis.load import open_dump
from tracert_analysis.report.build import build

from tests.device.telling import ACCESS
from tests.device.test_simulated import hang
from tracert.device.device import DeviceError
from tracert.device.simulated import SimDevice
from tracert.record.dump import write_dump
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder


@pytest.mark.parametrize("schedule", ["fifo", "random:3"])
def test_the_launch_that_hangs_is_named(tmp_path: Path, schedule: str) -> None:
    """What waits behind it in its stream, and behind its fence on another, is not the verdict."""
    ring = Ring.create(tmp_path / "a.ring", Geometry(slots=256))
    recorder = RingRecorder(ring)
    device = SimDevice(recorder, schedule=schedule, hang_seconds=0.2, progress=ring.progress)
    compute, copies = device.stream("compute"), device.stream("copies")
    for stream in device.streams():
        ring.name_stream(stream.id, stream.name, blocking=stream.blocking)
    device.launch(compute, lambda: None, access=ACCESS)
    device.launch(compute, hang, access=ACCESS)
    device.wait(copies, device.record(compute))
    device.launch(copies, lambda: None, access=ACCESS)
    device.launch(compute, lambda: None, access=ACCESS)
    with pytest.raises(DeviceError) as caught:
        device.sync_all()
    failed = caught.value
    recorder.error(failed.code, failed.name, failed.message, failed.stream, failed.observed_at, failed.detail)
    write_dump(ring.path, tmp_path / "dump.jsonl", reason="device-error")
    ring.close()
    report = build(open_dump(str(tmp_path / "dump.jsonl")))
    assert (report.verdict.code, report.verdict.confidence) == ("TR901", "observed")
    assert report.verdict.sentence == (
        "Launch 2 (hang) on compute has started and not ended when the host gave up waiting."
    )
