"""Seed 3: rows of released snapshots in the dead tail of a page, told from the history alone."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.scenarios.conftest import Told
from tests.some import a_few

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


@pytest.mark.parametrize("variant", a_few(1, ["clear-tail", "dedicated", "inert"]))
def test_each_fix_comes_out_clean_with_the_fault_planted(variant: str, run_once: Ran) -> None:
    """No finding, no failure."""
    told = run_once(NAME, variant=variant, planted=True, schedule="random:1")
    assert [] == told.codes
    assert {} == told.outcome["failed"]


@pytest.mark.slow  # the late clear is the fast suite's TR104
def test_a_clear_on_the_default_stream_is_no_fix(run_once: Ran) -> None:
    """It is unordered with what it clears for, whatever luck does."""
    told = run_once(NAME, variant="legacy-clear", planted=True, schedule="random:1")
    assert told.codes[0] == "TR104"
    assert told.report["verdict"]["confidence"] == "proven"


@pytest.fixture(scope="module")
def late(run_once: Ran) -> Told:
    """The run whose pages are cleared behind the host tier's loads."""
    return run_once(NAME, variant="late-clear", planted=True, schedule="random:1")


@pytest.mark.slow  # histories by hand show it in the fast suite
def test_a_clear_behind_a_load_from_the_host_is_no_fix(late: Told) -> None:
    """Order is there, on the right stream, and the wrong way round: the restored page is blank."""
    verdict = late.report["verdict"]
    assert {"TR104"} == set(late.codes)
    assert ("TR104", "proven") == (verdict["code"], verdict["confidence"])
    assert "(load_pages) on copies, which put them there" in verdict["sentence"]
    assert "reads zeros in their place" in verdict["sentence"]


@pytest.mark.slow
def test_the_blank_pages_are_those_that_were_restored(late: Told, run_once: Ran) -> None:
    """The first launch that is told of clears the very lives of pages that the load before it filled."""
    clear = next(each for each in late.events if each.get("launch") == late.report["verdict"]["launch"])
    loads = [each for each in late.events if each["kind"] == "load" and each["seq"] < clear["seq"]]
    loaded = {(page, life) for _, page, life in loads[-1]["entries"]}
    cleared = {(page, life) for page, life, _, _ in clear["target"]}
    assert loaded <= cleared
    sound = run_once(NAME, variant="late-clear", planted=False, schedule="random:1")
    wrong = {
        name for name, tokens in sound.outcome["tokens"].items() if late.outcome["tokens"][name] != tokens
    }
    assert {"again-0", "again-1"} == wrong


@pytest.mark.slow  # luck is no acquittal in the fast suite's ninfer runs, too
def test_stale_numbers_are_proven_from_the_history_while_the_answers_are_right(run_once: Ran) -> None:
    """A zero weight makes them zero: nothing fails, no answer differs, and it is wrong all the same."""
    told = run_once(NAME, variant="finite", planted=True, schedule="random:1")
    sound = run_once(NAME, variant="finite", planted=False, schedule="random:1")
    assert {"TR301"} == set(told.codes)
    assert "proven" == told.report["verdict"]["confidence"]
    assert "where state rows of snapshot" in told.report["verdict"]["sentence"]
    assert (None, {}) == (told.outcome["error"], told.outcome["failed"])
    assert sound.outcome["tokens"] == told.outcome["tokens"]
    assert not [each for each in told.events if each["kind"] in ("nonfinite", "error", "fail")]


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
