"""Staging buffers on the simulated device: when one may be written again."""

import torch

from tests.memory.history import History
from tracert.device.device import Fence, Launch, Memory, Stream
from tracert.device.simulated import SimDevice
from tracert.memory.staging import StagingRing
from tracert.record.access import Compute

COPY = Compute(phase="test", step=0)


def copy_out(target: torch.Tensor, source: torch.Tensor) -> None:
    """Kernel: read the staging buffer when the device gets here."""
    target.copy_(source)


class Bench:
    """A ring of 4-entry buffers on a device that runs only when it is synchronised."""

    def __init__(self, limit: int = 64, schedule: str = "fifo") -> None:
        self.history = History()
        self.device = SimDevice(self.history, schedule=schedule)
        self.stream = self.device.stream("transfer")
        self.ring = StagingRing(self.history, self.device, 4, limit=limit)

    def send(self, values: list[int], stream: Stream | None = None) -> tuple[int, Launch, Memory]:
        """Stage values and launch the copy that reads them."""
        buffer = self.ring.take()
        self.ring.write(buffer, values)
        target = self.device.allocate(16).view(torch.int32, (4,))
        launch = self.device.launch(stream or self.stream, copy_out, target, buffer.tensor, access=COPY)
        self.ring.launched(buffer, launch)
        return buffer.id, launch, target

    def fence(self) -> Fence:
        """A fence behind all copies of the stream so far."""
        fence = self.device.record(self.stream)
        self.ring.fenced(fence)
        return fence


def test_tells_that_the_host_wrote() -> None:
    """`stage` comes before the launch, with the buffer's number and the bytes written."""
    bench = Bench()
    bench.send([1, 2, 3])
    assert bench.history.kinds() == ["stage", "launch"]
    assert bench.history.of("stage") == [{"staging": 1, "bytes": 12}]


def test_grows_while_copies_are_pending() -> None:
    """Each copy reads what was staged for it, however late it executes."""
    bench = Bench(schedule="random:3")
    sent = [bench.send([i, i, i, i]) for i in range(10)]
    bench.device.sync_all()
    assert len({number for number, _, _ in sent}) == 10
    assert [bench.device.read(target).tolist() for _, _, target in sent] == [[i] * 4 for i in range(10)]


def test_takes_the_oldest_again_once_its_fence_has_passed() -> None:
    """A passed fence is asked for once, and covers every buffer before it."""
    bench = Bench()
    first = [bench.send([i])[0] for i in range(3)]
    bench.device.sync(bench.fence())
    before = len(bench.history.of("fence_passed"))
    again = [bench.send([i])[0] for i in range(3)]
    assert again == first
    assert len(bench.history.of("fence_passed")) == before + 1
    assert bench.send([9])[0] == 4


def test_a_buffer_without_a_fence_is_never_taken_again() -> None:
    """Forgetting `fenced` costs memory, not correctness, even past the limit."""
    bench = Bench(limit=2)
    numbers = [bench.send([i])[0] for i in range(5)]
    bench.device.sync_all()
    assert [*numbers, bench.send([5])[0]] == [1, 2, 3, 4, 5, 6]


def test_waits_for_the_oldest_at_the_limit() -> None:
    """At the limit a pending fence is waited for: the copy has executed before its buffer is written."""
    bench = Bench(limit=2, schedule="random:0")
    sent = []
    for i in range(20):
        sent.append(bench.send([i, i, i, i]))
        bench.fence()
    bench.device.sync_all()
    assert len(bench.ring) == 2
    assert [bench.device.read(target).tolist() for _, _, target in sent] == [[i] * 4 for i in range(20)]


def test_a_fence_guards_only_earlier_copies_of_its_stream() -> None:
    """A fence of another stream, or one recorded before the copy, does not free the buffer."""
    bench = Bench()
    early = bench.device.record(bench.stream)
    other = bench.device.stream("compute")
    bench.send([1])
    bench.send([2], stream=other)
    bench.ring.fenced(early)
    bench.device.sync_all()
    assert bench.send([3])[0] == 3
    bench.fence()
    bench.device.sync_all()
    assert [bench.send([4])[0], bench.send([5])[0]] == [1, 4]
