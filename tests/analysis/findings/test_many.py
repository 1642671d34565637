"""Of a fault that comes more often than can be looked at, the one that did harm is looked at first."""

from pathlib import Path

import pytest

from tests.analysis.history import History, use

COMPUTE = 1


def test_where_it_went_wrong_comes_before_where_it_was_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six stale pages, of which two are looked at: the last, whose reader gave the value, and the first."""
    monkeypatch.setattr("tracert_analysis.provenance_table.LIVES_MAX", 2)
    monkeypatch.setattr("tracert_analysis.provenance_table._AT_ONCE", 1)
    history = History()
    history.clear(COMPUTE)
    history.sync()
    for request in range(1, 13):
        pages = history.alloc([(request - 1) % 6 + 1], f"request:{request}")
        history.acquire(0, request, request)
        history.publish(COMPUTE, 0, request, pages)
        end = 4 if request <= 6 else 1
        launch = history.forward(COMPUTE, use(0, request, 0, end, covers="page"))
        history.release(0, request, request)
        history.give_back(pages, f"request:{request}")
    history.event("nonfinite", launch=launch.launch, request=12, row=0, position=0, pages=[list(pages[0])])
    dump = history.read(tmp_path, macros=False)
    stale = dump.connection.execute(
        "SELECT resource_id, confidence FROM finding WHERE code = 'TR301' ORDER BY seq"
    ).fetchall()
    assert [(1, "proven"), (6, "observed")] == stale
    (unknown,) = dump.evidence.unknown
    assert unknown.startswith("of 4 more pages with bytes that may be wrong nothing is told")
