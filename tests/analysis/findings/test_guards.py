"""What guarded kernels saw, beside what the history says: a difference is a finding, and an observed one."""

from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.load import Dump

from tests.analysis.guarded import COMPUTE, POISON, guarded_history
from tests.analysis.history import History, Launched, use


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Dump, dict[str, Launched]]:
    """The history read."""
    history, launches = guarded_history()
    return history.read(tmp_path_factory.mktemp("guarded"), macros=False), launches


def _findings(dump: Dump) -> dict[int, dict[str, Any]]:
    relation = dump.connection.execute("FROM finding ORDER BY finding")
    names = [column[0] for column in relation.description or []]
    found = [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    assert len(found) == len({finding["row"] for finding in found})
    return {finding["row"]: finding for finding in found}


def test_what_differs_from_what_was_published_is_told_of_once(guarded):
    """By the rule that it breaks, as observed: not where order or length of the row explain it."""
    dump, launches = guarded
    found = _findings(dump)
    assert {1: "TR402", 2: "TR401", 4: "TR102", 5: "TR403"} == {row: found[row]["code"] for row in found}
    assert {"observed"} == {finding["confidence"] for finding in found.values()}
    for row, name in ((1, "another page"), (2, "no page"), (4, "unordered"), (5, "too far")):
        assert launches[name].launch == found[row]["launch"]


def test_the_sentences_say_what_was_seen_and_what_was_published(guarded):
    """And by which launch it was published."""
    dump, launches = guarded
    found = _findings(dump)
    late, early = (launches[f"another page{which}"].launch for which in ("", " published"))
    assert (
        f"launch {late} (forward) on compute follows entry 1 of row 1 for request 11, in which the kernel "
        f"found page 9: page 7.1 was published there, by launch {early} (copy_row) on compute"
    ) == found[1]["sentence"]
    assert early == found[1]["other_launch"]
    late, early = (launches[f"no page{which}"].launch for which in ("", " published"))
    assert (
        f"launch {late} (forward) on compute follows entry 0 of row 2, which names page {POISON}; the pool "
        "has pages 0 to 31. The kernel itself saw that, and page 8.1 was published there, by launch "
        f"{early} (copy_row) on compute"
    ) == found[2]["sentence"]


def test_entries_stand_beside_what_was_published(guarded):
    """Page ids below 0 are what they were on the device; a launch that the history lacks tells nothing."""
    dump, _ = guarded
    rows = dump.connection.execute(
        "SELECT row, index, page, published_page, published_life, request, differs FROM guard_entry "
        "ORDER BY row, index"
    ).fetchall()
    assert [
        (1, 1, 9, 7, 1, 11, True),
        (2, 0, POISON, 8, 1, 12, True),
        (2, 1, -3, 9, 1, 12, True),
        (3, 1, 11, 11, 1, 13, False),
        (4, 0, 0, 12, 1, 14, True),
        (4, 1, 0, 13, 1, 14, True),
        (5, 2, 0, None, None, 15, False),
    ] == rows


def test_a_missing_event_could_be_the_publish_that_explains_it(tmp_path: Path):
    """Beside a torn record nothing is known to differ, and no finding says so."""
    history, launches = guarded_history()
    torn = next(
        event for event in history.events if event.get("launch") == launches["another page published"].launch
    )
    history.events.remove(torn)
    history.header["ring"] |= {"torn": 1, "torn_seqs": [torn["seq"]]}
    dump = history.read(tmp_path, macros=False)
    assert [] == dump.connection.execute("FROM guard_entry WHERE differs").fetchall()
    codes = {row: finding["code"] for row, finding in _findings(dump).items()}
    assert "TR401" not in codes.values()
    assert codes.get(1) != "TR402" or "found page" not in _findings(dump)[1]["sentence"]


def test_the_first_value_is_told_with_its_class(tmp_path: Path):
    """A guarded kernel knows whether it stored the value or was given it."""
    history = History()
    launch = history.forward(COMPUTE, use(0, 1, 0, 1))
    for row, stage in enumerate(("keys", "attention", "logits")):
        layer = 3 if stage != "logits" else -1
        told = {"launch": launch.launch, "request": row, "row": row, "position": 5, "layer": layer}
        history.event("nonfinite", **told, **{"class": stage}, page=5, life=1)
    dump = history.read(tmp_path, macros=False)
    sentences = dump.connection.execute(
        "SELECT sentence FROM finding WHERE code = 'TR902' ORDER BY row"
    ).fetchall()
    place = "(forward) on compute gave a value that is not finite for request {} at position 5"
    assert [
        f"launch 1 {place.format(0)} in layer 3, first among the keys and values that it stored",
        f"launch 1 {place.format(1)} in layer 3, first in what attention gave",
        f"launch 1 {place.format(2)}, first among its logits",
    ] == [row[0] for row in sentences]
