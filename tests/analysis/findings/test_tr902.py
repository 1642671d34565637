"""TR902, non-finite: a symptom that never outranks a cause."""

from collections.abc import Callable
from typing import Any

from tests.analysis.history import History, use

Read = Callable[[History], list[dict[str, Any]]]
COMPUTE = 1


def test_a_value_that_is_not_finite(history: History, told: Read) -> None:
    """The host saw it; the history alone doesn't say why."""
    pages = history.alloc([5], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 0, 3))
    seen = history.event(
        "nonfinite", launch=launch.launch, request=1, row=0, position=2, layer=-1, page=5, life=1
    )
    history.event("nonfinite", launch=launch.launch, request=1, row=0, position=3, layer=4, page=5, life=1)
    (finding,) = told(history)
    assert {
        "code": "TR902",
        "name": "non-finite",
        "seq": seen,
        "class": "symptom",
        "confidence": "observed",
        "sentence": (
            f"launch {launch.launch} (forward) on compute gave a value that is not finite for request 1 "
            "at position 2"
        ),
        "resource_kind": "row",
        "resource_id": 0,
        "row": 0,
        "generation": 1,
        "request": 1,
        "launch": launch.launch,
        "stream": COMPUTE,
        "other_seq": launch.seq,
    }.items() <= finding.items()


def test_the_layer_is_told_where_it_is_known(history: History, told: Read) -> None:
    """A guarded kernel saw in which layer it began."""
    history.event("nonfinite", launch=99, request=1, row=0, position=2, layer=4, page=5, life=1)
    (finding,) = told(history)
    assert (
        "a launch gave a value that is not finite for request 1 at position 2 in layer 4"
        == finding["sentence"]
    )


def test_a_cause_at_the_same_launch_comes_first(history: History, told: Read) -> None:
    """Use after free, and what came of it."""
    launch = history.forward(COMPUTE, reads=[[5, 1, 0, 4]])
    history.event("nonfinite", launch=launch.launch, request=1, row=0, position=2, page=5, life=1)
    assert [("TR201", "observed"), ("TR902", "observed")] == [
        (found["code"], found["confidence"]) for found in told(history)
    ]
