"""TR102, unordered-publish: each fault beside its sound twin."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.load import open_dump

from tests.analysis.history import History, Launched, use

Read = Callable[[History], list[dict[str, Any]]]
LEGACY, COMPUTE, TRANSFER = 0, 1, 2
OUTSIDE = 0x7FFFFFFF


def activation(history: History, stream: int) -> tuple[Launched, Launched]:
    """A former tenant's row is published again on `stream`; compute waits for transfer, and follows it."""
    former = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(TRANSFER, 0, 1, former)
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, use(0, 1, 0, 6))
    history.passed(history.record(COMPUTE))
    history.release(0, 1, 1)
    history.give_back(former, "request:1")
    pages = history.alloc([7, 8], "request:2")
    history.acquire(0, 2, 2)
    publish = history.publish(stream, 0, 2, pages)
    history.order(TRANSFER, COMPUTE)
    return publish, history.forward(COMPUTE, use(0, 2, 0, 6))


def test_a_publish_on_the_legacy_stream(history: History, told: Read) -> None:
    """As in ninfer #210: the fence stands on transfer, the publish was launched on stream 0."""
    publish, launch = activation(history, LEGACY)
    (finding,) = told(history)
    expected = {
        "finding": 1,
        "code": "TR102",
        "name": "unordered-publish",
        "seq": launch.seq,
        "class": "order",
        "confidence": "proven",
        "sentence": (
            f"launch {launch.launch} (forward) on compute follows row 0, and nothing orders it after "
            f"launch {publish.launch} (copy_row) on legacy, which published the row"
        ),
        "resource_kind": "row",
        "resource_id": 0,
        "life": None,
        "row": 0,
        "generation": 2,
        "request": 2,
        "launch": launch.launch,
        "stream": COMPUTE,
        "other_launch": publish.launch,
        "other_stream": LEGACY,
        "other_seq": publish.seq,
    }
    assert expected == finding


def test_a_publish_on_the_fenced_stream_is_sound(history: History, told: Read) -> None:
    """The same history with the stream passed on."""
    activation(history, TRANSFER)
    assert [] == told(history)


def test_a_publish_on_the_stream_that_follows_is_sound(history: History, told: Read) -> None:
    """One stream needs no fence."""
    activation(history, COMPUTE)
    assert [] == told(history)


def test_legacy_is_sound_where_compute_blocks(history: History, told: Read) -> None:
    """The legacy stream orders itself with blocking streams."""
    activation(history, LEGACY)
    history.blocking |= {COMPUTE}
    assert [] == told(history)


@pytest.mark.parametrize("sync", [LEGACY, None])
def test_a_publish_that_the_host_waited_for_is_sound(history: History, told: Read, sync: int | None) -> None:
    """The launch comes after all that the host knows to be done."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(LEGACY, 0, 1, pages)
    history.sync(sync)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    assert [] == told(history)


def test_a_fence_recorded_too_early(history: History, told: Read) -> None:
    """The wait is there, and covers everything but the publish."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    fence = history.record(TRANSFER)
    publish = history.publish(TRANSFER, 0, 1, pages)
    history.wait(COMPUTE, fence)
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    assert [("TR102", launch.seq, publish.launch)] == [
        (found["code"], found["seq"], found["other_launch"]) for found in told(history)
    ]


def test_a_wait_behind_the_launch(history: History, told: Read) -> None:
    """What comes after the first launch is ordered, and the first isn't: one finding, at the first."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(TRANSFER, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, use(0, 1, 1, 2))
    assert [("TR102", launch.seq)] == [(found["code"], found["seq"]) for found in told(history)]


def test_a_row_overwritten_under_a_launch(history: History, told: Read) -> None:
    """The row is poisoned on transfer while compute may still follow it."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    history.release(0, 1, 1)
    poison = history.publish(TRANSFER, 0, 1, [(OUTSIDE, 0)])
    (finding,) = told(history)
    assert ("TR102", poison.seq, poison.launch, launch.launch) == (
        finding["code"],
        finding["seq"],
        finding["launch"],
        finding["other_launch"],
    )
    assert finding["sentence"] == (
        f"launch {poison.launch} (copy_row) on transfer publishes row 0 again, and nothing orders it after "
        f"launch {launch.launch} (forward) on compute, which follows the row"
    )


