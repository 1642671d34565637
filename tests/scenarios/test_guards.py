"""Guarded runs of planted bugs: what the history has of what kernels saw is what lay in memory then."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import torch
from tracert_analysis.load import open_dump
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.scenarios.conftest import Told
from tracert.cli.main import run as command_line
from tracert.cli.run_scenario import run
from tracert.engine import runner

PAGE = 16


@dataclass(frozen=True)
class Spied(Told):
    """A guarded run, and what lay in memory when each of its forwards ran."""

    looks: list[tuple[torch.Tensor, torch.Tensor]]
    """The block table, and of each layer the positions [pages, P] whose values are not finite."""

    @cached_property
    def built(self) -> Report:
        """The report, of which there are several forms."""
        return build(open_dump(str(self.dump)))

    @property
    def report(self) -> dict[str, Any]:
        """As JSON."""
        return as_json(self.built)

    @property
    def words(self) -> str:
        """As text, on one line."""
        return " ".join(render(self.built).split())


def spied(name: str, dump: Path) -> Spied:
    """Run a scenario, planted and guarded, with a look at the device's memory before each forward runs."""
    looks: list[tuple[torch.Tensor, torch.Tensor]] = []
    forward = runner.forward

    def look(model: Any, batch: Any, fed: Any, drawn: Any, cache: Any, table: Any, *rest: Any) -> None:
        values = cache[:, :, 1].float().isfinite().flatten(3).all(3)
        looks.append((table.clone(), ~values))
        forward(model, batch, fed, drawn, cache, table, *rest)

    look.__name__ = "forward"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "forward", look)
        outcome = run(name, planted=True, schedule="random:1", dump=dump, options={"guard": True})
    return Spied(outcome, dump, looks)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Spied]:
    """The three seeds whose rows or bytes are wrong."""
    names = ("ninfer-unordered-publish", "prefill-walks-past-row", "flare-stale-snapshot-rows")
    folder = tmp_path_factory.mktemp("guarded")
    return {name: spied(name, folder / f"{name}.jsonl") for name in names}


@pytest.mark.parametrize("name", ["ninfer-unordered-publish", "prefill-walks-past-row"])
def test_what_a_guard_saw_is_what_the_table_held(guarded, name):
    """Event by event: as many entries as were followed, and just those that the history had not published."""
    told = guarded[name]
    forwards = [each["launch"] for each in told.events if each["kind"] == "launch" and each.get("uses")]
    tables = dict(zip(forwards, (table for table, _ in told.looks), strict=True))
    meant: dict[int, dict[int, int]] = {}
    published: dict[int, dict[int, dict[int, int]]] = {}
    for event in told.events:
        if event["kind"] in ("map", "unmap"):
            pages = event.get("pages") or [[event["page"], event["life"]]]
            row = meant.setdefault(event["row"], {})
            for index, (page, _) in enumerate(pages, start=event["index"]):
                row[index] = page if event["kind"] == "map" else -1
        if event["kind"] == "launch":
            published[event["launch"]] = {row: dict(entries) for row, entries in meant.items()}
    guards = [event for event in told.events if event["kind"] == "guard"]
    wrong = 0
    for event in guards:
        held = tables[event["launch"]][event["row"], : event["walked"]].tolist()
        should = published[event["launch"]][event["row"]]
        differ = [[index, page] for index, page in enumerate(held) if page != should.get(index)]
        assert differ[:64] == event["entries"]
        outside = [(index, page) for index, page in enumerate(held) if not 0 < page < 64]
        first = {"page": outside[0][1], "position": outside[0][0] * PAGE} if outside else {}
        assert first == {key: event[key] for key in ("page", "position") if key in event}
        wrong += bool(differ)
    assert {(e["launch"], e["row"]) for e in guards} == {
        (e["launch"], use["row"]) for e in told.events if e["kind"] == "launch" for use in e.get("uses", ())
    }
    assert wrong
    assert wrong == sum(event["kind"] == "error" for event in told.events)


