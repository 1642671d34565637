"""The six workloads that ran clean for ninfer #210's reporter: right answers, and yet a proof."""

from collections.abc import Callable
from typing import Any

import pytest
from tracert_analysis.load import open_dump

from tests.scenarios.conftest import Told
from tests.some import a_few
from tracert.scenarios.ninfer_reproducers import NINFER_REPRODUCERS

Ran = Callable[..., Told]
WORKLOADS = sorted(NINFER_REPRODUCERS, key=lambda name: name not in ("saturated-cache", "two-lanes"))
"""First those of the fast suite: a cache that evicts, and two lanes."""


def _run(run_once: Ran, workload: str, *, planted: bool, schedule: str = "eager") -> Told:
    return run_once(
        "ninfer-unordered-publish", variant="silent", workload=workload, planted=planted, schedule=schedule
    )


def _activations(told: Told) -> list[dict[str, Any]]:
    """Publishes of rows of sequences that start: the first of each row's generation."""
    firsts: dict[tuple[int, int], dict[str, Any]] = {}
    for event in told.events:
        if event["kind"] == "publish" and event["entries"]:
            firsts.setdefault((event["row"], event["generation"]), event)
    return list(firsts.values())


@pytest.mark.parametrize("workload", a_few(2, WORKLOADS))
@pytest.mark.parametrize("schedule", a_few(1, ["random:5", "eager"]))
def test_sound_it_is_clean(run_once: Ran, workload: str, schedule: str) -> None:
    """Every request is answered, the same in any order of the device, and no rule is broken."""
    told = _run(run_once, workload, planted=False, schedule=schedule)
    assert told.outcome["requests"] == len(told.outcome["answers"])
    assert [] == told.codes
    assert "none" == told.report["verdict"]["confidence"]
    assert _run(run_once, workload, planted=False).outcome["tokens"] == told.outcome["tokens"]


@pytest.mark.parametrize("workload", a_few(1, WORKLOADS))
def test_planted_its_outputs_are_right_and_every_activation_is_proven_wrong(
    run_once: Ran, workload: str
) -> None:
    """Luck holds, as it did for the reporter; the history tells on each row that was activated."""
    told = _run(run_once, workload, planted=True)
    assert _run(run_once, workload, planted=False).outcome["tokens"] == told.outcome["tokens"]
    assert told.outcome["error"] is None
    assert {"TR102"} == set(told.codes)
    assert "proven" == told.report["verdict"]["confidence"]
    found = open_dump(str(told.dump)).connection.execute("SELECT DISTINCT other_launch FROM finding")
    guilty = {launch for (launch,) in found.fetchall()}
    activations = _activations(told)
    assert {0} == {event["stream"] for event in activations}
    assert {event["launch"] for event in activations} == guilty


def test_the_prefix_cache_is_saturated(run_once: Ran) -> None:
    """Pages are evicted, and the prompt that is asked again and again is still found at times."""
    told = _run(run_once, "saturated-cache", planted=False)
    assert any(event["kind"] == "evict" for event in told.events)
    assert any(told.outcome["cached_tokens"].values())


def test_turns_find_the_turns_before_them(run_once: Ran) -> None:
    """60 turns that only grow: from some turn on each finds more than the one before it."""
    told = _run(run_once, "sixty-turns", planted=False)
    cached = list(told.outcome["cached_tokens"].values())
    assert 60 == len(cached)
    assert sorted(cached) == cached
    assert cached[-1] > 1000


@pytest.mark.parametrize("workload", ["tools-and-thinking", "rotating-systems"])
def test_an_agent_finds_what_it_was_told(run_once: Ran, workload: str) -> None:
    """Its history is rendered as before, calls and thoughts too, so that a turn's prefix is found cached."""
    told = _run(run_once, workload, planted=False)
    agent = "thinker" if workload == "tools-and-thinking" else "steady"
    cached = [told.outcome["cached_tokens"][f"{agent}-{turn}"] for turn in range(1, 10)]
    assert sorted(cached) == cached
    assert cached[1] < cached[-1]


def test_two_lanes_share_steps(run_once: Ran) -> None:
    """Some forward uses two rows."""
    told = _run(run_once, "two-lanes", planted=False)
    assert 2 == max(len(event.get("uses", ())) for event in told.events if event["kind"] == "launch")


def test_no_turn_begins_at_a_page_s_edge(run_once: Ran) -> None:
    """Prompts end inside a page, tails are copied in two steps, the host tier is full, a lane runs beside."""
    told = _run(run_once, "unaligned-tail", planted=False)
    kinds = {event["kind"] for event in told.events}
    assert {"copy_plan", "copy_done", "evict"} <= kinds
    offloads = [event["entries"] for event in told.events if event["kind"] == "offload"]
    assert 8 == len({slot for entries in offloads for slot, _, _ in entries}), "slots in 64 KiB"
    assert 8 < sum(map(len, offloads))
    arrived = {event["id"]: event["prompt_tokens"] for event in told.events if event["kind"] == "arrive"}
    grown = [tokens for name, tokens in arrived.items() if name.startswith("grown")]
    assert 409 == grown[0]
    assert any(tokens % 16 for tokens in grown)
    assert 10 == sum(name.startswith("side") for name in arrived)
