"""How others of the same kind fared, counted in the history."""

from pathlib import Path

from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tests.analysis.findings.test_tr301 import reused, stored
from tests.analysis.history import use
from tests.analysis.report.histories import sound, unordered_publish
from tests.analysis.report.reports import told
from tests.analysis.report.test_bytes_story import COMPUTE, begun


def test_publishes_are_told_by_their_stream() -> None:
    """Those on transfer are ordered, the one on legacy is not; who ran first is not known."""
    made = told(unordered_publish)
    assert [(found.of, found.right) for found in made.contrast] == [
        (2, 2),
        (1, 0),
        (2, 2),
        (1, None),
        (1, None),
    ]
    assert [found.text.split(":")[0] for found in made.contrast[:2]] == [
        "publishes by copy_row on transfer",
        "publishes by copy_row on legacy",
    ]
    assert made.contrast[0].text.endswith(
        "launches follow 2 of them, and all are ordered before the launches that do"
    )
    assert made.contrast[3].text.endswith(" of the one that was found: in 1 the history does not tell")
    # The others, too, are the first of their generation: that is nothing that the one has alone.
    assert "in common" not in [found.label for found in made.contrast]
    assert made.contrast[2].text.startswith("the right pattern is in this history: copy_row on transfer ")
    assert as_json(made)["contrast"][1]["right"] == 0
    assert "the others" in render(made)
    assert told(sound).contrast == ()


def test_lives_are_told_by_what_the_page_held_before(tmp_path: Path) -> None:
    """Page 5 held state rows, and nobody cleared it; page 9 held keys and values, and was cleared."""
    history = begun()
    stored(history)
    before = history.alloc([9], "request:8")
    history.forward(COMPUTE, writes=[[9, 1, 0, 4]])
    fence = history.record(COMPUTE)
    history.drop(before, "request:8")
    history.retire(before, fence)
    history.passed(fence)
    history.free(before)
    after = history.alloc([9], "request:9")
    history.clear(COMPUTE, [[9, 2, 0, 4]])
    history.acquire(1, 1, 9)
    history.publish(COMPUTE, 1, 1, after)
    history.forward(COMPUTE, use(1, 1, 0, 2, covers="page"))
    reused(history)
    made = build(history.read(tmp_path))
    assert made.verdict.code == "TR301"
    lives = [found for found in made.contrast if found.label == "the others"]
    assert [(found.of, found.right) for found in lives] == [(1, 1), (1, 0)]
    assert "one in which they held state rows: 1, of which none was cleared first" in made.contrast[1].text
    assert made.contrast[1].text.endswith("stale bytes were loaded of 1")
    assert made.contrast[0].text.endswith("stale bytes were loaded of none")


def test_a_clear_that_leaves_stale_positions_is_counted_apart(tmp_path: Path) -> None:
    """Of two pages with keys and values of another one was cleared behind its request's tokens, one later."""
    history = begun()
    for page, request, first in ((5, 1, 2), (6, 3, 3)):
        before = history.alloc([page], f"request:{request}")
        history.forward(COMPUTE, writes=[[page, 1, 0, 4]])
        history.give_back(before, f"request:{request}")
        after = history.alloc([page], f"request:{request + 1}")
        history.clear(COMPUTE, [[page, 2, first, 4]])
        history.acquire(0, request, request + 1)
        history.publish(COMPUTE, 0, request, after)
        history.forward(COMPUTE, use(0, request, 0, 2, covers="page"))
        history.release(0, request, request + 1)
    found, suspect = build(history.read(tmp_path)).contrast
    assert suspect.text.startswith("request")
    assert (found.of, found.right) == (2, 1)
    assert found.text.endswith(
        "2, of which 1 was cleared first, 1 only in part; stale bytes were loaded of 1"
    )
