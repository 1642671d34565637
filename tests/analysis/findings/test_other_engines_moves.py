"""Sound histories of other engines: who moves pages elsewhere, by which way, and lets go of them when.

For the fast suite all acts are in one history, each on pages and rows of its own; in the slow one
each is alone.
"""

from pathlib import Path

import pytest

from tests.analysis.findings.other_engine import COMPUTE, TRANSFER, Act, Engine, Request, extent
from tests.analysis.history import History, Page, use


def _finished(engine: Engine) -> tuple[Request, list[Page], Request]:
    """A request of one step has finished; the host knows that this step is done. The other goes on."""
    request, pages = engine.admitted()
    other, _ = engine.admitted(2)
    engine.passed(engine.step((request, 0), (other, 0)))
    engine.finish(request, "length")
    engine.unseat(request)
    return request, pages, other


def _steps(engine: Engine, request: Request, start: int, end: int) -> None:
    for at in range(start, end):
        engine.step((request, at))


def gives_a_finished_requests_page_to_the_network(engine: Engine) -> None:
    """Behind the next step's schedule, and back as that is done, three steps later."""
    request, pages, other = _finished(engine)
    step = engine.plan((other, 1))
    fetch = engine.begin("nic", reads=[extent(pages[0], 1)])
    engine.decode(step, (other, 1))
    _steps(engine, other, 2, 5)
    engine.end("nic", fetch)
    engine.give_back(pages, request.holder)
    _steps(engine, other, 5, 7)


def offloads_a_finished_requests_page(engine: Engine) -> None:
    """The same with a copy to the host tier."""
    request, pages, other = _finished(engine)
    step = engine.plan((other, 1))
    engine.order(COMPUTE, TRANSFER)
    engine.moved("offload", TRANSFER, [(engine.new("slot"), *pages[0])])
    behind = engine.record(TRANSFER)
    engine.decode(step, (other, 1))
    _steps(engine, other, 2, 4)
    engine.passed(behind)
    engine.give_back(pages, request.holder)
    _steps(engine, other, 4, 6)


def sends_a_finished_requests_page_piece_by_piece(engine: Engine) -> None:
    """The second piece is asked for when the first is done, steps behind the end."""
    request, pages, other = _finished(engine)
    step = engine.plan((other, 1))
    fetch = engine.begin("nic", reads=[extent(pages[0], 1)])
    engine.decode(step, (other, 1))
    _steps(engine, other, 2, 4)
    engine.end("nic", fetch)
    _steps(engine, other, 4, 5)
    fetch = engine.begin("nic", reads=[extent(pages[0], 2, 1)])
    _steps(engine, other, 5, 7)
    engine.end("nic", fetch)
    engine.give_back(pages, request.holder)
    _steps(engine, other, 7, 8)


MOVES: list[Act] = [
    gives_a_finished_requests_page_to_the_network,
    offloads_a_finished_requests_page,
    sends_a_finished_requests_page_piece_by_piece,
]


def test_what_is_moved_elsewhere_is_no_finding(tmp_path: Path) -> None:
    """One act after the other."""
    engine = Engine()
    engine.perform(*MOVES)
    assert [] == engine.told(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("act", MOVES)
def test_none_is_one_by_itself(tmp_path: Path, act: Act) -> None:
    """Nothing that another does hides it."""
    engine = Engine()
    engine.perform(act)
    assert [] == engine.told(tmp_path)


def test_a_row_of_before_may_have_named_any_page(tmp_path: Path) -> None:
    """Keyframes without rows: a request that finishes waits for its last step, which is in flight."""
    history = History(first_seq=100)
    held = {"page": 5, "life": 1, "state": "held", "holders": ["request:1/write"]}
    history.keyframe([held])
    steps = [
        history.forward(COMPUTE, use(0, 1, at, at + 1), step=at) and history.record(COMPUTE) for at in (0, 1)
    ]
    history.passed(steps[0])
    history.event("finish", request=1, row=0, reason="stop")
    history.forward(COMPUTE, step=2)
    history.passed(steps[1])
    history.forward(COMPUTE, step=3)
    history.give_back([(5, 1)], "request:1")
    history.forward(COMPUTE, step=4)
    found = history.read(tmp_path).connection.execute("SELECT code, confidence FROM finding").fetchall()
    assert [] == found
