"""What holds for every scenario, variant and control: the cause is found where it is planted, only there."""

import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.scenarios.conftest import but_for_the_file, read
from tracert.faults.catalog import find_fault
from tracert.scenarios.catalog import SCENARIOS, find_scenario

DEAR = "flare-stale-snapshot-rows"
"""Its runs take ten times as long as others; the fast suite has tests of its own for it."""
KILLED = "ninfer-unordered-publish"
"""The scenario that is killed in the fast suite, which runs all of its variants, too."""
USUAL = [
    pytest.param(
        name,
        variant,
        marks=[] if name != DEAR and variant == one.usual else [pytest.mark.slow],
        id=f"{name}-{variant}",
    )
    for name, one in SCENARIOS.items()
    for variant in one.variants
]
"""Other variants of the same fault are slow."""
VARIANTS = [
    pytest.param(*case.values, marks=[] if case.values[0] == KILLED else case.marks, id=case.id)
    for case in USUAL
]
STRIPPED = [
    pytest.param(
        *case.values,
        marks=case.marks if case.values[0] == KILLED else [pytest.mark.slow],
        id=case.id,
    )
    for case in USUAL
]
"""A crash is read without the header's fault in the fast suite, a failed request in the slow one."""
CONTROLS = [(name, control) for name, one in SCENARIOS.items() for control in one.controls]
SEED = "random:1"


def _finding(name: str, variant: str) -> str | None:
    """The code that the planted fault answers for; None where the variant is a cure."""
    chosen = find_scenario(name, variant)
    if SCENARIOS[name].variants[variant].ends == "clean":
        return None
    return find_fault(chosen.fault).finding


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_the_planted_run_ends_as_it_says_and_its_first_finding_is_the_cause(run_once, name, variant):
    """A crash, a failed request or nothing at all: what is found first is what was planted."""
    planted = run_once(name, variant, planted=True)
    ends = SCENARIOS[name].variants[variant].ends
    assert (ends == "crash") == (planted.outcome["error"] is not None)
    assert (ends == "failure") == bool(planted.outcome["failed"])
    expected = _finding(name, variant)
    assert planted.report["verdict"]["code"] == expected
    assert planted.codes[:1] == ([] if expected is None else [expected])


@pytest.mark.parametrize(("name", "variant"), USUAL)
def test_the_sound_run_is_clean_and_answers_right(run_once, name, variant):
    """No finding, no failure, and the answers of the device that runs everything at once."""
    sound = run_once(name, variant, planted=False)
    assert (sound.outcome["error"], sound.outcome["failed"], sound.codes) == (None, {}, [])
    eager = run_once(name, variant, planted=False, schedule="eager")
    assert sound.outcome["tokens"] == eager.outcome["tokens"]
    assert len(sound.outcome["tokens"]) == sound.outcome["requests"]


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_a_control_goes_well_with_the_fault_planted(run_once, name, control):
    """It lacks what the fault needs, as the report's own controls do."""
    found = run_once(name, planted=True, workload=control)
    assert (found.outcome["error"], found.outcome["failed"], found.codes) == (None, {}, [])
    assert len(found.outcome["tokens"]) == found.outcome["requests"]


@pytest.mark.parametrize(("name", "variant"), STRIPPED)
def test_the_reader_is_never_told(run_once, tmp_path, name, variant):
    """Without the header's fault the report is the same, and no other word of the dump names it."""
    planted = run_once(name, variant, planted=True)
    header, *rest, end = planted.dump.read_bytes().splitlines(keepends=True)
    bare = json.loads(header)
    fault = bare.pop("fault")
    assert fault == planted.outcome["fault"]
    assert fault is not None
    assert fault not in json.dumps(bare)
    assert name not in json.dumps(bare)
    stripped = tmp_path / planted.dump.name
    told = json.dumps(bare).encode() + b"\n" + b"".join(rest)
    stripped.write_bytes(told + json.dumps(json.loads(end) | {"crc32": zlib.crc32(told)}).encode() + b"\n")
    assert but_for_the_file(read(stripped)) == but_for_the_file(planted.report)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == KILLED else [pytest.mark.slow]) for name in SCENARIOS]
)
def test_the_verdict_is_the_same_after_kill_9(run_once, tmp_path, name):
    """The process ends itself by SIGKILL where it would have said its last words; its ring is recovered."""
    code = f"from tests.scenarios.killed import main; main({name!r}, {SEED!r}, {str(tmp_path)!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert ended.returncode == -9, ended.stderr
    (ring,) = tmp_path.glob("*.ring")
    dump = tmp_path / "recovered.jsonl"
    recover = "from tracert.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", recover, "recover", str(ring), "-o", str(dump)], check=True)
    assert json.loads(dump.open().readline())["reason"] == "killed"
    killed, planted = read(Path(dump))["verdict"], run_once(name, planted=True).report["verdict"]
    for part in ("code", "sentence", "resource", "launch", "seq"):
        assert killed[part] == planted[part], part
    assert killed["confidence"] in ("proven", "observed")
