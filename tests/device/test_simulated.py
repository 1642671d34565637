"""The simulated device: memory, faults, deadlines, progress; orders are in `test_orders`."""

from array import array
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.device.contract import copy, numbers, put, step
from tests.device.telling import ACCESS, TellingRecorder
from tracert.device.device import Awaited, DeviceError, Fence, Memory, Progress, Stall, Starved, Stream
from tracert.device.replay import ScheduleError
from tracert.device.simulated import SimDevice

SCHEDULES = ["eager", "fifo", "replay:", "random:1", "random:2", "random:3"]


def make(schedule: str, **options: Any) -> SimDevice:
    """A device whose recorder nobody asks."""
    return SimDevice(TellingRecorder().as_recorder(), schedule=schedule, **options)


def fail(*_: object) -> None:
    """A kernel that breaks."""
    raise IndexError("page 99 of row 3")


def hang(*_: object) -> None:
    """A kernel that never returns."""
    raise Stall


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_launch_is_told_before_it_runs(schedule: str) -> None:
    """Whatever the schedule, the history has the launch first and its effects after it."""
    recorder = TellingRecorder()
    device = SimDevice(recorder.as_recorder(), schedule=schedule)
    stream = device.stream("only")

    def work(number: int) -> None:
        recorder.told.append(("ran", number))

    for number in range(1, 6):
        device.launch(stream, work, number, access=ACCESS)
    device.sync_all()

    told = [event[:2] for event in recorder.told]
    for number in range(1, 6):
        assert told.index(("launch", number)) < told.index(("ran", number))
    assert [event[3] for event in recorder.told if event[0] == "launch"] == [1, 2, 3, 4, 5]
    assert recorder.told[0] == ("launch", 1, 1, 1, "work", ACCESS)


def test_fifo_runs_nothing_before_it_must() -> None:
    """What the host did not synchronise on has not run, though an earlier launch elsewhere has."""
    device = make("fifo")
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device)
    device.launch(one, put, x, 1, access=ACCESS)
    device.launch(two, put, x, 2, access=ACCESS)
    device.launch(one, put, x, 3, access=ACCESS)
    before = device.progress()
    device.sync_stream(two)
    after = device.progress()

    assert (before[1], before[2]) == (Progress(2, 0, 0), Progress(1, 0, 0))
    assert (after[1], after[2]) == (Progress(2, 1, 1), Progress(1, 1, 1))
    assert device.schedule_string() == "replay:4.bc"


def test_eager_prints_its_name() -> None:
    """It keeps no trace: its order is that of the program."""
    device = make("eager")
    device.launch(device.stream("only"), put, numbers(device), 1, access=ACCESS)

    assert device.schedule_string() == "eager"


def test_a_bad_schedule_is_refused_at_once() -> None:
    """Before anything is made."""
    with pytest.raises(ScheduleError, match="unknown schedule 'lifo'"):
        make("lifo")


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


def test_staging_is_safe_behind_a_fence_and_lost_without_for_some_seeds() -> None:
    """Two copies through one buffer: right for every seed if the host waits for the first."""

    def both(seed: int, wait: bool) -> list[int]:
        device = make(f"random:{seed}")
        stream = device.stream("only")
        x, staging = numbers(device, 2), device.pinned((1,), torch.int64)
        for index in range(2):
            staging.fill_(index + 1)
            target = x.view(torch.int64, (1,), 8 * index)
            device.launch(stream, copy, target, staging, access=ACCESS)
            if wait:
                device.sync(device.record(stream))
        device.sync_all()
        return device.read(x).tolist()

    assert {tuple(both(seed, wait=True)) for seed in range(40)} == {(1, 2)}
    assert {tuple(both(seed, wait=False)) for seed in range(40)} == {(1, 2), (2, 2)}


def test_a_read_sees_memory_as_it_is_now() -> None:
    """Who does not synchronise first reads what was there before."""
    device = make("fifo")
    stream = device.stream("only")
    x = numbers(device, 1)
    device.launch(stream, put, x, 1, access=ACCESS)
    device.sync_stream(stream)
    device.launch(stream, put, x, 2, access=ACCESS)
    early = device.read(x).tolist()
    device.sync_stream(stream)

    assert (early, device.read(x).tolist()) == ([1], [2])


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_fresh_memory_is_garbage(schedule: str) -> None:
    """Every byte is 0xCB, so that whoever reads what nobody wrote sees it; pinned memory is zero."""
    device = make(schedule)

    assert device.read(device.allocate(5)).tolist() == [0xCB] * 5
    assert device.pinned((2, 2), torch.int32).tolist() == [[0, 0], [0, 0]]


