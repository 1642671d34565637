"""One stream's queue, and what stands in its way."""

from array import array

from tracert.device.device import Progress, Stream
from tracert.device.stream_queue import Mark, Record, Run, StreamQueue, Wait, settle, toward


def queue(id: int) -> StreamQueue:
    """An empty queue."""
    return StreamQueue(Stream(id, f"s{id}", False), memoryview(array("Q", (0, 0, 0))))


def work(launch: int) -> Run:
    """A launch of nothing."""
    return Run(launch, launch, lambda: None, ())


def finish(queue: StreamQueue) -> None:
    """The head has run."""
    queue.entries.popleft()
    queue.completed += 1


def test_records_and_waits_are_consumed_as_soon_as_they_may_pass() -> None:
    """A chain of fences over three queues falls in one settling, whichever queue comes first."""
    one, two, three = queue(1), queue(2), queue(3)
    first, second = Mark(one, False), Mark(two, False)
    three.submit(Wait(second))
    two.submit(Wait(first))
    two.submit(Record(second))
    one.submit(work(1))
    one.submit(Record(first))
    settle([three, two, one])
    assert (first.passed, second.passed, three.idle) == (False, False, False)

    finish(one)
    settle([three, two, one])
    assert (first.passed, second.passed) == (True, True)
    assert (one.idle, two.idle, three.idle) == (True, True, True)


def test_a_launch_runs_only_at_the_head() -> None:
    """Behind a fence that has not passed, or in a stream that hangs, nothing is runnable."""
    one, two = queue(1), queue(2)
    mark = Mark(one, False)
    one.submit(work(1))
    one.submit(Record(mark))
    two.submit(Wait(mark))
    two.submit(work(2))
    head = one.runnable()

    assert head is not None
    assert head.launch == 1
    assert two.runnable() is None
    one.stalled = True
    assert one.runnable() is None


def test_a_gate_counts_entries_of_another_queue() -> None:
    """The head waits until that many are completed."""
    one, two = queue(1), queue(2)
    one.submit(work(1))
    gated = work(2)
    gated.gates = ((one, 1),)
    two.submit(gated)

    assert two.obstacle() is one
    finish(one)
    assert two.obstacle() is None
    assert two.runnable() is gated


def test_toward_follows_what_stands_in_the_way() -> None:
    """From the last of a chain to the one launch that can run; to nothing when that one hangs."""
    one, two, three = queue(1), queue(2), queue(3)
    first, second = Mark(one, False), Mark(two, False)
    one.submit(work(1))
    one.submit(Record(first))
    two.submit(Wait(first))
    two.submit(Record(second))
    three.submit(Wait(second))
    three.submit(work(2))

    assert toward(three) is one
    assert toward(queue(4)) is None
    one.stalled = True
    assert toward(three) is None


def test_progress_reads_the_words() -> None:
    """Launched, started, finished, in that order."""
    one = queue(1)
    one.words[0], one.words[1], one.words[2] = 3, 2, 1

    assert one.progress() == Progress(launched=3, started=2, finished=1)
