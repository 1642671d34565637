"""Each view: a few events, and the rows that follow from them."""

from pathlib import Path
from typing import Any

from tracert_analysis.load import open_dump

from tests.analysis.history import History, use

COMPUTE, TRANSFER = 1, 2


def rows(history: History, folder: Path, query: str) -> list[tuple[Any, ...]]:
    """What the query gives for the history."""
    return history.read(folder).connection.execute(query).fetchall()


def test_launch(tmp_path: Path) -> None:
    """Every submission, with what its progress words and fences say of it."""
    history = History()
    history.publish(TRANSFER, 3, 9, [(5, 1)])
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE, use(3, 9, 0, 1), step=7)
    history.forward(COMPUTE, kernel="sample", phase="sample")
    history.forward(COMPUTE, kernel="late")
    history.progress[COMPUTE] = (2, 1)
    assert [
        (1, "publish", 2, 1, "copy_row", None, None, 3, 9, 1, 3, [0, 0, 0], "finished"),
        (4, "launch", 1, 1, "forward", "decode", 7, 3, 9, None, None, [0, 0, 1], "finished"),
        (5, "launch", 1, 2, "sample", "sample", None, None, None, None, None, [0, 0, 1], "running"),
        (6, "launch", 1, 3, "late", "decode", None, None, None, None, None, [0, 0, 1], "waiting"),
    ] == rows(
        history,
        tmp_path,
        """
        SELECT seq, kind, stream, ordinal, kernel, phase, step, row, generation, epoch, staging, clock, state
        FROM launch ORDER BY seq
        """,
    )


def test_since_when_the_host_knows_that_a_launch_has_finished(tmp_path: Path) -> None:
    """By a fence behind it or a later one, also one that another stream had waited for; null for never."""
    history = History()
    history.publish(TRANSFER, 0, 1, [(5, 1)])
    history.order(TRANSFER, COMPUTE)
    history.forward(COMPUTE)
    history.forward(COMPUTE)
    behind = history.record(COMPUTE)
    history.forward(COMPUTE)
    passed = history.passed(behind)
    history.forward(TRANSFER)
    synced = history.sync(TRANSFER)
    history.sync(TRANSFER)
    assert [(1, passed), (2, passed), (3, passed), (4, None), (5, synced)] == rows(
        history, tmp_path, "SELECT launch, learnt_seq FROM launch ORDER BY launch"
    )


def test_launch_without_progress_words(tmp_path: Path) -> None:
    """Whether it ran is not known."""
    history = History()
    history.forward(COMPUTE)
    history.names = {}
    assert [(None,)] == rows(history, tmp_path, "SELECT state FROM launch")


def test_row_content(tmp_path: Path) -> None:
    """An entry stands until the next publish of it."""
    history = History()
    first = history.publish(COMPUTE, 0, 1, [(5, 1), (6, 1)])
    grown = history.publish(TRANSFER, 0, 1, [(7, 2)], first=2)
    second = history.publish(COMPUTE, 0, 2, [(8, 1)])
    assert [
        (0, 1, 0, 5, 1, first.seq, first.launch, COMPUTE, second.seq),
        (0, 1, 1, 6, 1, first.seq, first.launch, COMPUTE, None),
        (0, 1, 2, 7, 2, grown.seq, grown.launch, TRANSFER, None),
        (0, 2, 0, 8, 1, second.seq, second.launch, COMPUTE, None),
    ] == rows(
        history,
        tmp_path,
        "SELECT * EXCLUDE (content) FROM row_content ORDER BY content",
    )


def test_row_content_of_a_keyframe(tmp_path: Path) -> None:
    """It stands in for publishes that are lost, not for those that the history has."""
    history = History(first_seq=50)
    publish = history.publish(COMPUTE, 0, 1, [(5, 1)])
    history.keyframe(
        [], [{"row": 0, "generation": 1, "request": 1, "epoch": 2, "entries": [[0, 5, 1], [1, 6, 1]]}]
    )
    assert [(0, 5, publish.launch), (1, 6, None)] == rows(
        history, tmp_path, "SELECT index, page, launch FROM row_content ORDER BY index"
    )


def test_page_life(tmp_path: Path) -> None:
    """One row a grant; retirement and release belong to it."""
    history = History()
    pages = history.alloc([5], "request:1")
    granted = history.seq
    fence = history.record(COMPUTE)
    dropped = history.drop(pages, "request:1")
    retired = history.retire(pages, fence)
    freed = history.free(pages)
    history.alloc([5], "request:2")
    assert [
        (5, 1, granted, "request:1", retired, fence.fence, freed, dropped),
        (5, 2, history.seq, "request:2", None, None, None, None),
    ] == rows(
        history,
        tmp_path,
        "SELECT page, life, alloc_seq, owner, retire_seq, fence, free_seq, unheld_seq FROM page_life",
    )