def test_the_layer_of_the_first_value_is_the_first_whose_pages_hold_one(guarded):
    """A stale page's bytes are NaN in some layers: attention gives NaN from the lowest of them on."""
    told = guarded["flare-stale-snapshot-rows"]
    forwards = [each for each in told.events if each["kind"] == "launch" and each.get("uses")]
    seen = [event for event in told.events if event["kind"] == "nonfinite"]
    assert seen
    for event in seen:
        at = next(at for at, each in enumerate(forwards) if each["launch"] == event["launch"])
        (use,) = (use for use in forwards[at]["uses"] if use["row"] == event["row"])
        table, wrong = told.looks[at]
        pages = table[event["row"], : use["walked"]].long()
        layers = wrong[pages].any(2).any(0).nonzero().flatten().tolist()
        assert (layers[0], use["end"] - 1, "attention") == (event["layer"], event["position"], event["class"])


def test_a_guarded_run_ends_requests_and_not_the_device(guarded):
    """Each error is a request's: nothing was touched that the device would have died of."""
    told = guarded["ninfer-unordered-publish"]
    assert told.outcome["error"] is None
    assert {"invalid_page"} == {failed["code"] for failed in told.outcome["failed"].values()}
    streams = {line["name"]: line for line in told.lines if line["kind"] == "stream_state"}
    assert streams["compute"]["launched"] == streams["compute"]["finished"]
    assert "ok" == told.lines[0]["device"]["state"]


@pytest.mark.parametrize(
    ("name", "code", "missing"),
    [
        ("ninfer-unordered-publish", "TR102", "device.wait(compute"),
        ("flare-stale-snapshot-rows", "TR301", None),
        pytest.param("prefill-walks-past-row", "TR403", None, marks=pytest.mark.slow),
    ],
)
def test_the_verdict_is_what_it_is_without_guards_and_observed(guarded, name, code, missing):
    """What kernels saw makes it no other bug, and takes the doubt from it."""
    told = guarded[name]
    verdict, guard = told.report["verdict"], told.report["guard"]
    assert (code, "observed") == (verdict["code"], verdict["confidence"])
    assert {code} == set(told.codes) - {"TR902"}
    if missing:
        assert missing in verdict["missing_edge"]["call"]
        assert "findings are gone" in verdict["counterfactual"]
    guards = [event for event in told.events if event["kind"] == "guard"]
    assert (len(guards), sum(event["walked"] for event in guards)) == (guard["told"], guard["followed"])


def test_the_report_says_which_entry_was_bad_and_what_should_have_been_there(guarded):
    """The launch that is told of is the first that visibly went wrong, and its row was left out."""
    told = guarded["ninfer-unordered-publish"]
    guard = told.report["guard"]
    wrong = next(event for event in told.events if event["kind"] == "guard" and event["entries"])
    assert (wrong["launch"], wrong["row"], wrong["walked"]) == (
        guard["act"]["launch"],
        guard["row"],
        guard["walked"],
    )
    assert wrong["entries"] == [[entry["index"], entry["page"]] for entry in guard["entries"]]
    assert all(entry["differs"] for entry in guard["entries"])
    assert guard["left_out"]
    assert "2147483647, which is no page; page" in told.words


def test_the_report_says_where_the_first_value_appeared(guarded):
    """Layer and position, and the page in which it lies is the one of the finding."""
    told = guarded["flare-stale-snapshot-rows"]
    value = told.report["guard"]["value"]
    seen = next(event for event in told.events if event["kind"] == "nonfinite")
    assert (seen["layer"], "attention", seen["position"]) == (
        value["layer"],
        value["value_class"],
        value["position"],
    )
    assert [value["page"], value["life"]] == seen["pages"][-1]
    shown = next(f for f in told.report["findings"] if f["confidence"] == "observed")
    assert (shown["resource"]["id"], shown["resource"]["life"]) == (value["page"], value["life"])
    assert f"first in layer {seen['layer']}, in what attention gave" in told.words


def test_a_sound_run_is_told_of_and_has_no_finding(tmp_path):
    """On the command line: all that was followed is what had been published, and the answers are right."""
    dump, report = tmp_path / "dump.jsonl", tmp_path / "report.txt"
    run_it = ["scenario", "run", "prefill-walks-past-row", "--sound", "--guard", "--dump", str(dump)]
    assert command_line(run_it) == 0
    assert command_line(["postmortem", str(dump), "-o", str(report)]) == 0
    words = " ".join(report.read_text().split())
    assert words.startswith("tracert: no finding")
    assert "every entry that they followed is what had been published" in words
    assert "not finite none: what was stored, and what attention gave, is finite" in words
