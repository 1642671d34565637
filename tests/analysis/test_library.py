"""What is left out because it can have no rows."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis import library, needs, planning

from tests.analysis.findings.firing import firing
from tests.analysis.findings.test_bytes import anything
from tests.analysis.findings.test_rules import FAULTS, served
from tests.analysis.history import History
from tests.some import a_few


def written_under_the_clear() -> History:
    """Nothing but the clear of the arena is out of order: the host writes a page, and has not waited."""
    history = History()
    history.clear(1)
    (page,) = history.alloc([5], "request:1")
    history.host_write([[*page, 0, 4]])
    return history


def done_and_never_begun() -> History:
    """A writer is said to be done with what nobody asked of it, and a write of the host lacks its end."""
    history = written_under_the_clear()
    history.end("nic", 7)
    history.host_write([[5, 1, 0]])
    return history


HISTORIES: list[Callable[[], History]] = [
    written_under_the_clear,
    partial(served, "no waits", 0),
    partial(anything, 0),
    done_and_never_begun,
    *(partial(served, fault, 1) for fault in FAULTS if fault != "sound"),
    *(partial(anything, seed) for seed in range(1, 20)),
    *(partial(firing, code) for code in library.FINDINGS),
]
TABLES = (
    *("_tenancy", "_two_tenants", "_request", "_use", "row_content", "fence"),
    *(
        "_puzzling",
        "_wrong",
        "_doubtful",
        "_blemish",
        "_uncomputed",
        "_met",
        "_unordered_publish",
        "_loose",
        "_near",
        "_past_row",
        "_misplaced",
        "_hit",
        "finding",
    ),
)


def told(history: History, folder: Path) -> dict[str, list[Any]]:
    """The rows of what may be left out."""
    connection = history.read(folder, macros=False).connection
    return {name: sorted(connection.execute(f"FROM {name}").fetchall(), key=str) for name in TABLES}


def test_each_finding_says_what_it_needs() -> None:
    """None is planned for nothing."""
    assert set(library.FINDINGS) <= set(needs.NEEDS)


@pytest.mark.parametrize("history", a_few(2, HISTORIES))
def test_what_is_left_out_would_have_no_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, history: Callable[[], History]
) -> None:
    """With nothing left out, and all optimizers, every table has the same rows."""
    found = told(history(), tmp_path)
    monkeypatch.setattr(needs, "NEEDS", {})
    monkeypatch.setattr(library, "_is_broken", lambda connection, code: True)
    monkeypatch.setattr(planning, "FEW", -1)
    monkeypatch.setattr(planning, "VERY_FEW", -1)
    assert told(history(), tmp_path) == found
    assert found["finding"]
