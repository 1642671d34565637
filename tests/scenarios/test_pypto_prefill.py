"""pypto-serving's 507018: the shape of the issue's probe, its codes, its controls, and what tracert says."""

from collections.abc import Callable
from itertools import takewhile
from typing import Any

import pytest

from tests.scenarios.conftest import Told, text

NAME = "pypto-prefill-507018"


@pytest.fixture
def told(run_once: Callable[..., Told]) -> Callable[..., Told]:
    """Runs the scenario."""
    return lambda *, planted=True, **more: run_once(NAME, planted=planted, **more)


def _mostly(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs from run to run: time and keyed digests, and the seq."""
    left_out = ("t", "seq", "digest", "identity", "lookup_ns", "record_seq")
    return {name: value for name, value in event.items() if name not in left_out}


def _prefills(found: Told) -> list[tuple[int, int, int]]:
    """(computed before, scheduled, pages) of each request's first step."""
    first: dict[int, tuple[int, int, int]] = {}
    for event in found.events:
        if event["kind"] == "schedule":
            scheduled = event["computed_tokens"], event["scheduled_tokens"], event["pages"]
            first.setdefault(event["request"], scheduled)
    return list(first.values())


@pytest.mark.parametrize("planted", [True, False])
def test_the_shape_is_the_reports(told, planted):
    """Cold and hit take two pages of 128, the hit finds one, the miss takes three new ones and finds none."""
    found = told(planted=planted)
    assert _prefills(found) == [(0, 233, 2), (128, 105, 2), (0, 262, 3)]
    hits = [event["hit_tokens"] for event in found.events if event["kind"] == "match"]
    assert hits == [0, 128, 0]
    granted = [event for event in found.events if event["kind"] == "alloc" and event["holder"] == "request:3"]
    (pages,) = [event["pages"] for event in granted]
    assert [life for _, life in pages] == [1, 1, 1]
    before = {page for event in found.events if event["kind"] == "alloc" and event["seq"] < granted[0]["seq"]
              for page, _ in event.get("pages", [[event.get("page"), 1]])}  # fmt: skip
    assert not {page for page, _ in pages} & before, "pages that nobody had"


def test_the_device_says_what_the_reports_did(told):
    """Its code and sub-codes, drained afterwards; the third request is the one that fails."""
    found = told()
    assert found.outcome["error"] == {
        "code": 507018,
        "name": "AICPU_EXCEPTION",
        "message": "aicpu exception",
        "stream": 1,
        "observed_at": "sync",
        "detail": {"orch_error_code": 2, "sched_error_code": 0, "runtime_status": -2},
    }
    assert list(found.outcome["answers"]) == ["cold", "hit"]
    assert found.lines[0]["device"]["state"] == "drained"


def test_the_wait_is_honest(told):
    """More is free than the launch plans, no piece is long enough, and no block was ever taken for it."""
    found = told()
    plan = [event for event in found.events if event["kind"] == "workspace_plan"][-1]
    blocks = [event for event in found.events if event["kind"] in ("workspace_alloc", "workspace_free")]
    live = sum(event["bytes"] * (1 if event["kind"] == "workspace_alloc" else -1) for event in blocks)
    assert plan["room"] < plan["bytes"] <= plan["capacity"] - live
    assert plan["launch"] not in {event["launch"] for event in blocks}


def test_the_verdict_is_the_launch_that_kept_its_scratch(told):
    """Found two launches before the crash; the launch that waits is its consequence, where it went wrong."""
    found = told()
    prefills = [
        event["launch"] for event in found.events if event.get("phase") == "prefill" and "uses" in event
    ]
    verdict = found.report["verdict"]
    assert (verdict["code"], verdict["confidence"], verdict["launch"]) == ("TR701", "observed", prefills[1])
    assert found.codes == ["TR701", "TR701"]
    assert found.report["findings"][1]["launch"] == prefills[2]
    assert f"launch {prefills[2]} (forward) on compute needs" in verdict["sentence"]
    assert f"by launch {prefills[1]} (forward)" in verdict["sentence"]
    assert found.report["error"]["misleading"] is True


def test_the_pages_are_acquitted_and_the_mask_is_called_one(told):
    """What the issue's headline blamed is innocent: new pages, in order, in range; capping only hides."""
    found = told()
    whys = " ".join(item["why"] for item in found.report["acquitted"])
    for reason in (
        "in their first life",
        "owners are right",
        "page ids are right",
        "what was published in its entries is ordered",
    ):
        assert reason in whys, reason
    story = found.report["workspace"]
    (block,) = story["live"]
    assert (block["request_id"], block["launch"]) == ("hit", found.report["verdict"]["launch"])
    assert story["planned"] > story["room"]
    shown = text(found.dump)
    assert "only masks" in shown
    assert "bytes    0 |" in shown


def test_sound_and_faulty_are_the_same_up_to_the_block_that_is_kept(told):
    """The first difference is a workspace_free that does not happen."""
    sound, faulty = told(planted=False), told()
    pairs = list(zip(map(_mostly, sound.events), map(_mostly, faulty.events), strict=False))
    same = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
    missing = pairs[len(same)][0]
    assert missing["kind"] == "workspace_free"
    assert missing["launch"] == faulty.report["verdict"]["launch"]


def test_the_mask_lets_it_pass_and_is_seen_through(told):
    """Two pages a prefill: all three answers, as in the sound run; the kept block is found all the same."""
    masked, sound = told(variant="mask"), told(planted=False)
    assert (masked.outcome["error"], masked.outcome["failed"]) == (None, {})
    assert masked.outcome["tokens"] == sound.outcome["tokens"]
    assert set(masked.codes) == {"TR701"}
    assert masked.report["verdict"]["confidence"] == "proven"


def test_the_preflight_refuses_before_the_crash(told):
    """One request fails with one line that names the block; the device is well, and the cause is found."""
    found = told(variant="preflight")
    failed = found.outcome["failed"]["miss"]
    assert (failed["status"], failed["code"]) == (503, "workspace_exhausted")
    kept = found.report["verdict"]["launch"]
    assert f"launch {kept}, 5 launches ago, has not given" in failed["message"]
    assert found.outcome["error"] is None
    assert found.codes == ["TR701"]


@pytest.mark.parametrize("control", ["miss", "cold-miss"])
def test_the_controls_pass(told, control):
    """The miss on a fresh engine, and behind a cold request: no hit, so nothing is kept, planted or not."""
    found = told(workload=control)
    assert (found.outcome["error"], found.outcome["failed"], found.codes) == (None, {}, [])
    if control == "cold-miss":
        assert [pages for _, _, pages in _prefills(found)] == [2, 3]


@pytest.mark.weights
def test_the_shape_holds_on_smollm2(told):
    """With its tokenizer and its sizes: same tokens, same pages, same end."""
    found = told(model="smollm2")
    assert _prefills(found) == [(0, 233, 2), (128, 105, 2), (0, 262, 3)]
    assert found.outcome["error"]["code"] == 507018
    assert found.codes == ["TR701", "TR701"]
