"""`tracert demo`: a real server, real clients, the report of what happened. On `tiny-random`."""

import re
from pathlib import Path

import pytest

from tracert.cli.main import run


def _demo(folder: Path, capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    command = ["demo", *arguments, "--model", "tiny-random", "--record-dir", str(folder)]
    assert 0 == run(command)
    return capfd.readouterr().out


@pytest.mark.slow
def test_a_crash_is_told_with_its_dump(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The client's 503 names the dump, the engine serves on, the report explains it."""
    told = _demo(tmp_path, capfd, "pypto-prefill-507018")
    assert "HTTP 503 The engine failed: AICPU_EXCEPTION (507018)" in told
    assert "the engine was started again and serves on" in told
    assert re.search(r"^ +hit > \(233 tokens\) Probe round 1\.", told, re.MULTILINE)
    assert re.search(r"^tracert: TR701 workspace-exhausted", told, re.MULTILINE)


@pytest.mark.slow
def test_a_failed_request_is_told_and_a_dump_asked_for(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The engine goes on: its history is asked for."""
    told = _demo(tmp_path, capfd, "pypto-prefill-507018", "--variant", "preflight")
    assert re.search(r"^HTTP 5\d\d ", told, re.MULTILINE)
    assert "it has seen no device error, so it is asked for a dump" in told
    assert f"$ tracert postmortem {tmp_path}" in told
    assert re.search(r"^tracert: TR701 workspace-exhausted", told, re.MULTILINE)


@pytest.mark.slow
def test_a_silent_fault_is_shown_by_other_answers_and_proven(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A sound server answers first; what differs is shown, if luck failed; the report names the cause."""
    told = _demo(tmp_path, capfd, "ninfer-staging-reuse")
    assert "no error; all 12 requests were answered with HTTP 200" in told
    differs, same = r"\d+ of 12 answers are not those of", "every answer is the one that"
    assert re.search(rf"^({differs}|{same}) a sound server", told, re.MULTILINE)
    assert re.search(r"^tracert: TR103 staging-reuse", told, re.MULTILINE)
    assert "confidence: proven" in told


@pytest.mark.slow
def test_what_luck_hides_is_told_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A reproducer that ran clean: every answer right or not, the race is proven."""
    told = _demo(
        tmp_path, capfd, "ninfer-unordered-publish", "--variant", "silent", "--workload", "two-lanes"
    )
    assert "no error; all 16 requests were answered with HTTP 200" in told
    assert re.search(r"^tracert: TR102 unordered-publish", told, re.MULTILINE)


def test_an_unknown_scenario_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """With those that there are."""
    assert 1 == run(["demo", "gremlins"])
    line = capsys.readouterr().err
    assert 1 == len(line.splitlines())
    assert "ninfer-unordered-publish" in line