def test_memory_ends() -> None:
    """The limit counts all that was granted; the refusal is one line and costs nothing."""
    device = make("eager", memory_limit=100)
    device.allocate(60)
    with pytest.raises(MemoryError) as error:
        device.allocate(41)

    assert str(error.value) == "device memory: 41 bytes asked for, 40 of 100 left"
    assert device.read(device.allocate(40)).numel() == 40


def test_memory_that_the_host_does_not_have_is_refused() -> None:
    """A million terabytes is a MemoryError, not torch's error."""
    with pytest.raises(MemoryError, match="the host has no 1152921504606846976 bytes to give"):
        make("eager").allocate(1 << 60)


def test_progress_words_lie_where_they_are_put() -> None:
    """Each stream's words are asked for once, by id, and written as launches come and go."""
    words: dict[int, array[int]] = {}

    def place(stream: int) -> memoryview:
        words[stream] = array("Q", (0, 0, 0))
        return memoryview(words[stream])

    device = make("fifo", progress=place)
    stream = device.stream("only")
    seen: list[list[int]] = []

    def work() -> None:
        seen.append(list(words[1]))

    device.launch(stream, work, access=ACCESS)
    device.launch(stream, work, access=ACCESS)
    seen.append(list(words[1]))
    device.sync_stream(stream)

    assert sorted(words) == [0, 1]
    assert seen == [[2, 0, 0], [2, 1, 0], [2, 2, 1]]
    assert list(words[1]) == [2, 2, 2]


@pytest.mark.parametrize("schedule", SCHEDULES)
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
    before = device.state
    with pytest.raises(DeviceError) as error:
        device.sync_all()

    raised = error.value
    assert (raised.code, raised.name, str(raised)) == (719, "LAUNCH_FAILURE", "unspecified launch failure")
    assert (raised.stream, raised.observed_at, raised.detail) == (None, "sync_all", {})
    assert raised.__cause__ is None
    assert raised.__context__ is None
    assert (before, device.state) == ("ok", "unusable")
    assert device.progress() == {0: Progress(0, 0, 0), 1: Progress(3, 2, 1), 2: Progress(1, 0, 0)}
    assert isinstance(device.debug_exception, IndexError)


Observe = Callable[[SimDevice, Stream, Fence], object]


@pytest.mark.parametrize(
    ("observe", "stream", "observed_at"),
    [
        (lambda device, stream, fence: device.sync(fence), 1, "sync"),
        (lambda device, stream, fence: device.query(fence), 1, "query"),
        (lambda device, stream, fence: device.sync_stream(stream), 1, "sync_stream"),
        (lambda device, stream, fence: device.sync_all(), None, "sync_all"),
        (lambda device, stream, fence: device.read(device.allocate(1)), None, "read"),
    ],
)
@pytest.mark.parametrize("schedule", ["eager", "replay:.c."])
def test_the_first_to_ask_is_named_not_the_culprit(
    observe: Observe, stream: int | None, observed_at: str, schedule: str
) -> None:
    """The innocent stream that was asked about stands in the error, at every later call too."""
    device = make(schedule)
    innocent, culprit = device.stream("innocent"), device.stream("culprit")
    device.launch(culprit, fail, access=ACCESS)
    fence = device.record(innocent)
    with pytest.raises(DeviceError) as error:
        observe(device, innocent, fence)
    with pytest.raises(DeviceError) as later:
        device.launch(innocent, put, numbers, 1, access=ACCESS)

    assert (error.value.stream, error.value.observed_at) == (stream, observed_at)
    assert vars(later.value) == vars(error.value)


def test_after_a_fault_every_touch_raises() -> None:
    """All but the words that outlive the device: progress, the schedule, the state, the streams."""
    device = make("fifo")
    stream = device.stream("only")
    x = numbers(device)
    fence = device.record(stream)
    device.launch(stream, fail, access=ACCESS)
    touches: list[Callable[[], object]] = [
        lambda: device.sync_stream(stream),
        lambda: device.launch(stream, put, x, 1, access=ACCESS),
        lambda: device.record(stream),
        lambda: device.wait(stream, fence),
        lambda: device.query(fence),
        lambda: device.sync(fence),
        lambda: device.sync_stream(stream),
        device.sync_all,
        lambda: device.read(x),
        lambda: device.allocate(1),
        lambda: device.pinned((1,), torch.int32),
        lambda: device.stream("new"),
    ]
    errors = []
    for touch in touches:
        with pytest.raises(DeviceError) as error:
            touch()
        errors.append((str(error.value), vars(error.value)))

    assert errors == [errors[0]] * 12
    assert errors[0][1]["observed_at"] == "sync_stream"
    assert device.progress()[1] == Progress(1, 1, 0)
    assert device.schedule_string() == "replay:2.b"
    assert [each.name for each in device.streams()] == ["legacy", "only"]