@pytest.mark.parametrize("how", ["host", "fence"])
def test_a_row_overwritten_behind_a_launch_is_sound(history: History, told: Read, how: str) -> None:
    """The host saw the launch end, or transfer waits for it."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 1))
    if how == "host":
        history.passed(history.record(COMPUTE))
    else:
        history.order(COMPUTE, TRANSFER)
    history.release(0, 1, 1)
    history.publish(TRANSFER, 0, 1, [(OUTSIDE, 0)])
    assert [] == told(history)


def test_two_publishes_without_order_among_themselves(history: History, told: Read) -> None:
    """Compute waits for both streams, and finds whichever came last."""
    history.alloc([5], "request:9")
    pages = history.alloc([6], "request:1")
    poison = history.publish(TRANSFER, 0, 1, [(OUTSIDE, 0)])
    history.acquire(0, 2, 1)
    publish = history.publish(LEGACY, 0, 2, pages)
    history.order(TRANSFER, COMPUTE)
    history.order(LEGACY, COMPUTE)
    launch = history.forward(COMPUTE, use(0, 2, 0, 1))
    (finding,) = told(history)
    assert ("TR102", launch.seq, publish.launch, poison.launch) == (
        finding["code"],
        finding["seq"],
        finding["launch"],
        finding["other_launch"],
    )
    assert "publishes row 0 again, and nothing orders it after" in finding["sentence"]


def test_two_publishes_that_nobody_follows_are_nothing(history: History, told: Read) -> None:
    """Which came last matters only to a launch."""
    history.publish(TRANSFER, 0, 1, [(OUTSIDE, 0)])
    history.publish(LEGACY, 0, 2, [(OUTSIDE, 0)])
    assert [] == told(history)


def test_growing_a_row_under_a_launch_is_sound(history: History, told: Read) -> None:
    """Entry 1 is published while a launch follows entry 0 only."""
    first, second = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, [first])
    history.forward(COMPUTE, use(0, 1, 0, 4))
    history.publish(TRANSFER, 0, 1, [second], first=1)
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, use(0, 1, 4, 5))
    assert [] == told(history)


def test_an_entry_that_grew_without_order(history: History, told: Read) -> None:
    """The row's first entries are in order, the new one isn't."""
    first, second = history.alloc([5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, [first])
    history.forward(COMPUTE, use(0, 1, 0, 4))
    grown = history.publish(TRANSFER, 0, 1, [second], first=1)
    launch = history.forward(COMPUTE, use(0, 1, 4, 5))
    assert [(launch.seq, grown.launch)] == [(found["seq"], found["other_launch"]) for found in told(history)]


def test_each_tenancy_has_its_own_finding(history: History, told: Read) -> None:
    """The first event of each, in order; the first of all is the root cause."""
    seqs = []
    for generation in (1, 2, 3):
        pages = history.alloc([4 + generation], f"request:{generation}")
        history.acquire(0, generation, generation)
        history.publish(LEGACY, 0, generation, pages)
        seqs.append(history.forward(COMPUTE, use(0, generation, 0, 1)).seq)
        history.forward(COMPUTE, use(0, generation, 1, 2))
        history.passed(history.record(COMPUTE))
        history.sync(LEGACY)
        history.release(0, generation, generation)
        history.give_back(pages, f"request:{generation}")
        history.event("finish", request=generation, row=0, reason="stop")
    assert [(1, seqs[0], 1), (2, seqs[1], 2), (3, seqs[2], 3)] == [
        (found["finding"], found["seq"], found["generation"]) for found in told(history)
    ]


def test_observed_where_the_device_failed_in_it(history: History, told: Read) -> None:
    """The stream stopped in the launch that broke the order."""
    activation(history, LEGACY)
    history.progress[COMPUTE] = (3, 2)
    history.error(COMPUTE)
    assert ["observed"] == [found["confidence"] for found in told(history)]


def test_observed_where_the_publish_came_too_late(history: History, told: Read) -> None:
    """The launch had started, the publish had not finished: progress words tell of it."""
    activation(history, LEGACY)
    history.progress[LEGACY] = (0, 0)
    assert ["observed"] == [found["confidence"] for found in told(history)]


def test_observed_where_its_numbers_were_not_finite(history: History, told: Read) -> None:
    """The symptom comes later, and is no cause."""
    _, launch = activation(history, LEGACY)
    history.event("nonfinite", launch=launch.launch, request=2, row=0, position=5, page=8, life=1)
    assert [("TR102", "observed"), ("TR902", "observed")] == [
        (found["code"], found["confidence"]) for found in told(history)
    ]


def test_proven_where_luck_held(history: History, told: Read) -> None:
    """The device failed elsewhere: this launch had finished."""
    activation(history, LEGACY)
    history.forward(COMPUTE, kernel="sample")
    history.progress[COMPUTE] = (4, 3)
    history.error(COMPUTE)
    assert ["proven"] == [found["confidence"] for found in told(history)]


def test_suspected_where_a_line_is_missing(history: History, tmp_path: Path) -> None:
    """It could have been the fence."""
    activation(history, LEGACY)
    lines = history.lines()
    lines.insert(-1, b'{"seq":999\n')
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"".join(lines))
    found = open_dump(str(path)).connection.execute("SELECT code, confidence FROM finding").fetchall()
    assert [("TR102", "suspected")] == found


def test_torn_records_behind_the_history_change_nothing(history: History, told: Read) -> None:
    """A kill tears the last record; one in the middle could have been the fence."""
    activation(history, LEGACY)
    history.header["ring"] |= {"torn": 1, "torn_seqs": [history.seq + 1]}
    assert ["proven"] == [found["confidence"] for found in told(history)]
    history.header["ring"] |= {"torn": 1, "torn_seqs": [history.seq - 1]}
    assert ["suspected"] == [found["confidence"] for found in told(history)]


def test_suspected_where_streams_are_not_told(history: History, told: Read) -> None:
    """Without its state a stream may be a blocking one."""
    activation(history, LEGACY)
    del history.names[COMPUTE]
    assert ["suspected"] == [found["confidence"] for found in told(history)]


def test_the_reader_is_never_told(history: History, tmp_path: Path) -> None:
    """With and without the fault's name in the header: the same tables, the same findings."""
    activation(history, LEGACY)
    found = []
    for fault in ("ninfer-unordered-publish", None):
        history.header["fault"] = fault
        connection = history.read(tmp_path).connection
        found.append(
            [connection.execute(query).fetchall() for query in ("FROM finding", "FROM missing_edge(1)")]
        )
    assert found[0] == found[1]


