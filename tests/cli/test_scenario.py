"""`tracert scenario`: what is refused before a workload runs."""

from pathlib import Path

import pytest

from tracert.cli.main import run


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
