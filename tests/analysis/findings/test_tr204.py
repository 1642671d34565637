"""TR204, leaked-page: each fault beside its sound twin."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.load import open_dump

from tests.analysis.history import History, Page, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


def finished(history: History, kind: str = "finish") -> tuple[list[Page], int]:
    """A request runs for a step and ends."""
    pages = history.alloc([5, 6], "request:1")
    history.forward(COMPUTE, writes=[[*pages[0], 0, 4]], step=1)
    history.sync(COMPUTE)
    return pages, history.event(kind, request=1, row=0, reason="stop")


@pytest.mark.parametrize(
    ("kind", "word"), [("finish", "finished"), ("preempt", "was preempted"), ("fail", "failed")]
)
def test_a_request_that_keeps_its_pages(history: History, told: Read, kind: str, word: str) -> None:
    """The next step begins, and it still holds them."""
    _, ended = finished(history, kind)
    next_step = history.forward(COMPUTE, step=2).seq
    (finding,) = told(history)
    assert {
        "code": "TR204",
        "name": "leaked-page",
        "seq": ended,
        "class": "lifetime",
        "confidence": "proven",
        "sentence": (
            f"request 1 {word} at event {ended} and still holds page 5.1 and 1 more at event {next_step}"
        ),
        "resource_kind": "page",
        "resource_id": 5,
        "life": 1,
        "request": 1,
    }.items() <= finding.items()


def test_the_rest_of_the_step_is_its_own(history: History, told: Read) -> None:
    """Pages may go back behind the event that tells of the end."""
    pages, _ = finished(history)
    history.give_back(pages, "request:1")
    history.forward(COMPUTE, step=2)
    assert [] == told(history)


def test_pages_given_back_too_late(history: History, told: Read) -> None:
    """A step later is a step too late."""
    pages, ended = finished(history)
    history.forward(COMPUTE, step=2)
    history.give_back(pages, "request:1")
    assert [("TR204", ended)] == [(found["code"], found["seq"]) for found in told(history)]


def test_what_the_cache_keeps_is_no_leak(history: History, told: Read) -> None:
    """The prefix holds the page, the request doesn't."""
    pages, _ = finished(history)
    history.hold(pages, "prefix:1")
    history.drop(pages, "request:1")
    history.forward(COMPUTE, step=2)
    assert [] == told(history)


def test_a_crash_leaves_requests_with_their_pages(history: History, told: Read) -> None:
    """Nothing can be given back once the device failed: that is no leak."""
    finished(history, "fail")
    history.error(COMPUTE)
    assert [] == told(history)


def test_a_history_that_ends_in_the_step_proves_nothing(history: History, told: Read) -> None:
    """Killed between the event and the drop."""
    finished(history)
    history.header["reason"] = "killed"
    assert [] == told(history)


def test_an_engine_that_went_down_in_good_order_gave_all_back(history: History, told: Read) -> None:
    """At a clean exit no further step is needed to tell."""
    _, ended = finished(history)
    history.header["reason"] = "exit"
    assert [("TR204", ended)] == [(found["code"], found["seq"]) for found in told(history)]


def test_a_file_that_is_cut_short_proves_nothing(history: History, tmp_path: Path) -> None:
    """The engine went down in good order; of the last events, which are missing, one gives the pages back."""
    pages, _ = finished(history)
    history.give_back(pages, "request:1")
    history.header["reason"] = "exit"
    path = tmp_path / "cut.jsonl"
    path.write_bytes(b"".join(history.lines()[:-2]))
    assert [] == open_dump(str(path)).connection.execute("SELECT code FROM finding").fetchall()


def test_a_preempted_request_that_runs_again_is_sound(history: History, told: Read) -> None:
    """It gave its pages back, and holds others now."""
    pages, _ = finished(history, "preempt")
    history.give_back(pages, "request:1")
    history.alloc([7], "request:1")
    history.forward(COMPUTE, step=2)
    assert [] == told(history)


