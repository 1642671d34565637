"""State that is read and written in place: who goes on from it meets what was there before."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tracert_analysis.report.build import build

from tests.analysis.history import History, Launched, Page

COMPUTE = 1
WHOLE = (0, 4)


def scan(history: History, page: Page, others: Sequence[list[int]] = (), **fields: Any) -> Launched:
    """A launch goes on from the state in the page, and from what else it reads."""
    state = [[*page, 0, 1]]
    return history.forward(
        COMPUTE, kernel="scan", reads=[*others, *state], writes=state, **{"class": "rows", **fields}
    )


def granted(history: History, page: int, holder: str, *, clear: bool = True) -> Page:
    """A page, cleared or as it is."""
    (fresh,) = history.alloc([page], holder)
    if clear:
        history.clear(COMPUTE, [[*fresh, *WHOLE]])
    return fresh


def again(history: History, page: Page, holder: str, *, clear: bool = False) -> Page:
    """The page of request 1 goes to another."""
    history.give_back([page], "request:1")
    return granted(history, page[0], holder, clear=clear)


@pytest.fixture
def untouched() -> History:
    """A device that has just started; nothing was cleared."""
    history = History()
    history.alloc([0], "reserved:0")
    return history


def test_state_that_nobody_reset(untouched: History, tmp_path: Path) -> None:
    """By page: another request's state, nobody's, a sum over what was wiped, or over what the memory held."""
    history, expected = untouched, dict[int, tuple[str, int, int | None]]()
    page = granted(history, 5, "request:1")
    former = scan(history, page)
    late = scan(history, again(history, page, "request:2"))
    expected[5] = ("TR301", late.seq, former.seq)
    scan(history, (5, 2))
    first = scan(history, granted(history, 6, "request:3", clear=False))
    expected[6] = ("TR302", first.seq, None)
    page = granted(history, 7, "request:4")
    made = history.forward(COMPUTE, writes=[[*page, *WHOLE]])
    wiped = history.clear(COMPUTE, [[*page, *WHOLE]])
    history.sync()
    history.end("nic", history.begin("nic", reads=[[*page, *WHOLE]], writes=[[*page, *WHOLE]]))
    expected[7] = ("TR104", wiped.seq, made.seq)
    (page,) = history.alloc([8], "request:5")
    begun = history.seq + 1
    history.end("nic", history.begin("nic", reads=[[*page, *WHOLE]], writes=[[*page, *WHOLE]]))
    expected[8] = ("TR302", begun, None)
    dump = history.read(tmp_path)
    found = dump.connection.execute(
        "SELECT resource_id, code, seq, other_seq, confidence, sentence FROM finding"
    ).fetchall()
    assert {page: (*told, "proven") for page, told in expected.items()} == {row[0]: row[1:5] for row in found}
    assert len(found) == len(expected)
    sentences = {row[0]: row[5] for row in found}
    assert "loads position 0 of page 5.2 before it stores there itself, where state rows" in sentences[5]
    assert "position 0 of page 6.1 before it stores there itself, which nothing has written" in sentences[6]


def test_what_to_do_about_it(history: History, tmp_path: Path) -> None:
    """The state is to be reset: a kernel that loads less, or a clear of the tail, repairs nothing here."""
    page = granted(history, 5, "request:1")
    scan(history, page)
    scan(history, again(history, page, "request:2"))
    verdict = build(history.read(tmp_path)).verdict
    assert verdict.code == "TR301"
    assert [fix.split(":")[0].split(",")[0] for fix in verdict.fix] == [
        "Clear the page when it is released",
        "Zero the state before the first launch that goes on from it",
    ]
    assert verdict.counterfactual is not None
    assert "the finding is gone" in verdict.counterfactual


def test_state_that_is_sound(history: History, tmp_path: Path) -> None:
    """Reset by a clear in a new life, or within one; begun anew; made of another; what attention stores."""
    page = granted(history, 5, "request:1")
    scan(history, page)
    scan(history, page)
    scan(history, again(history, page, "request:2", clear=True))
    # A slot of the engine's own, which requests have one after the other.
    slot = granted(history, 6, "state:1")
    scan(history, slot)
    history.clear(COMPUTE, [[*slot, *WHOLE]])
    scan(history, slot)
    # A request that keeps its page, and begins anew in it.
    page = granted(history, 7, "request:3")
    scan(history, page)
    history.clear(COMPUTE, [[*page, *WHOLE]])
    scan(history, page)
    # A state that begins without one: the launch reads none.
    page = again(history, granted(history, 8, "request:1"), "request:4")
    history.forward(COMPUTE, kernel="scan", writes=[[*page, 0, 1]], **{"class": "rows"})
    scan(history, page)
    # One launch makes a state of another and goes on from that.
    kept = granted(history, 11, "request:6")
    scan(history, kept)
    own = again(history, granted(history, 12, "request:1"), "request:6")
    scan(history, own, [[*kept, 0, 1]])
    # Attention stores what it computes before it reads it.
    former = granted(history, 13, "request:1")
    history.forward(COMPUTE, writes=[[*former, *WHOLE]])
    page = again(history, former, "request:7")
    history.forward(COMPUTE, reads=[[*page, 0, 3]], writes=[[*page, 0, 3]])
    found = history.read(tmp_path, macros=False).connection.execute("SELECT code, sentence FROM finding")
    assert [] == found.fetchall()
