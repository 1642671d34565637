"""What every device must do: the contract, run for the simulated device and for CUDA.

Kernels here are torch functions that run on either. Only sound programs stand here, so that each has one
right result; what goes wrong without a fence is shown on the simulated device alone.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.device.telling import ACCESS, TellingRecorder
from tracert.device.device import Device, DeviceError, Fence, Memory, Progress, Stream

Make = Callable[[TellingRecorder], Device]


def put(target: torch.Tensor, value: int) -> None:
    """Write one number everywhere."""
    target.fill_(value)


def step(target: torch.Tensor, factor: int, summand: int) -> None:
    """Multiply and add: the order of two steps shows in the result."""
    target.mul_(factor).add_(summand)


def copy(target: torch.Tensor, source: torch.Tensor) -> None:
    """Copy, also out of host memory."""
    target.copy_(source, non_blocking=True)


def gather(target: torch.Tensor, source: torch.Tensor, index: torch.Tensor) -> None:
    """Pick rows by index; an index out of range is a fault of the device."""
    target.copy_(source[index])


def add_lists(target: torch.Tensor, parts: list[torch.Tensor]) -> None:
    """Sum of a list of tensors."""
    target.copy_(sum(parts[1:], parts[0]))


def numbers(device: Device, count: int = 4) -> Memory:
    """`count` int64 of device memory."""
    return device.allocate(count * 8).view(torch.int64, (count,))


class DeviceContract:
    """Subclasses give the fixture `make`: a recorder's device, new for each test."""

    @pytest.fixture
    def recorder(self) -> TellingRecorder:
        """What the device tells."""
        return TellingRecorder()

    @pytest.fixture
    def device(self, make: Make, recorder: TellingRecorder) -> Device:
        """A device that nobody has used."""
        return make(recorder)

    def test_streams_are_listed_with_the_legacy_one_first(self, device: Device) -> None:
        """Ids count from 0; a stream does not block unless said, the legacy one does."""
        compute = device.stream("compute")
        shared = device.stream("shared", blocking=True)

        assert [Stream(0, "legacy", True), compute, shared] == device.streams()
        assert Stream(1, "compute", False) == compute
        assert Stream(2, "shared", True) == shared
        assert device.legacy == device.streams()[0]
        assert device.state == "ok"

    def test_launches_are_numbered_over_the_device_and_within_their_stream(self, device: Device) -> None:
        """Both numbers start at 1."""
        one, two = device.stream("one"), device.stream("two")
        x = numbers(device)

        launches = [device.launch(stream, put, x, 1, access=ACCESS) for stream in (one, one, two, one)]

        assert launches == [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 1, 3)]
        device.sync_all()

    def test_the_recorder_is_told_each_act_in_order(self, device: Device, recorder: TellingRecorder) -> None:
        """A wait names the record's sequence number; a fence stands behind the launches before it."""
        one, two = device.stream("one"), device.stream("two")
        x = numbers(device)
        device.launch(one, put, x, 1, access=ACCESS)
        fence = device.record(one)
        device.wait(two, fence)
        device.launch(two, step, x, 2, 0, access=ACCESS)
        device.sync_stream(two)
        assert device.query(fence)
        device.sync(fence)
        device.sync_all()

        assert recorder.told == [
            ("launch", 1, 1, 1, "put", ACCESS),
            ("fence_record", 1, 1, 1),
            ("fence_wait", 1, 2, 2),
            ("launch", 2, 2, 1, "step", ACCESS),
            ("fence_passed", None, 2, False),
            ("fence_passed", 1, None, False),
            ("fence_passed", 1, None, False),
            ("fence_passed", None, None, True),
        ]
        assert fence == Fence(1, 1, 1, 2)

    def test_a_stream_runs_in_order(self, device: Device) -> None:
        """Ten steps that do not commute give the result of their order."""
        stream = device.stream("only")
        x = numbers(device)
        device.launch(stream, put, x, 1, access=ACCESS)
        expected = 1
        for summand in range(10):
            device.launch(stream, step, x, 2, summand, access=ACCESS)
            expected = expected * 2 + summand
        device.sync_stream(stream)

        assert [expected] * 4 == device.read(x).tolist()

    def test_a_fence_orders_two_streams(self, device: Device) -> None:
        """Ping-pong between streams, each side waiting for the other."""
        one, two = device.stream("one"), device.stream("two")
        x = numbers(device)
        device.launch(one, put, x, 1, access=ACCESS)
        expected = 1
        for summand in range(6):
            here, there = (one, two) if summand % 2 == 0 else (two, one)
            device.wait(there, device.record(here))
            device.launch(there, step, x, 3, summand, access=ACCESS)
            expected = expected * 3 + summand
        device.sync(device.record(there))

        assert [expected] * 4 == device.read(x).tolist()

    def test_blocking_streams_and_the_legacy_stream_order_themselves(self, device: Device) -> None:
        """No fence is needed between a blocking stream, the legacy one, and another blocking one."""
        one, two = device.stream("one", blocking=True), device.stream("two", blocking=True)
        x = numbers(device)
        device.launch(one, put, x, 1, access=ACCESS)
        device.launch(device.legacy, step, x, 2, 1, access=ACCESS)
        device.launch(two, step, x, 2, 5, access=ACCESS)
        device.launch(device.legacy, step, x, 2, 7, access=ACCESS)
        device.sync_stream(device.legacy)

        assert device.read(x).tolist() == [((1 * 2 + 1) * 2 + 5) * 2 + 7] * 4

    def test_pinned_memory_is_copied_by_a_launch(self, device: Device) -> None:
        """A kernel reads staging that the host wrote before, and leaves the rest alone."""
        stream = device.stream("only")
        x = numbers(device)
        staging = device.pinned((2,), torch.int64)
        device.launch(stream, put, x, 0, access=ACCESS)
        staging[:] = torch.tensor([7, 8])
        device.launch(stream, copy, x.view(torch.int64, (2,), 8), staging, access=ACCESS)
        device.sync_stream(stream)

        assert device.read(x).tolist() == [0, 7, 8, 0]

    def test_host_tensors_and_lists_of_memory_reach_the_kernel(self, device: Device) -> None:
        """Index tensors of the host are where the kernel can use them; lists arrive as lists of tensors."""
        stream = device.stream("only")
        x, y, total = numbers(device), numbers(device, 2), numbers(device, 2)
        index = torch.tensor([3, 0])
        for offset in range(4):
            device.launch(stream, put, x.view(torch.int64, (1,), 8 * offset), 10 * offset, access=ACCESS)
        device.launch(stream, gather, y, x, index, access=ACCESS)
        device.launch(stream, add_lists, total, [y, x.view(torch.int64, (2,), 8)], access=ACCESS)
        device.sync_stream(stream)

        assert device.read(y).tolist() == [30, 0]
        assert device.read(total).tolist() == [40, 20]

    def test_plain_values_are_those_of_the_launch(self, device: Device) -> None:
        """A variable that changes after the launch changes nothing."""
        stream = device.stream("only")
        x = numbers(device, 1)
        value = 3
        device.launch(stream, put, x, value, access=ACCESS)
        value = 4
        device.sync_stream(stream)

        assert device.read(x).tolist() == [3]
        assert value == 4

    def test_views_share_bytes_and_keep_inside(self, device: Device) -> None:
        """A view of eight bytes as int32 sees what was written as int64; one too large is refused."""
        stream = device.stream("only")
        x = numbers(device, 1)
        device.launch(stream, put, x, (5 << 32) | 9, access=ACCESS)
        device.sync_stream(stream)

        assert device.read(x.view(torch.int32, (2,))).tolist() == [9, 5]
        with pytest.raises(ValueError, match="exceeds the 8 bytes allocated"):
            x.view(torch.int32, (2,), 4)

    def test_what_was_read_is_a_copy(self, device: Device) -> None:
        """A later launch leaves it alone, and it lies in host memory."""
        stream = device.stream("only")
        x = numbers(device, 1)
        device.launch(stream, put, x, 1, access=ACCESS)
        device.sync_stream(stream)
        before = device.read(x)
        device.launch(stream, put, x, 2, access=ACCESS)
        device.sync_stream(stream)

        assert before.tolist() == [1]
        assert before.device.type == "cpu"

    def test_a_fence_on_an_empty_stream_has_passed(self, device: Device, recorder: TellingRecorder) -> None:
        """There is nothing before it; waiting for it is allowed."""
        stream = device.stream("only")
        fence = device.record(stream)
        device.wait(stream, fence)
        device.sync(fence)

        assert fence.ordinal == 0
        assert recorder.told[-1] == ("fence_passed", 1, None, False)

    def test_a_poll_ends(self, device: Device, recorder: TellingRecorder) -> None:
        """Whoever asks again and again sees the fence pass; only the last answer is recorded."""
        stream = device.stream("only")
        x = numbers(device)
        for _ in range(5):
            device.launch(stream, step, x, 1, 1, access=ACCESS)
        fence = device.record(stream)
        while not device.query(fence):
            pass

        assert recorder.kinds().count("fence_passed") == 1

    def test_progress_words_count_what_ended(self, device: Device) -> None:
        """After a synchronise, all that was launched has started and finished, per stream."""
        one, two = device.stream("one"), device.stream("two")
        x = numbers(device)
        for stream in (one, two, two):
            device.launch(stream, put, x, 1, access=ACCESS)
        device.sync_all()

        assert {0: Progress(0, 0, 0), 1: Progress(1, 1, 1), 2: Progress(2, 2, 2)} == device.progress()

    def test_a_stranger_is_refused(self, device: Device, make: Make) -> None:
        """Streams and fences of another device are one line of ValueError."""
        other = make(TellingRecorder())
        stream = device.stream("only")
        for name in ("a", "b"):
            stranger = other.stream(name)
        fence = other.record(stranger)

        with pytest.raises(ValueError, match=r"stream 2 \(b\) is not of this device"):
            device.launch(stranger, put, numbers(device), 1, access=ACCESS)
        with pytest.raises(ValueError, match="fence 1 is not of this device"):
            device.wait(stream, fence)