def test_the_call_follows_the_streams(history: History, tmp_path: Path) -> None:
    """Rename the streams, and the call follows."""
    publish, launch = activation(history, LEGACY)
    query = 'SELECT from_launch, to_launch, "call", alternative FROM missing_edge(1)'
    assert [
        (
            publish.launch,
            launch.launch,
            "fence = device.record(legacy); device.wait(compute, fence)",
            "device.launch(compute, copy_row, ...)",
        )
    ] == history.read(tmp_path).connection.execute(query).fetchall()
    history.names = {LEGACY: "default", COMPUTE: "main queue", TRANSFER: "dma"}
    assert [("fence = device.record(default); device.wait(main_queue, fence)",)] == (
        history.read(tmp_path).connection.execute('SELECT "call" FROM missing_edge(1)').fetchall()
    )


def test_a_publish_that_is_lost_is_unknown(told: Read) -> None:
    """A keyframe knows the row, but not who published it."""
    history = History(first_seq=50)
    history.keyframe(
        [{"page": 5, "life": 1, "state": "held", "holders": ["request:1/write"]}],
        [{"row": 0, "generation": 1, "request": 1, "epoch": 1, "entries": [[0, 5, 1]]}],
    )
    history.forward(COMPUTE, use(0, 1, 0, 1))
    assert [] == told(history)