def test_a_fault_that_was_not_reached_is_not_learnt() -> None:
    """A synchronise that needs nothing of the broken launch succeeds while that has not run."""
    device = make("fifo")
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device, 1)
    device.launch(one, put, x, 7, access=ACCESS)
    device.launch(two, fail, access=ACCESS)
    device.sync_stream(one)

    assert device.read(x).tolist() == [7]
    with pytest.raises(DeviceError):
        device.sync_stream(two)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_hang_meets_the_deadline_at_once_and_the_rest_is_drained(schedule: str) -> None:
    """When nothing can run any more no time is spent waiting; what can run has run."""
    device = make(schedule, hang_seconds=1e9)
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device)
    device.launch(one, hang, access=ACCESS)
    device.launch(one, put, x, 1, access=ACCESS)
    device.launch(two, put, x, 1, access=ACCESS)
    with pytest.raises(DeviceError) as error:
        device.sync_stream(one)

    assert (error.value.code, error.value.name) == (702, "LAUNCH_TIMEOUT")
    assert (error.value.stream, error.value.observed_at) == (1, "sync_stream")
    assert error.value.detail == {"timed_out_on": {"stream": 1}}
    assert device.state == "drained"
    assert device.progress() == {0: Progress(0, 0, 0), 1: Progress(2, 1, 0), 2: Progress(1, 1, 1)}
    with pytest.raises(DeviceError, match="timed out"):
        device.read(x)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_waits_for_a_hang_cannot_be_drained(schedule: str) -> None:
    """Another stream stands behind the one that hangs: the device is unusable."""
    device = make(schedule)
    one, two, three = device.stream("one"), device.stream("two"), device.stream("three")
    device.launch(one, hang, access=ACCESS)
    fence = device.record(one)
    device.wait(two, fence)
    device.launch(two, put, numbers(device), 1, access=ACCESS)
    device.launch(three, put, numbers(device), 1, access=ACCESS)
    device.sync_stream(three)
    assert device.query(fence) is False
    with pytest.raises(DeviceError) as error:
        device.sync(fence)

    assert error.value.detail == {"timed_out_on": {"fence": 1}}
    assert device.state == "unusable"
    assert device.progress()[2] == Progress(1, 0, 0)
    assert device.progress()[3] == Progress(1, 1, 1)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_is_awaited_is_asked_for_when_the_launch_starts(schedule: str) -> None:
    """Not when it is enqueued: what launches before it leave behind can be what it gets."""
    device = make(schedule)
    stream, x = device.stream("only"), numbers(device)
    arrived: list[bool] = []

    def arrive() -> list[Memory]:
        arrived.append(True)
        return [x]

    def put_first(memories: list[torch.Tensor], value: int) -> None:
        put(memories[0], value)

    device.launch(stream, put_first, Awaited(arrive), 5, access=ACCESS)
    device.sync_stream(stream)
    assert set(device.read(x).tolist()) == {5}
    assert arrived == [True]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_launch_that_starves_is_noticed_by_the_device(schedule: str) -> None:
    """Its memory never comes: a generic error and the scheduler's codes, at once; the rest is drained."""
    device = make(schedule, hang_seconds=1e9)
    one, two = device.stream("one"), device.stream("two")
    x = numbers(device)

    def never() -> list[Memory]:
        raise Starved

    device.launch(one, put, Awaited(never), 1, access=ACCESS)
    device.launch(two, put, x, 1, access=ACCESS)
    with pytest.raises(DeviceError) as error:
        device.sync_all()

    assert (error.value.code, error.value.name) == (507018, "AICPU_EXCEPTION")
    assert error.value.detail == {"orch_error_code": 2, "sched_error_code": 0, "runtime_status": -2}
    assert device.state == "drained"
    assert device.progress() == {0: Progress(0, 0, 0), 1: Progress(1, 1, 0), 2: Progress(1, 1, 1)}
    with pytest.raises(DeviceError) as again:
        device.read(x)
    assert again.value.code == 507018


def test_a_deadline_is_wall_time() -> None:
    """With no time at all, a synchronise that has work to do gives up; one that has none succeeds."""
    device = make("fifo", hang_seconds=0.0)
    stream = device.stream("only")
    x = numbers(device)
    device.sync_stream(stream)
    device.launch(stream, step, x, 1, 1, access=ACCESS)
    with pytest.raises(DeviceError) as error:
        device.sync_all()

    assert error.value.detail == {"timed_out_on": {"device": True}}
    assert device.state == "unusable"
    assert device.progress()[1] == Progress(1, 0, 0)
