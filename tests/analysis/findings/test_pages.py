"""Each finding's page against a history in which it fires: its query runs and returns something."""

from pathlib import Path

import pytest
from tracert_analysis import library
from tracert_analysis.explain import pages

from tests.analysis.findings.firing import ACTS, firing
from tests.analysis.report.histories import BROKEN


def test_every_finding_has_a_history() -> None:
    """None is left out; those of `BROKEN` are asked with their reports."""
    assert sorted(library.FINDINGS) == sorted({*ACTS, *BROKEN})


@pytest.mark.parametrize("code", ACTS)
def test_the_query_of_a_page_confirms_its_finding(tmp_path: Path, code: str) -> None:
    """It has rows where the finding fires first, and few of its columns are empty from top to bottom."""
    connection = firing(code).read(tmp_path).connection
    assert code == connection.execute("SELECT code FROM finding ORDER BY finding").fetchall()[0][0]
    rows = connection.execute(pages()[code].query()).fetchall()
    assert rows
    told = [any(value is not None for value in column) for column in zip(*rows, strict=True)]
    assert sum(told) >= len(told) / 2
