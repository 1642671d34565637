"""A report on a writer without a stream: it is named wherever a launch would be."""

from pathlib import Path

import pytest
from tracert_analysis.report.as_json import as_json
from tracert_analysis.report.as_text import render
from tracert_analysis.report.build import build

from tests.analysis.history import History


@pytest.fixture(scope="module")
def history() -> History:
    """Page 5 is filled by a network card, and read before the host has seen that done."""
    history = History()
    history.clear(1)
    history.sync()
    (page,) = history.alloc([5], "request:1")
    number = history.begin("nic", writes=[[*page, 0, 4]])
    history.sync()
    history.forward(1, reads=[[*page, 1, 3]])
    history.end("nic", number)
    return history


def test_a_launch_before_a_transfer_is_done(history: History, tmp_path: Path) -> None:
    """Edge, call, last writer, fence and touches tell of the card; the order on the page isn't acquitted."""
    report = build(history.read(tmp_path))
    text = render(report)
    for line in (
        "missing edge   transaction 1 of external:nic -> launch 2 forward (stream 1 compute, number 2)",
        "missing call   wait for the completion of transaction 1 of external:nic",
        "last writer    transaction 1 of external:nic, positions 0 to 3, life 1, seq 4",
        "last fence     none: only the host can wait for a writer that has no stream",
        "positions 0 to 3: keys and values, written by transaction 1 of external:nic in life 1",
        "in page 5.1 written by transfer on external:nic once; read by forward on compute once",
    ):
        assert line in text
    assert "written by nobody" not in text
    assert "order on the pages is right" not in text
    assert (
        "with a host that waits for the completion before anything else touches the page, and every rule "
        "checked again, the finding is gone"
    ) == report.verdict.counterfactual
    edge = as_json(report)["verdict"]["missing_edge"]
    assert (None, None, "external:nic") == tuple(
        edge["from"][name] for name in ("launch", "stream", "stream_name")
    )
    assert 2 == edge["to"]["launch"]


def test_a_host_that_writes_under_a_reader(tmp_path: Path) -> None:
    """The call is a wait of the host, and with it in the history nothing is left."""
    history = History()
    history.clear(1)
    history.sync()
    (page,) = history.alloc([5], "request:1")
    history.host_write([[*page, 0, 4]])
    history.forward(1, reads=[[*page, 0, 4]])
    history.host_write([[*page, 3, 4]])
    report = build(history.read(tmp_path))
    edge = report.verdict.missing_edge
    assert edge is not None
    assert "fence = device.record(compute); device.sync(fence)" == edge.call
    assert ("launch 2", "the host's write") == (edge.earlier.name, edge.later.name)
    assert (
        "with a host that waits for the stream before it writes pages or has others touch them, and every "
        "rule checked again, the finding is gone"
    ) == report.verdict.counterfactual
    assert "after launch 2, before the host's write" in render(report)