def check_fault(device: Device) -> None:
    """A fault surfaces at the latest at a synchronise, names nothing, and every later touch raises the same.

    The simulated device never tells in a launch, which its own tests ask; CUDA may. It costs a process its
    CUDA device, so there it runs in a process of its own.
    """
    stream = device.stream("victim")
    source, target = numbers(device, 4), numbers(device, 1)
    index = torch.tensor([1 << 40])
    device.launch(stream, put, source, 1, access=ACCESS)

    def break_it() -> None:
        device.launch(stream, gather, target, source, index, access=ACCESS)
        device.sync_stream(stream)

    with pytest.raises(DeviceError) as first:
        break_it()

    for word in ("gather", "index", "1099511627776"):
        assert word not in str(first.value)
    assert first.value.code > 0
    assert first.value.observed_at in ("sync_stream", "launch")
    assert stream.id == first.value.stream
    assert device.state == "unusable"
    touches: list[Callable[[], Any]] = [
        lambda: device.stream("new"),
        lambda: device.allocate(8),
        lambda: device.pinned((1,), torch.int64),
        lambda: device.launch(stream, put, source, 2, access=ACCESS),
        lambda: device.record(stream),
        device.sync_all,
        lambda: device.sync_stream(stream),
        lambda: device.read(source),
    ]
    for touch in touches:
        with pytest.raises(DeviceError) as later:
            touch()
        assert vars(first.value) == vars(later.value)
        assert str(first.value) == str(later.value)
    assert device.progress()[stream.id].launched == 2
    assert [each.name for each in device.streams()] == ["legacy", "victim"]