def copied(history: History) -> list[Page]:
    """A staged copy of page 5 to page 6 for request 2; both are pinned until it is known to be done."""
    source = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[*source[0], 0, 2]], step=1)
    target = history.alloc([6], "request:2")
    extents = {"source": [[*source[0], 0, 2]], "target": [[*target[0], 0, 2]]}
    history.event("copy_plan", transaction=7, **extents)
    history.hold([*source, *target], "transfer:7")
    history.copy(COMPUTE, extents["source"], extents["target"])
    history.sync(COMPUTE)
    history.event("copy_done", transaction=7)
    return [*source, *target]


def released(history: History) -> list[Page]:
    """State rows of snapshot 1 on page 5, given up."""
    pages = history.alloc([5], "snapshot:1")
    lent = {"snapshot": 1, "ranges": [[5, 0, 100]], "pages": [list(page) for page in pages]}
    history.event("snapshot_alias", **lent)
    history.forward(COMPUTE, writes=[[*pages[0], 0, 2]], step=1, **{"class": "rows"})
    history.sync(COMPUTE)
    history.event("snapshot_release", **lent)
    return pages


def evicted(history: History) -> list[Page]:
    """Page 5 of prefix 3, evicted; page 6 stays cached."""
    pages = history.alloc([5, 6], "prefix:3")
    named = [list(page) for page in pages]
    history.event("insert", node=3, digest="aa", parent=0, pages=named, identity=1)
    history.forward(COMPUTE, writes=[[*pages[0], 0, 4]], step=1)
    history.sync(COMPUTE)
    history.event("evict", node=3, digest="aa", pages=named[:1])
    return pages[:1]


