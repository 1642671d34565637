"""What a report calls observed, inferred and open: each only where the history says so."""

from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_markdown import render as markdown
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build
from tracert_analysis.report.report import Report, Standing

from tests.analysis.history import History
from tests.analysis.report.histories import unordered_publish
from tests.analysis.report.reports import report
from tests.analysis.ring import COMPUTE, Ring


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """An unordered publish after which the device failed."""
    return report(unordered_publish(), tmp_path_factory.mktemp("published"))


def known(made: Report) -> Standing:
    """What is told of how the verdict is known."""
    assert made.verdict.standing is not None
    return made.verdict.standing


def test_an_order_is_observed_and_its_effect_inferred(published: Report) -> None:
    """The calls are in the history; what a kernel read is not."""
    told = known(published)
    assert told.observed[0] == "in the history: which act came before which, and that no call orders them"
    assert told.open[0].startswith("which code leaves out the call")
    assert any("the device was simulated" in item for item in told.open)
    assert not any("before the recorded window" in item for item in told.open)


def test_the_counterfactual_is_said_to_be_an_edited_history(published: Report) -> None:
    """Nothing is run again, and symptoms are not counted."""
    text = " ".join(render(published).split())
    assert "in an edited history: nothing was run again" in text
    assert as_json(published)["verdict"]["uncounted"] == []


def test_all_formats_have_the_three_kinds(published: Report) -> None:
    """Under labels of their own."""
    labels = [line.split()[0] for line in render(published).splitlines() if line.strip()]
    assert labels.index("observed") < labels.index("inferred") < labels.index("open")
    assert "which code leaves out the call" in markdown(published)
    told = as_json(published)["verdict"]["standing"]
    assert list(told) == ["scope", "observed", "inferred", "open"]


def starved(folder: Path, *, failed: bool) -> Report:
    """Launch 2 keeps a block, launch 3 finds no room; the device reports it, or nothing does."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    ring = Ring(history)
    ring.settle(ring.launch((200, 100)))
    ring.plan(750, room=700)
    waits = ring.launch()
    history.progress[COMPUTE] = (waits.ordinal, waits.ordinal - 1)
    if failed:
        history.error(COMPUTE)
    return build(history.read(folder))


def test_a_failure_is_observed_only_where_there_was_one(tmp_path: Path) -> None:
    """Without one, nothing is inferred but that harm can be done."""
    failed, quiet = (known(starved(tmp_path, failed=failed)) for failed in (True, False))
    assert failed.scope == "that the rule is broken, and that a launch it concerns went wrong"
    assert any(
        "had started, and not ended, when the history ended with an error" in item for item in failed.observed
    )
    assert failed.inferred == ("that the want of room is why launch 3 did not end",)
    assert quiet.scope == "that the rule is broken; nothing was seen to go wrong by it"
    assert not any("failed" in item for item in quiet.observed)
    assert quiet.inferred == ("that it can do harm: nothing that went wrong is tied to it here",)
    for told in (failed, quiet):
        assert "whether what was kept would have been given back after the last event" in told.open


def test_a_history_that_starts_late_says_what_it_leaves_open(tmp_path: Path) -> None:
    """What lies before the window is not known, and the confidence says so."""
    history = unordered_publish()
    del history.events[0]
    told = known(report(history, tmp_path))
    assert any("recorded window" in item for item in told.open)


def test_a_launch_that_overtook_another_is_observed(tmp_path: Path) -> None:
    """The publish still waited when the launch that follows the row was running: the progress says so."""
    history = unordered_publish()
    publish, reader = (launched(history, kind) for kind in ("publish", "launch"))
    history.progress[publish["stream"]] = (publish["ordinal"] - 1, publish["ordinal"] - 1)
    history.progress[reader["stream"]] = (reader["ordinal"], reader["ordinal"] - 1)
    history.error(reader["stream"])
    made = report(history, tmp_path)
    late = f"launch {reader['launch']}"
    assert made.verdict.confidence == "observed"
    assert known(made).observed[1:] == (
        f"{late} started before launch {publish['launch']}, which was still waiting at the end",
        f"{late} had started, and not ended, when the history ended with an error",
    )
    assert (
        known(made)
        .inferred[0]
        .startswith("that what was read or written out of order is why that launch did")
    )


def launched(history: History, kind: str) -> dict[str, Any]:
    """The last launch of a kind."""
    return [event for event in history.events if event["kind"] == kind][-1]
