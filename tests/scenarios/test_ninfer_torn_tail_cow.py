"""ninfer #210's second suspect: a prefix of no whole number of pages, and its tail copied over two steps."""

import pytest

from tests.some import grid
from tracert.scenarios.catalog import find_scenario

NAME = "ninfer-torn-tail-cow"
VARIANTS = ["hash", "radix"]
TORN = "random:1"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_shape_is_the_report_s(run_once, variant):
    """41 positions of a page of 64 are copied, and the request waits for the step after the copy."""
    sound = run_once(NAME, variant=variant, planted=False, schedule=TORN)
    assert sound.outcome["cached_tokens"]["agent-2"] % 64 == 114_281 % 64 == 41
    (plan,) = [event for event in sound.events if event["kind"] == "copy_plan"]
    (done,) = [event for event in sound.events if event["kind"] == "copy_done"]
    assert plan["source"][0][2:] == plan["target"][0][2:] == [0, 41]
    agent = next(event["request"] for event in sound.events if event.get("id") == "agent-2")
    scheduled = [
        event["seq"] for event in sound.events if event["kind"] == "schedule" and event["request"] == agent
    ]
    assert plan["seq"] < done["seq"] < scheduled[0]


@pytest.mark.parametrize(
    ("schedule", "variant"),
    grid(
        lambda *names: names in (("eager", "hash"), ("fifo", "radix")),
        {"eager": "eager", "fifo": "fifo"},
        {variant: variant for variant in VARIANTS},
    ),
)
def test_it_is_proven_when_luck_held(run_once, variant, schedule):
    """The copy ran in time and every answer is right: the history says that nothing made it so."""
    told = run_once(NAME, variant=variant, planted=True, schedule=schedule)
    sound = run_once(NAME, variant=variant, planted=False, schedule=schedule)
    assert told.outcome["tokens"] == sound.outcome["tokens"]
    verdict = told.report["verdict"]
    assert (verdict["code"], verdict["confidence"]) == ("TR303", "proven")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_agent_goes_on_from_the_other_lane_s_tokens(run_once, variant):
    """Nothing fails: the answer is another one, and the page is named with the lane that took it."""
    told = run_once(NAME, variant=variant, planted=True, schedule=TORN)
    sound = run_once(NAME, variant=variant, planted=False, schedule=TORN)
    wrong = [
        name for name, tokens in sound.outcome["tokens"].items() if told.outcome["tokens"][name] != tokens
    ]
    assert wrong == ["agent-2"]
    (plan,) = [event for event in told.events if event["kind"] == "copy_plan"]
    verdict = told.report["verdict"]
    page, life, _, _ = plan["source"][0]
    assert (verdict["resource"]["id"], verdict["resource"]["life"]) == (page, life)
    side = next(event["request"] for event in told.events if event.get("id") == "side-1")
    assert f"granted again as page {page}.{life + 1} to request:{side}" in verdict["sentence"]


@pytest.mark.parametrize("control", ["whole-pages", "one-lane"])
def test_a_control_finds_nothing(run_once, control):
    """Without a tail, or without someone who takes the page, the fault breaks no rule."""
    assert control in find_scenario(NAME).scenario.controls
    told = run_once(NAME, planted=True, schedule=TORN, workload=control)
    assert told.codes == []