HOLDERS = {
    "transfer:7": (copied, "transfer 7 was done", "page 5.1 and 1 more"),
    "snapshot:1": (released, "snapshot 1 was released", "page 5.1"),
    "prefix:3": (evicted, "prefix 3 was evicted", "page 5.1"),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_holder_that_is_no_request(history: History, told: Read, holder: str) -> None:
    """It was done with pages at an event, and holds them a step later; in that step it may let go."""
    begin, what, named = HOLDERS[holder]
    sound = deepcopy(history)
    begin(history)
    ended = history.seq
    history.forward(COMPUTE, step=2)
    later = history.forward(COMPUTE, step=3).seq
    (finding,) = told(history)
    assert ("TR204", ended, None) == (finding["code"], finding["seq"], finding["request"])
    assert f"{what} at event {ended} and still holds {named} at event {later}" == finding["sentence"]
    pages = begin(sound)
    sound.forward(COMPUTE, step=2)
    sound.drop(pages, holder)
    sound.forward(COMPUTE, step=3)
    assert [] == told(sound)


def test_a_page_that_is_cached_again_is_no_leak(history: History, told: Read) -> None:
    """The node gave it up, and took it again before the step was over: the hold is right."""
    pages = evicted(history)
    again = {"digest": "ab", "parent": 0, "pages": [list(page) for page in pages], "identity": 1}
    history.event("insert", node=3, **again)
    history.forward(COMPUTE, step=2)
    history.forward(COMPUTE, step=3)
    assert [] == told(history)


@pytest.mark.parametrize("late", [False, True])
def test_a_page_is_kept_while_it_is_copied_elsewhere(history: History, told: Read, late: bool) -> None:
    """Until the host knows that the copy is done, and in the step that begins then."""
    pages = evicted(history)
    ended = history.seq
    history.moved("offload", COMPUTE, [(0, *pages[0])])
    history.forward(COMPUTE, step=2)
    history.forward(COMPUTE, step=3)
    history.sync(COMPUTE)
    history.forward(COMPUTE, step=4)
    if late:
        history.forward(COMPUTE, step=5)
    history.drop(pages, "prefix:3", "read")
    history.forward(COMPUTE, step=6)
    wrong = [(found["code"], found["seq"]) for found in told(history)]
    assert ([("TR204", ended)] if late else []) == wrong


@pytest.mark.parametrize("late", [False, True])
def test_the_step_is_that_which_the_event_names(history: History, told: Read, late: bool) -> None:
    """Preempted before anything else of step 2: it may keep its pages while others are scheduled there."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, step=1)
    ended = history.event("preempt", request=1, row=0, step=2, reason="no free page")
    history.event(
        "schedule", request=2, row=1, phase="prefill", step=2, scheduled_tokens=1, computed_tokens=0
    )
    history.forward(COMPUTE, step=2)
    if late:
        history.forward(COMPUTE, step=3)
    history.give_back(pages, "request:1")
    history.forward(COMPUTE, step=3)
    wrong = [(found["code"], found["seq"]) for found in told(history)]
    assert ([("TR204", ended)] if late else []) == wrong


@pytest.mark.parametrize("late", [False, True])
def test_a_page_is_kept_while_a_launch_that_uses_it_is_in_flight(
    history: History, told: Read, late: bool
) -> None:
    """A step goes on with a request that has ended: its pages go back when that step is known to be done."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    history.forward(COMPUTE, use(0, 1, 0, 3), step=1)
    behind = history.record(COMPUTE)
    history.forward(COMPUTE, use(0, 1, 3, 4), step=2)
    in_flight = history.record(COMPUTE)
    history.passed(behind)
    ended = history.event("finish", request=1, row=0, reason="stop")
    history.release(0, 1, 1)
    history.forward(COMPUTE, step=3)
    history.passed(in_flight)
    history.forward(COMPUTE, step=4)
    if late:
        history.forward(COMPUTE, step=5)
    history.give_back(pages, "request:1")
    history.forward(COMPUTE, step=6)
    wrong = [(found["code"], found["seq"]) for found in told(history)]
    assert ([("TR204", ended)] if late else []) == wrong


@pytest.mark.parametrize(
    ("done", "steps", "confidence"), [(1, 3, "proven"), (1, 2, None), (0, 2, None), (0, 6, "suspected")]
)
def test_a_page_is_kept_while_a_writer_without_a_stream_reads_it(
    history: History, told: Read, done: int, steps: int, confidence: str | None
) -> None:
    """Another node fetches it: nobody knows when that is done but by its completion, which may never come."""
    pages = history.alloc([5], "request:1")
    history.forward(COMPUTE, writes=[[*pages[0], 0, 4]], step=1)
    history.sync()
    fetch = history.begin("nic", reads=[[*pages[0], 0, 4]])
    ended = history.event("finish", request=1, row=0, reason="stop")
    history.forward(COMPUTE, step=2)
    if done:
        history.end("nic", fetch)
    for step in range(3, 2 + steps):
        history.forward(COMPUTE, step=step)
    found = told(history)
    wrong = [(one["code"], one["seq"], one["confidence"]) for one in found]
    assert wrong == ([("TR204", ended, confidence)] if confidence else [])
    assert ("no completion is known" in found[0]["sentence"] if found else False) == (
        confidence == "suspected"
    )


@pytest.mark.parametrize(("begun", "kept", "leaked"), [(1, 1, False), (1, 2, True), (2, 9, True)])
def test_a_page_may_be_moved_elsewhere_from_the_step_that_follows_on(
    history: History, told: Read, begun: int, kept: int, leaked: bool
) -> None:
    """Given to the network a step later, it may be kept for one step behind that, and no longer."""
    pages, ended = finished(history)
    history.give_back(pages[1:], "request:1")
    history.forward(COMPUTE, step=2)
    if begun > 1:
        history.forward(COMPUTE, step=3)
    fetch = history.begin("nic", reads=[[*pages[0], 0, 4]])
    history.forward(COMPUTE, step=4)
    history.forward(COMPUTE, step=5)
    history.end("nic", fetch)
    for step in range(min(kept, 2)):
        history.forward(COMPUTE, step=6 + step)
    if kept < 9:
        history.give_back(pages[:1], "request:1")
    history.forward(COMPUTE, step=9)
    wrong = [(found["code"], found["seq"]) for found in told(history)]
    assert ([("TR204", ended)] if leaked else []) == wrong