def test_holding(tmp_path: Path) -> None:
    """From the hold to the drop; a holder may hold again."""
    history = History()
    pages = history.alloc([5], "request:1")
    first = history.seq
    cached = history.hold(pages, "prefix:4")
    dropped = history.drop(pages, "request:1")
    again = history.hold(pages, "request:1")
    assert [
        (5, 1, "request:1", "write", first, dropped),
        (5, 1, "prefix:4", "read", cached, None),
        (5, 1, "request:1", "read", again, None),
    ] == rows(history, tmp_path, "FROM holding ORDER BY from_seq")


def test_fence(tmp_path: Path) -> None:
    """Who waits, and since when the host knows; a later fence tells of an earlier one, too."""
    history = History()
    history.forward(COMPUTE)
    early = history.record(COMPUTE)
    waited = history.wait(TRANSFER, early)
    history.forward(COMPUTE)
    late = history.record(COMPUTE)
    passed = history.passed(late)
    history.forward(COMPUTE)
    still_open = history.record(COMPUTE)
    # Recorded once more, and waited for without a word of which record is meant.
    again = history.record(TRANSFER, still_open)
    unsaid = history.event("fence_wait", fence=again.fence, stream=COMPUTE)
    assert [
        (early.fence, COMPUTE, 1, early.seq, waited, TRANSFER, passed),
        (late.fence, COMPUTE, 2, late.seq, None, None, passed),
        (still_open.fence, COMPUTE, 3, still_open.seq, None, None, None),
        (again.fence, TRANSFER, 0, again.seq, unsaid, COMPUTE, again.seq),
    ] == rows(history, tmp_path, "FROM fence ORDER BY record_seq")


def test_request(tmp_path: Path) -> None:
    """Arrival, row, end, and how far each came."""
    history = History()
    for number in (1, 2, 3, 4):
        history.event("arrive", request=number, id=f"cmpl-{number}", prompt_tokens=10 * number, max_tokens=5)
    history.acquire(0, 1, 1)
    history.acquire(1, 1, 2)
    history.release(0, 1, 1)
    history.event("finish", request=1, row=0, reason="stop")
    history.event("fail", request=3, reason="queue full")
    columns = "request, id, row, generation, arrive_seq, prompt_tokens, finish_seq, reason, status"
    assert [
        (1, "cmpl-1", 0, 1, 1, 10, 8, "stop", "finished"),
        (2, "cmpl-2", 1, 1, 2, 20, None, None, "running"),
        (3, "cmpl-3", None, None, 3, 30, 9, "queue full", "failed"),
        (4, "cmpl-4", None, None, 4, 40, None, None, "waiting"),
    ] == rows(history, tmp_path, f"SELECT {columns} FROM request ORDER BY request")


def test_when_a_request_was_scheduled_and_got_tokens(tmp_path: Path) -> None:
    """A prompt in two slices; what was computed again after its pages were lost; a token that was refused."""
    history = History()

    def step(request: int, *, upto: int) -> int:
        history.event("schedule", request=request, row=0, phase="prefill", step=1, scheduled_tokens=1)
        history.event("transaction", op="begin", transaction=1, row=0, request=request, frontier=upto)
        return history.event("transaction", op="commit", transaction=1, row=0, request=request, frontier=upto)

    for number in (1, 2, 3):
        history.event("arrive", request=number, id=f"r{number}", prompt_tokens=10, max_tokens=5)
    step(1, upto=6)
    first = step(1, upto=10)
    last = step(1, upto=11)
    history.event("preempt", request=1, row=0, step=4, reason="no free page")
    step(1, upto=11)
    scheduled = history.seq + 1
    step(2, upto=10)
    history.event("error", code=6, name="INVALID", stream=1, observed_at="commit", detail={"request": 2})
    failed = history.event("fail", request=2, row=0, reason="invalid")
    # Arrived before the history: which of its commits is of its whole prompt, nobody knows.
    step(9, upto=50)
    columns = "request, arrive_t, first_schedule_seq, first_token_seq, last_token_seq, finish_t"
    assert [
        (1, 1000, 4, first, last, None),
        (2, 2000, scheduled, None, None, failed * 1000),
        (3, 3000, None, None, None, None),
        (9, None, history.seq - 2, None, None, None),
    ] == rows(history, tmp_path, f"SELECT {columns} FROM request ORDER BY request")
    assert [(4000, first * 1000, last * 1000)] == rows(
        history,
        tmp_path,
        "SELECT first_schedule_t, first_token_t, last_token_t FROM request WHERE request = 1",
    )


