"""Seed 3: rows of released snapshots in the dead tail of a page, told from the history alone."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.scenarios.conftest import Told

NAME = "flare-stale-snapshot-rows"
Ran = Callable[..., Told]


@pytest.fixture(scope="module")
def failed(run_once: Ran) -> Told:
    """The run with the fault planted."""
    return run_once(NAME, planted=True, schedule="random:1")


@pytest.fixture(scope="module")
def sound(run_once: Ran) -> Told:
    """The run without."""
    return run_once(NAME, planted=False, schedule="random:1")


def test_the_second_send_of_a_prompt_fails_and_stale_rows_are_the_verdict(failed: Told) -> None:
    """Only provenance fires, and what followed from it: owners and order stay green, the audit with them."""
    (name,) = failed.outcome["failed"]
    assert name.startswith("warm-")
    assert {"TR301", "TR902"} == set(failed.codes)
    assert failed.codes[0] == "TR301"
    assert "where state rows of snapshot" in failed.report["verdict"]["sentence"]
    assert failed.report["verdict"]["confidence"] == "observed"


def test_the_error_misleads_and_its_detail_does_not(failed: Told) -> None:
    """Code 6 points to drafts, of which there are none; the check that failed is kept."""
    error = failed.report["error"]
    assert (6, "INVALID_SPECULATION", True) == (error["code"], error["name"], error["misleading"])
    assert error["detail"]["failed"] == ["distribution"]


def test_a_sound_run_has_no_finding_and_answers_all(sound: Told) -> None:
    """Same workload, same engine, nothing turned off."""
    assert [] == sound.codes
    assert {} == sound.outcome["failed"]


@pytest.mark.parametrize("variant", ["dedicated", "clear-tail", "inert"])
def test_each_fix_comes_out_clean_with_the_fault_planted(variant: str, run_once: Ran) -> None:
    """No finding, no failure."""
    told = run_once(NAME, variant=variant, planted=True, schedule="random:1")
    assert [] == told.codes
    assert {} == told.outcome["failed"]


def test_a_clear_on_the_default_stream_is_no_fix(run_once: Ran) -> None:
    """It is unordered with what it clears for, whatever luck does."""
    told = run_once(NAME, variant="legacy-clear", planted=True, schedule="random:1")
    assert told.codes[0] == "TR104"
    assert told.report["verdict"]["confidence"] == "proven"


def test_snapshots_cover_the_pool(failed: Told) -> None:
    """As in the report: with all slots in use every page but the reserved one would have rows."""
    from tracert.memory.layout import KvLayout
    from tracert.memory.row_spans import row_spans

    config: dict[str, Any] = failed.lines[0]["config"]
    layout = KvLayout(config["kv_pages"], 2, 16, 2, 16, _fp8())
    spans = row_spans(layout, config["snapshots"], 4 * 260)
    pages = {piece.page for span in spans for piece in span.ranges(layout.page_bytes)}
    assert set(range(1, config["kv_pages"])) == pages


def test_histories_are_the_same_up_to_the_clear_that_is_left_out(failed: Told, sound: Told) -> None:
    """Kind by kind and launch by launch, until the sound run clears a page that the other does not."""
    both = zip(failed.events, sound.events, strict=False)
    differ = next((bad, good) for bad, good in both if _shape(bad) != _shape(good))
    assert differ[1]["kind"] in ("clear", "stage")
    counts = Counter(event["kind"] for event in sound.events)
    assert counts["clear"] > Counter(event["kind"] for event in failed.events)["clear"]


def _shape(event: dict[str, Any]) -> tuple[Any, ...]:
    return event["kind"], event.get("launch"), event.get("bytes"), str(event.get("target"))


def _fp8() -> Any:
    import torch

    return torch.float8_e4m3fn
