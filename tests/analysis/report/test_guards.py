"""What a report says of guarded kernels: which entries they found, and where a value was first not finite."""

import json
from pathlib import Path

import pytest
from tracert_analysis.report import as_json, as_text
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report

from tests.analysis.guarded import COMPUTE, POISON, guarded_history
from tests.analysis.history import History, use


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of rows that are wrong in every way; the verdict is of row 1, in which the kernel found page 9."""
    history, _ = guarded_history()
    again = history.forward(COMPUTE, use(1, 1, 7, 8))
    told = {"launch": again.launch, "request": 11, "row": 1, "class": "attention"}
    history.event("nonfinite", **told, position=7, layer=3, pages=[[6, 1], [7, 1]])
    history.event("arrive", request=11, id="cmpl-11", prompt_tokens=8, max_tokens=1)
    return build(history.read(tmp_path_factory.mktemp("guarded")))


def section(report: Report) -> list[str]:
    """The lines of the section about guards, each fact on one."""
    text = as_text.render(report).split("WHAT THE GUARDED KERNELS SAW\n")[1].split("\n\n")[0]
    return [" ".join(line.split()) for line in text.replace("\n" + " " * 17, " ").splitlines()]


def test_the_entry_of_the_verdict_stands_beside_what_was_published(report):
    """Which entry, what it named, what should have been there, and that this is no inference."""
    assert ("TR402", "observed") == (report.verdict.code, report.verdict.confidence)
    lines = section(report)
    assert lines[0].startswith(
        "told 7 rows of 7 launches, 14 entries; in 3 of them what the history does not say"
    )
    assert any(line.startswith(f"followed launch {report.verdict.launch} forward") for line in lines)
    followed = next(line for line in lines if line.startswith("followed"))
    assert "followed 2 entries of row 1, and found:" in followed
    assert "entry 1: page 9; page 7.1 had been published there" in " ".join(lines)
    assert "difference 1 entry is not what the history says had been published" in " ".join(lines)
    assert "left out" not in " ".join(lines)


def test_the_first_value_is_told_with_layer_position_and_page(report):
    """Of a later launch over the same row here, for the verdict's gave none."""
    last = " ".join(section(report)[-2:])
    assert "first in layer 3, in what attention gave, at position 7 of request:11 (cmpl-11), which" in last
    assert "lies in page 7.1" in last
    assert "what it read is not" in last


def test_json_has_it_all(report):
    """For programs: the same by name."""
    told = json.loads(as_json.render(report))["guard"]
    assert (7, 7, 3, 1) == (told["launches"], told["told"], told["differing"], told["unpublished"])
    assert {
        "index": 1,
        "page": 9,
        "published_page": 7,
        "published_life": 1,
        "differs": True,
        "is_page": True,
    } == (told["entries"][0])
    assert (3, "attention", 7, 7, 1) == tuple(
        told["value"][name] for name in ("layer", "value_class", "position", "page", "life")
    )


def test_a_row_left_out_and_values_all_finite(tmp_path: Path):
    """An id past the pool, and a launch in which nothing was wrong but that."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    pages = history.alloc([4, 5, 6], "request:1")
    history.acquire(0, 1, 1)
    history.publish(COMPUTE, 0, 1, pages)
    launch = history.forward(COMPUTE, use(0, 1, 8, 9))
    entries = [[0, POISON], [1, POISON], [2, 0]]
    history.event(
        "guard", launch=launch.launch, row=0, generation=1, walked=3, entries=entries, page=POISON, position=0
    )
    lines = section(build(history.read(tmp_path)))
    text = " ".join(lines)
    assert f"entries 0 to 1: {POISON}, which is no page; page 4.1 had been published there ..." in text
    assert "entry 2: 0, which is nobody's page; page 6.1 had been published there" in text
    assert "left out nothing of the row was loaded or stored" in text
    assert lines[-1].startswith("not finite none")


def test_what_a_former_tenant_published_and_how_far_kernels_went(tmp_path: Path):
    """The history has the entry, though the host did not mean it; and counts stand beside those meant."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    for request, pages in ((1, [4, 5]), (2, [6, 7])):
        granted = history.alloc(pages, f"request:{request}")
        history.acquire(0, request, request)
        history.event("map", row=0, generation=request, index=0, pages=[list(page) for page in granted])
        history.publish(COMPUTE, 0, request, granted)
        if request == 1:
            former = granted
            history.event("unmap", row=0, generation=1, index=0, pages=[list(page) for page in granted])
            history.release(0, 1, 1)
            history.give_back(granted, "request:1")
    sound = history.forward(COMPUTE, use(0, 2, 0, 6))
    short = history.forward(COMPUTE, use(0, 2, 6, 7))
    history.event("guard", launch=sound.launch, row=0, generation=2, walked=2, entries=[])
    lines = section(build(history.read(tmp_path)))
    assert lines[0].startswith(
        "told 1 row of 1 launch, 2 entries; every entry that they followed is what had been published, and "
        "they followed as many as they were to"
    )
    assert len(lines) == 2
    history.event("guard", launch=short.launch, row=0, generation=2, walked=1, entries=[])
    report = build(history.read(tmp_path))
    assert report.verdict.code is None
    lines = section(report)
    assert "2 rows of 2 launches, 3 entries; in 1 of them fewer entries than the launch was to" in lines[0]
    assert "followed 1 entry of row 0, and was to follow 2: what it followed is as meant" in lines[1]
    history.publish(COMPUTE, 0, 1, former)
    stale = history.forward(COMPUTE, use(0, 2, 7, 8))
    history.event("guard", launch=stale.launch, row=0, generation=2, walked=2, entries=[[0, 4], [1, 5]])
    report = build(history.read(tmp_path))
    assert ("TR201", stale.launch) == (report.verdict.code, report.verdict.launch)
    lines = section(report)
    assert "in 1 of them an entry that had been published, though the host had not meant it; in 1" in lines[0]
    assert "entry 1: page 5; page 5.1 had been published there, though the host had not meant it" in lines[1]


def test_a_history_without_guards_has_no_such_section(tmp_path: Path):
    """Nothing was looked at, so nothing is said."""
    history, _ = guarded_history()
    history.events = [event for event in history.events if event["kind"] != "guard"]
    report = build(history.read(tmp_path))
    assert report.guard is None
    assert "GUARDED" not in as_text.render(report)
