"""What holds for every scenario, variant and control: the cause is found where it is planted, only there."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.conftest import Told, read
from tracert.cli.run_scenario import run
from tracert.faults.catalog import find_fault
from tracert.scenarios.catalog import SCENARIOS, find_scenario

VARIANTS = [(name, variant) for name, one in SCENARIOS.items() for variant in one.variants]
CONTROLS = [(name, control) for name, one in SCENARIOS.items() for control in one.controls]
SEED = "random:1"


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Callable[..., Told]:
    """Runs a scenario; the same arguments give the same run, which is kept."""
    folder, kept = tmp_path_factory.mktemp("every"), {}

    def once(name: str, variant: str | None = None, *, planted: bool, **more: Any) -> Told:
        key = name, variant, planted, *sorted(more.items())
        if key not in kept:
            dump = folder / f"{len(kept)}.jsonl"
            more.setdefault("schedule", SEED)
            outcome = run(name, variant=variant, planted=planted, dump=dump, **more)
            kept[key] = Told(outcome, dump, read(dump))
        return kept[key]

    return once


def _finding(name: str, variant: str) -> str | None:
    """The code that the planted fault answers for; None where the variant is a cure."""
    chosen = find_scenario(name, variant)
    if SCENARIOS[name].variants[variant].ends == "clean":
        return None
    return find_fault(chosen.fault).finding


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_the_planted_run_ends_as_it_says_and_its_first_finding_is_the_cause(told, name, variant):
    """A crash, a failed request or nothing at all: what is found first is what was planted."""
    planted = told(name, variant, planted=True)
    ends = SCENARIOS[name].variants[variant].ends
    assert (ends == "crash") == (planted.outcome["error"] is not None)
    assert (ends == "failure") == bool(planted.outcome["failed"])
    expected = _finding(name, variant)
    assert planted.codes[:1] == ([] if expected is None else [expected])
    assert planted.report["verdict"]["code"] == expected


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_the_sound_run_is_clean_and_answers_right(told, name, variant):
    """No finding, no failure, and the answers of the device that runs everything at once."""
    sound = told(name, variant, planted=False)
    assert (sound.outcome["error"], sound.outcome["failed"], sound.codes) == (None, {}, [])
    assert sound.outcome["tokens"] == told(name, variant, planted=False, schedule="eager").outcome["tokens"]
    assert len(sound.outcome["tokens"]) == sound.outcome["requests"]


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_a_control_goes_well_with_the_fault_planted(told, name, control):
    """It lacks what the fault needs, as the report's own controls do."""
    found = told(name, planted=True, workload=control)
    assert (found.outcome["error"], found.outcome["failed"]) == (None, {})
    assert len(found.outcome["tokens"]) == found.outcome["requests"]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_the_reader_is_never_told(told, tmp_path, name, variant):
    """Without the header's fault the report is the same, and no other word of the dump names it."""
    planted = told(name, variant, planted=True)
    header, *rest = planted.dump.read_text().splitlines(keepends=True)
    bare = json.loads(header)
    fault = bare.pop("fault")
    assert fault == planted.outcome["fault"]
    assert fault is not None
    assert fault not in json.dumps(bare)
    assert name not in json.dumps(bare)
    stripped = tmp_path / planted.dump.name
    stripped.write_text(json.dumps(bare) + "\n" + "".join(rest))
    report = read(stripped)
    for part in ("verdict", "findings", "pages", "acquitted", "error", "what_was_new", "lanes"):
        assert report[part] == planted.report[part], part


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_verdict_is_the_same_after_kill_9(told, tmp_path, name):
    """The process ends itself by SIGKILL where it would have said its last words; its ring is recovered."""
    code = f"from tests.scenarios.killed import main; main({name!r}, {SEED!r}, {str(tmp_path)!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert ended.returncode == -9, ended.stderr
    (ring,) = tmp_path.glob("*.ring")
    dump = tmp_path / "recovered.jsonl"
    recover = "from tracert.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", recover, "recover", str(ring), "-o", str(dump)], check=True)
    assert json.loads(dump.open().readline())["reason"] == "killed"
    killed, planted = read(Path(dump))["verdict"], told(name, planted=True).report["verdict"]
    for part in ("code", "sentence", "resource", "launch", "seq"):
        assert killed[part] == planted[part], part
    assert killed["confidence"] in ("proven", "observed")
