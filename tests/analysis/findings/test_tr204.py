"""TR204, leaked-page: each fault beside its sound twin."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.analysis.history import History, Page

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


def finished(history: History, kind: str = "finish") -> tuple[list[Page], int]:
    """A request runs for a step and ends."""
    pages = history.alloc([5, 6], "request:1")
    history.forward(COMPUTE, step=1)
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


def test_a_preempted_request_that_runs_again_is_sound(history: History, told: Read) -> None:
    """It gave its pages back, and holds others now."""
    pages, _ = finished(history, "preempt")
    history.give_back(pages, "request:1")
    history.alloc([7], "request:1")
    history.forward(COMPUTE, step=2)
    assert [] == told(history)
