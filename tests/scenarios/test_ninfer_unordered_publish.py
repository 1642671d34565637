"""ninfer #210: forensics, not theatre. Every verdict here is read from a dump that was not told the fault."""

import json
from itertools import takewhile
from typing import Any

import pytest
from tracert_analysis.load import open_dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tests.some import a_few

CRASH, LUCK, SILENT = "random:1", "random:13", "random:1"


def _mostly(event: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs from run to run of the same program: time and keyed digests."""
    return {
        name: value for name, value in event.items() if name not in ("t", "digest", "identity", "lookup_ns")
    }


def test_the_crash_is_explained(ran):
    """The device names nothing; the report names row, launches, streams and the call that is missing."""
    told = ran(planted=True, schedule=CRASH)
    assert told.outcome["error"]["code"] == 719
    assert told.outcome["error"]["stream"] == 1
    verdict = told.report["verdict"]
    assert (verdict["code"], verdict["resource"]["kind"]) == ("TR102", "row")
    publish, forward = _launches_of(told, verdict)
    assert (publish["kind"], publish["stream"], forward["kernel"], forward["stream"]) == (
        "publish",
        0,
        "forward",
        1,
    )
    assert publish["row"] == verdict["resource"]["id"]
    assert "device.record(legacy)" in verdict["missing_edge"]["call"]
    assert "device.wait(compute" in verdict["missing_edge"]["call"]


def test_the_launch_that_died_is_one_of_the_findings(ran):
    """The publish that the last forward needed had not run: the progress words say so."""
    told = ran(planted=True, schedule=CRASH)
    streams = {line["stream"]: line for line in told.lines if line["kind"] == "stream_state"}
    assert streams[0]["finished"] < streams[0]["launched"]
    assert streams[1]["finished"] < streams[1]["started"]
    died = next(
        event["launch"]
        for event in told.events
        if event["kind"] == "launch" and event["stream"] == 1 and event["ordinal"] == streams[1]["started"]
    )
    assert died in [finding["launch"] for finding in told.report["findings"] if finding["code"] == "TR102"]


def _launches_of(told: Any, verdict: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    by_launch = {event["launch"]: event for event in told.events if event["kind"] in ("launch", "publish")}
    edge = verdict["missing_edge"]
    return by_launch[edge["from"]["launch"]], by_launch[edge["to"]["launch"]]


@pytest.mark.parametrize("variant", ["crash", "silent"])
@pytest.mark.parametrize(
    "schedule", a_few(1, ["random:1", "fifo", "eager", *(f"random:{seed}" for seed in range(2, 7))])
)
def test_the_sound_run_has_no_finding_and_right_answers(ran, variant, schedule):
    """Whatever the device's order: the fences allow no other outcome."""
    told = ran(planted=False, variant=variant, schedule=schedule)
    assert told.outcome["error"] is None
    assert told.codes == []
    assert told.report["verdict"]["confidence"] == "none"
    assert told.outcome["tokens"] == ran(planted=False, variant="silent", schedule="eager").outcome["tokens"]


def test_the_silent_ending_answers_from_other_pages(ran):
    """No error, some answers wrong; the history proves the race all the same, as its earliest finding."""
    told = ran(planted=True, variant="silent", schedule=SILENT)
    sound = ran(planted=False, variant="silent", schedule=SILENT)
    assert told.outcome["error"] is None
    wrong = [
        name for name, tokens in told.outcome["tokens"].items() if tokens != sound.outcome["tokens"][name]
    ]
    assert wrong
    assert told.codes[0] == "TR102"
    assert told.report["verdict"]["confidence"] in ("proven", "observed")


@pytest.mark.parametrize("schedule", a_few(1, [LUCK, "eager", "fifo"]))
def test_luck_is_no_acquittal(ran, schedule):
    """The planted run in which every publish came in time: answers right, race proven."""
    told = ran(planted=True, schedule=schedule)
    assert told.outcome["error"] is None
    assert told.outcome["tokens"] == ran(planted=False, schedule="eager").outcome["tokens"]
    assert told.codes[0] == "TR102"
    assert told.report["verdict"]["confidence"] == "proven"
    assert {finding["code"] for finding in told.report["findings"]} == {"TR102"}


@pytest.mark.parametrize("planted", [True, False])
def test_a_seed_replays_exactly(ran, tmp_path, planted):
    """The schedule that ran, given back, gives the same events and the same end."""
    first = ran(planted=planted, schedule=CRASH)
    again = ran(planted=planted, schedule=first.outcome["schedule"])
    assert [_mostly(event) for event in first.events] == [_mostly(event) for event in again.events]
    assert first.outcome["tokens"] == again.outcome["tokens"]
    assert first.outcome["error"] == again.outcome["error"]


def test_sound_and_faulty_are_the_same_up_to_the_planted_act(ran):
    """Nothing is turned off to make the sound run sound: the first difference is the publish's stream."""
    sound, faulty = ran(planted=False, schedule="eager"), ran(planted=True, schedule="eager")
    pairs = list(zip(map(_mostly, sound.events), map(_mostly, faulty.events), strict=False))
    same = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
    right, wrong = pairs[len(same)]
    assert right["kind"] == wrong["kind"] == "publish"
    assert (right["stream"], wrong["stream"]) == (2, 0)
    assert {name for name in right if right[name] != wrong[name]} <= {"stream", "ordinal"}


@pytest.mark.slow  # as for every scenario
def test_the_call_follows_the_streams(ran, tmp_path):
    """Rename the streams in the dump, and the derived call names the new ones."""
    told = ran(planted=True, schedule=CRASH)
    lines = told.lines
    names = {0: "zero", 1: "model", 2: "copies"}
    for line in lines:
        if line["kind"] == "stream_state":
            line["name"] = names[line["stream"]]
    renamed = tmp_path / "renamed.jsonl"
    renamed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = build(open_dump(str(renamed)))
    call = as_json(report)["verdict"]["missing_edge"]["call"]
    assert "device.record(zero)" in call
    assert "device.wait(model" in call
    assert "compute" not in render(report).split("LAUNCHES")[0]