def test_prefix_hit(tmp_path: Path) -> None:
    """From the cache and from the host tier; one that was matched again, and a tail that was not needed."""
    history = History()
    cached = history.alloc([5, 6, 7], "request:1")
    for node, (page, digest) in enumerate(zip(cached, "abc", strict=True), 1):
        history.hold([page], f"prefix:{node}")
        history.event(
            "insert", node=node, digest=digest * 16, parent=node - 1, identity=1, pages=[list(page)]
        )
    history.give_back(cached, "request:1")
    for node in (2, 3):
        history.event("evict", node=node, pages=[list(cached[node - 1])])
    history.moved("offload", TRANSFER, [(0, *cached[1]), (1, *cached[2])])

    def match(hit_tokens: int) -> int:
        pages = [list(page) for page in cached[: -(-hit_tokens // 4)]]
        return history.event(
            "match",
            request=2,
            node=1,
            digest="a" * 16,
            identity=1,
            hit_tokens=hit_tokens,
            pages=pages,
            lookup_ns=1,
        )

    refused = match(4)
    history.hold([cached[0]], "request:2")
    history.drop([cached[0]], "request:2", "read")
    found = match(6)
    history.hold([cached[0]], "request:2")
    granted = history.alloc([8, 9], "request:2")
    loaded = history.moved("load", TRANSFER, [(0, *granted[0]), (1, *granted[1])])
    history.acquire(0, 1, 2)
    columns = 'seq, tier, "index", page, life, tokens, taken, node, digest, slot, source_page, launch'
    assert [
        (refused, "device", 0, 5, 1, 4, False, 1, "a" * 16, None, None, None),
        (found, "device", 0, 5, 1, 4, True, 1, "a" * 16, None, None, None),
        (found, "device", 1, 6, 1, 2, False, 2, "b" * 16, None, None, None),
        (loaded.seq, "host", 1, 8, 1, 4, True, 2, "b" * 16, 0, 6, loaded.launch),
        (loaded.seq, "host", 2, 9, 1, 4, True, 3, "c" * 16, 1, 7, loaded.launch),
    ] == rows(history, tmp_path, f"SELECT {columns} FROM prefix_hit WHERE request = 2 ORDER BY seq, index")


def test_workspace(tmp_path: Path) -> None:
    """A block lives from its grant to its release."""
    history = History()
    history.event("workspace_plan", launch=7, stream=COMPUTE, bytes=300)
    first = history.event("workspace_alloc", launch=7, stream=COMPUTE, offset=0, bytes=100, capacity=1000)
    second = history.event("workspace_alloc", launch=7, stream=COMPUTE, offset=100, bytes=200, capacity=1000)
    freed = history.event("workspace_free", launch=7, stream=COMPUTE, offset=0, bytes=100)
    assert [
        (7, COMPUTE, 0, 100, 1000, None, 300, first, freed),
        (7, COMPUTE, 100, 200, 1000, None, 300, second, None),
    ] == rows(history, tmp_path, "FROM workspace ORDER BY alloc_seq")


def test_finding_is_sorted(tmp_path: Path) -> None:
    """By event, then order before lifetime before mapping before symptom."""
    history = History()
    history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(TRANSFER, 0, 1, [(6, 1)])
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    history.order(TRANSFER, COMPUTE)
    later = history.forward(COMPUTE, use(0, 1, 1, 2))
    history.event("nonfinite", launch=later.launch, request=1, row=0, position=1)
    assert [
        (1, "TR102", "order", launch.seq),
        (2, "TR201", "lifetime", launch.seq),
        (3, "TR402", "mapping", later.seq),
        (4, "TR902", "symptom", history.seq),
    ] == rows(history, tmp_path, "SELECT finding, code, class, seq FROM finding")


def test_progress_words_that_know_less_than_was_recorded_tell_nothing(tmp_path: Path) -> None:
    """Of a launch that they never heard of they do not say that it waits."""
    history = History()
    history.clear(COMPUTE)
    lines = history.lines()
    words = next(line for line in lines if b'"name":"compute"' in line)
    stale = words.replace(b'"launched":1', b'"launched":0').replace(b'"started":1', b'"started":0')
    states = []
    for number, told in enumerate((words, stale.replace(b'"finished":1', b'"finished":0'))):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"".join(told if line is words else line for line in lines))
        states += open_dump(str(path)).connection.execute("SELECT state FROM launch").fetchall()
    assert [("finished",), (None,)] == states
