"""`tracert scenario`: what there is, what is refused before a workload runs, what is said of one."""

import json
import sys
from pathlib import Path

import pytest

from tracert.cli.main import run
from tracert.cli.scenario import _listed, _show
from tracert.scenarios.catalog import SCENARIOS


def test_a_dump_in_a_folder_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder is made for what may be a slip, and nothing has run for it."""
    target = tmp_path / "some" / "where" / "x.jsonl"
    assert 1 == run(["scenario", "run", "ninfer-unordered-publish", "--dump", str(target)])
    printed = capsys.readouterr()
    assert "" == printed.out
    assert f"{target.parent} is no folder: make it" in printed.err
    assert 1 == len(printed.err.splitlines())
    assert [] == list(tmp_path.iterdir())


def test_names_in_the_list_are_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a pipe a line each, whatever the width is; on a terminal too, and only descriptions wrap."""
    monkeypatch.setenv("COLUMNS", "40")
    assert 0 == run(["scenario", "list"])
    lines = capsys.readouterr().out.splitlines()
    shown = list(_show([line for one in SCENARIOS.values() for line in _listed(one)], 80))
    assert max(map(len, shown)) <= 80
    for name, one in SCENARIOS.items():
        assert [name] == [line.split()[0] for line in lines if line.startswith(f"{name} ")]
        assert name in shown
        for variant in one.variants:
            assert any(f"--variant {variant} " in line for line in lines)
            assert any(line.startswith(f"  --variant {variant} ") for line in shown)


def test_the_list_can_be_json(capsys: pytest.CaptureFixture[str]) -> None:
    """All scenarios with what `run` can be told."""
    assert 0 == run(["scenario", "list", "--json"])
    told = {one["scenario"]: one for one in json.loads(capsys.readouterr().out)}
    assert list(SCENARIOS) == list(told)
    runs = [one["options"] for one in told["ninfer-staging-reuse"]["runs"]]
    assert ["--variant silent", "--variant poisoned"] == runs


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["gremlins"], "ninfer-staging-reuse"),
        (["ninfer-staging-reuse", "--variant", "x"], "there are: silent, poisoned"),
        (["ninfer-staging-reuse", "--workload", "x"], "none but its own"),
    ],
)
def test_a_name_that_is_none_is_told_before_torch_is_imported(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What runs scenarios imports torch: here it cannot be imported at all."""
    monkeypatch.setitem(sys.modules, "tracert.cli.run_scenario", None)
    assert 1 == run(["scenario", "run", *arguments])
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_without_a_subcommand_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Line by line, not as one."""
    assert 2 == run(["scenario"])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Usage: tracert scenario ")
    assert any(line.strip().startswith("list ") for line in lines)


@pytest.mark.slow
def test_a_bug_that_raises_nothing_is_not_told_as_a_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers arrived, right or wrong; the dump lies where all dumps do."""
    monkeypatch.chdir(tmp_path)
    assert 0 == run(["scenario", "run", "ninfer-staging-reuse"])
    said = capsys.readouterr().out
    assert "arrived   12 of 12 answers, right or wrong: this bug raises no error" in said
    (dump,) = (tmp_path / "tracert-records").iterdir()
    assert f"next      tracert postmortem {dump.relative_to(tmp_path)}" in said
