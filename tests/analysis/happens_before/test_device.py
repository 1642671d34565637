"""The clocks against the simulated device: what they call ordered, no schedule runs the other way round."""

import random
from typing import Any

import pytest

from tests.analysis.happens_before.program import Program
from tracert.record.access import Access, Compute

simulated = pytest.importorskip("tracert.device.simulated")


class Told:
    """A recorder that keeps what a device tells as a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._fences: dict[int, int] = {}

    def launch(self, launch: int, stream: int, ordinal: int, kernel: str, access: Access) -> int:
        """See `Recorder.launch`."""
        self.program.launch(stream)
        return len(self.program.steps)

    def fence_record(self, fence: int, stream: int, ordinal: int) -> int:
        """See `Recorder.fence_record`."""
        self._fences[fence] = self.program.record(stream)
        return len(self.program.steps)

    def fence_wait(self, fence: int, stream: int, record_seq: int) -> int:
        """See `Recorder.fence_wait`."""
        self.program.wait(stream, self._fences[fence])
        return len(self.program.steps)

    def fence_passed(
        self, *, fence: int | None = None, stream: int | None = None, device: bool = False
    ) -> int:
        """See `Recorder.fence_passed`."""
        if fence is not None:
            self.program.sync(self._fences[fence])
        elif stream is not None:
            self.program.sync_stream(stream)
        else:
            self.program.sync_all()
        return len(self.program.steps)


def ran(draw: random.Random, schedule: str) -> tuple[Program, list[int]]:
    """A random program on the device: what it told, and the launches in the order in which they ran."""
    width = draw.randint(2, 4)
    blocking = frozenset(stream for stream in range(1, width) if draw.random() < 0.5)
    told = Program(width=width, blocking=blocking)
    device = simulated.SimDevice(Told(told), schedule=schedule)
    streams = [
        device.legacy,
        *(device.stream(f"s{one}", blocking=one in blocking) for one in range(1, width)),
    ]
    order: list[int] = []

    def kernel(number: int) -> None:
        order.append(number)

    fences: list[Any] = []
    launches = 0
    for _ in range(draw.randint(10, 40)):
        stream = draw.choice(streams)
        match draw.choice("LLLLRRWWSQFD"):
            case "L":
                device.launch(stream, kernel, launches, access=Compute("test", 0))
                launches += 1
            case "R":
                fences.append(device.record(stream))
            case "W" if fences:
                device.wait(stream, draw.choice(fences))
            case "S" if fences and draw.random() < 0.5:
                device.sync(draw.choice(fences))
            case "Q" if fences:
                device.query(draw.choice(fences))
            # Whether an idle blocking stream waits for the legacy one can be read either way in the vendor's
            # text; the clocks call that ordered, and the device runs the reading that is not.
            case "F" if draw.random() < 0.5 and stream.id not in blocking:
                device.sync_stream(stream)
            case "D" if draw.random() < 0.2:
                device.sync_all()
    device.sync_all()
    return told, order


@pytest.mark.parametrize("schedule", ["random", "fifo", "eager"])
def test_no_schedule_contradicts_the_clocks(schedule: str) -> None:
    """300 programs a schedule: whenever `a` is before `b`, it ran first."""
    for seed in range(300):
        name = f"random:{seed}" if schedule == "random" else schedule
        told, order = ran(random.Random(seed), name)
        place = {launch: at for at, launch in enumerate(order)}
        wrong = [(a, b) for a in place for b in place if a != b and told.before(a, b) and place[a] > place[b]]
        assert [] == wrong, f"seed {seed}: {told.steps}"


def test_schedules_use_the_freedom_that_is_left() -> None:
    """Where nothing orders two launches, some schedule runs the later one first."""
    reversed_pairs = 0
    for seed in range(50):
        told, order = ran(random.Random(seed), f"random:{seed}")
        place = {launch: at for at, launch in enumerate(order)}
        reversed_pairs += sum(place[a] > place[b] for a in place for b in place if a < b)
        assert all(not told.before(a, b) for a in place for b in place if a < b and place[a] > place[b])
    assert reversed_pairs > 100
